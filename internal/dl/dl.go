// Package dl opens a shared library at run time and names every place that was tried. It is how busbar reaches MPI,
// CUDA, NCCL and Gloo: one program builds without any of them and runs with whatever is installed.
//
// It knows nothing of what is in a library. A library stays open until the process ends: they leave threads and
// handlers behind, so closing one is never safe.
package dl

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Spec describes the library to open.
type Spec struct {
	Name       string   // kind of library, for messages: "the MPI shim", "NCCL"
	Candidates []string // in order: with a slash a file, without one a name that the loader searches for
	Global     bool     // let libraries loaded later find its symbols (RTLD_GLOBAL)
	Remedy     string   // what to do where none can be opened
}

// Attempt is one place that was tried, and the loader's error.
type Attempt struct{ Candidate, Why string }

// LoadError reports why a library cannot be used, and what to do.
type LoadError struct {
	Problem string
	Tried   []Attempt // where none could be opened
	Remedy  string
	Err     error // behind a library that does not start
}

func (e *LoadError) Unwrap() error { return e.Err }

// Explain returns what failed, the places that were tried, and what to do.
func (e *LoadError) Explain() (problem string, tried []string, remedy string) {
	for _, t := range e.Tried {
		// The loader's text mostly starts with the file that it is about.
		tried = append(tried, t.Candidate+": "+strings.TrimPrefix(t.Why, t.Candidate+": "))
	}
	return e.Problem, tried, e.Remedy
}

func (e *LoadError) Error() string {
	problem, tried, remedy := e.Explain()
	lines := []string{problem}
	if len(tried) > 0 {
		lines = append(lines, "tried:\n  "+strings.Join(tried, "\n  "))
	}
	if remedy != "" {
		lines = append(lines, remedy)
	}
	return strings.Join(lines, "\n")
}

// SymbolError reports that a library lacks a symbol.
type SymbolError struct {
	Library string // path
	Symbol  string
	Text    string // the loader's own
}

func (e *SymbolError) Error() string {
	return fmt.Sprintf("%s has no symbol %s: %s", e.Library, e.Symbol, e.Text)
}

// Symbol is a function in the table of functions that a binding calls.
type Symbol struct {
	Name     string
	Required bool
	Since    int // version of the library that it came with; 0: unknown
	Offset   uintptr
}

// Names are those of symbols, for messages.
func Names(symbols []Symbol) string {
	var names []string
	for _, s := range symbols {
		names = append(names, s.Name)
	}
	return strings.Join(names, ", ")
}

// Folders are where the libraries of busbar itself lie: those in BUSBAR_LIB, then lib beside the folder of the program,
// in it, and that folder.
func Folders() []string {
	dirs := filepath.SplitList(os.Getenv("BUSBAR_LIB"))
	beside := ProgramFolder()
	if beside == "" {
		return dirs
	}
	return append(dirs, filepath.Join(beside, "..", "lib"), filepath.Join(beside, "lib"), beside)
}

// ProgramFolder is the folder of this program without symbolic links; "" if it cannot be known.
func ProgramFolder() string {
	executable, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(executable); err == nil {
		executable = real
	}
	return filepath.Dir(executable)
}
