// Package exit has the exit codes of rank, and errors that carry one.
package exit

import (
	"errors"
	"fmt"

	"busbar/internal/result"
	"busbar/mpi"
	"busbar/sweeps"
)

// The exit codes of rank; docs/method.md and --help list them. Only rank 0 exits with a code other than 0.
const (
	OK          = 0
	Usage       = 1   // command line, or a file that it names
	Environment = 2   // the machine or its software
	Wrong       = 3   // wrong data
	Hang        = 4   // hang
	Failed      = 5   // a library or the program failed
	Points      = 6   // some points were not measured
	Interrupted = 128 // plus the number of the signal
)

// Error is an error with an exit code.
type Error struct {
	code int
	err  error
}

// Error returns the text of the error.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the error without its code.
func (e *Error) Unwrap() error { return e.err }

// ErrElsewhere ends a rank while rank 0 reports the error.
var ErrElsewhere = errors.New("rank 0 ends the run")

// With returns an error with an exit code.
func With(code int, err error) error { return &Error{code, err} }

// Usagef returns an error of the command line or of a file that it names.
func Usagef(format string, a ...any) error {
	return With(Usage, fmt.Errorf(format, a...))
}

// Environmentf returns an error of the machine or its software.
func Environmentf(format string, a ...any) error {
	return With(Environment, fmt.Errorf(format, a...))
}

// CodeOf returns the exit code of an error.
func CodeOf(err error) int {
	var known *Error
	var syntax *sweeps.Error
	var write *result.WriteError
	var library *mpi.Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &known):
		return known.code
	case errors.As(err, &syntax):
		return Usage
	case errors.As(err, &write):
		return Environment
	case errors.As(err, &library):
		return Failed
	}
	return Failed
}
