package main

import (
	"errors"
	"fmt"
	"io"

	"busbar/internal/result"
	"busbar/mpi"
	"busbar/sweeps"
)

// The exit codes of rank; docs/method.md and --help list them. Rank 0 alone gives one that is not 0.
const (
	exitOK          = 0
	exitUsage       = 1
	exitEnvironment = 2
	exitWrong       = 3
	exitHang        = 4
	exitFailed      = 5
	exitPoints      = 6
	exitInterrupted = 128 // plus the number of the signal
)

// codeError is an error whose exit code is known.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }

func (e *codeError) Unwrap() error { return e.err }

func usagef(format string, a ...any) error {
	return &codeError{exitUsage, fmt.Errorf(format, a...)}
}

func environmentf(format string, a ...any) error {
	return &codeError{exitEnvironment, fmt.Errorf(format, a...)}
}

// codeOf is the one place where errors become exit codes.
func codeOf(err error) int {
	var known *codeError
	var syntax *sweeps.Error
	var write *result.WriteError
	var library *mpi.Error
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &known):
		return known.code
	case errors.As(err, &syntax):
		return exitUsage
	case errors.As(err, &write):
		return exitEnvironment
	case errors.As(err, &library):
		return exitFailed
	}
	return exitFailed
}

// complain writes an error for a person.
func complain(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "rank: %v\n", err)
}
