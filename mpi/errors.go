package mpi

import (
	"cmp"
	"fmt"
	"strings"

	"busbar/internal/dl"
)

// Error is an error code that MPI returned.
type Error struct {
	Op    string // MPI function
	Code  int    // the library's own number
	Class int    // the library's number of the standard's class
	Name  string // the class in the standard's words: "MPI_ERR_COUNT"
	Text  string // the library's own, of one or more lines
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s failed: %s (%s, error code %d)", e.Op, strings.ReplaceAll(e.Text, "\n", "; "), e.Name,
		e.Code)
}

// LoadError says why there is no MPI, and what to do about it.
type LoadError struct {
	Choice string // what was asked for: auto, a family, or a path
	Launch Launch
	Tried  []dl.Attempt
	Reason string // set when a shim was found but is of no use
}

func (e *LoadError) Error() string { return dl.Explained(e.Explain()) }

// Explain returns what failed, the places that were tried, and what to do.
func (e *LoadError) Explain() (problem string, tried []string, remedy string) {
	problem = cmp.Or(e.Reason, fmt.Sprintf("no MPI shim could be loaded (--mpi %s)", e.Choice))
	if e.Launch.Name != "" {
		problem += "\nthis process was started by " + e.Launch.Name
	}
	return problem, dl.Lines(e.Tried), "build it with: " + e.build()
}

// build is the one command that makes the missing shim.
func (e *LoadError) build() string {
	family := e.Choice
	if family != OpenMPI && family != MPICH {
		family = e.Launch.Family
	}
	return builder(dl.ProgramFolder()) + compiler(family)
}
