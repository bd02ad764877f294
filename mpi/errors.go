package mpi

import (
	"cmp"
	"fmt"
	"strings"

	"busbar/internal/dl"
)

// Error is an error code that MPI returned.
type Error struct {
	Op   string // MPI function
	Code int    // the library's own number
	Name string // the class in the standard's words: "MPI_ERR_COUNT"
	Text string // the library's own, of one or more lines
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s failed: %s (%s, error code %d)", e.Op, strings.ReplaceAll(e.Text, "\n", "; "), e.Name,
		e.Code)
}

// unusable is the error of a choice without a shim that can be used; cause "" is that none could be opened.
func unusable(choice string, launch Launch, cause string) *dl.LoadError {
	problem := cmp.Or(cause, fmt.Sprintf("no MPI shim could be loaded (--mpi %s)", choice))
	if launch.Name != "" {
		problem += "\nthis process was started by " + launch.Name
	}
	if choice != OpenMPI && choice != MPICH {
		choice = launch.Family
	}
	return &dl.LoadError{Problem: problem, Remedy: "build it with: " + builder(dl.ProgramFolder()) + compiler(choice)}
}
