// Package usage has the error of a wrong call of post.
package usage

import "fmt"

// Error is a wrong call of a command.
type Error struct {
	err     error
	command string // whose help has more
}

// New returns the error of a call of a command, such as "post compare".
func New(err error, command string) error { return &Error{err, command} }

func (e *Error) Error() string {
	return fmt.Sprintf("%v\nSee `%s --help`.", e.err, e.command)
}

func (e *Error) Unwrap() error { return e.err }
