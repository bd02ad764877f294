// Package dl opens a shared library at run time and says every place that was tried. It is how busbar reaches MPI,
// CUDA, NCCL and Gloo: one program builds without any of them and runs with whatever is there.
//
// It knows nothing of what is in a library. A library stays open until the process ends: they leave threads and
// handlers behind, so closing one is never safe.
package dl

import (
	"fmt"
	"strings"
)

// Spec says which library is wanted and where it may lie.
type Spec struct {
	Name       string   // what it is, for messages: "the MPI shim", "NCCL"
	Candidates []string // in order: with a slash a file, without one a name that the loader searches for
	Global     bool     // let libraries loaded later find its symbols (RTLD_GLOBAL)
}

// Attempt is one place that was tried, and what the loader said.
type Attempt struct{ Candidate, Why string }

// NotFoundError says that no candidate could be opened, and why for each.
type NotFoundError struct {
	Name  string
	Tried []Attempt
}

func (e *NotFoundError) Error() string {
	if len(e.Tried) == 0 {
		return fmt.Sprintf("%s cannot be opened: there was no place to look", e.Name)
	}
	return fmt.Sprintf("%s cannot be opened; tried:\n%s", e.Name, List(e.Tried))
}

// List writes attempts for people: one indented line each.
func List(tried []Attempt) string { return "  " + strings.Join(Lines(tried), "\n  ") }

// Lines writes each attempt in a line.
func Lines(tried []Attempt) []string {
	lines := make([]string, len(tried))
	for i, t := range tried {
		// The loader's text mostly starts with the file that it is about.
		lines[i] = t.Candidate + ": " + strings.TrimPrefix(t.Why, t.Candidate+": ")
	}
	return lines
}

// Explained writes an error of its parts: what failed, the places that were tried, and what to do. Errors that keep
// these apart have a method Explain.
func Explained(problem string, tried []string, remedy string) string {
	lines := []string{problem}
	if len(tried) > 0 {
		lines = append(lines, "tried:\n  "+strings.Join(tried, "\n  "))
	}
	if remedy != "" {
		lines = append(lines, remedy)
	}
	return strings.Join(lines, "\n")
}

// SymbolError says that a library lacks a symbol.
type SymbolError struct {
	Library string // path
	Symbol  string
	Text    string // the loader's own
}

func (e *SymbolError) Error() string {
	return fmt.Sprintf("%s has no symbol %s: %s", e.Library, e.Symbol, e.Text)
}
