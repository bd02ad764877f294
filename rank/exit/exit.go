// Package exit has the exit codes of rank and the errors that carry one, with what failed and what to do.
package exit

import (
	"errors"
	"fmt"

	"busbar/internal/result"
	"busbar/mpi"
	"busbar/sweeps"
)

// The exit codes of rank; docs/method.md and --help list them. Rank 0 alone gives one that is not 0.
const (
	OK          = 0
	Usage       = 1   // the command line, or a file that it names
	Environment = 2   // the machine, or what is installed there
	Wrong       = 3   // data were wrong
	Hang        = 4   // ranks hang
	Failed      = 5   // a library failed, or this program
	Points      = 6   // single points were not measured
	Interrupted = 128 // plus the number of the signal
)

// Error is an error whose exit code is known.
type Error struct {
	code int
	err  error
}

// Error is the error's text.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap is the error without its code.
func (e *Error) Unwrap() error { return e.err }

// ErrElsewhere is the error of a rank that just ends, since rank 0 has an error and reports it.
var ErrElsewhere = errors.New("rank 0 ends the run")

// With is an error with its exit code.
func With(code int, err error) error { return &Error{code, err} }

// Usagef is an error of the command line or of a file that it names.
func Usagef(format string, a ...any) error {
	return With(Usage, fmt.Errorf(format, a...))
}

// Environmentf is an error of the machine or of what is installed there.
func Environmentf(format string, a ...any) error {
	return With(Environment, fmt.Errorf(format, a...))
}

// CodeOf is the one place where errors become exit codes.
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
