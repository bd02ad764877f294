// Package usage has the error of a wrong call of post.
package usage

import "fmt"

// Error is a wrong call of a command.
type Error struct {
	Command string // whose help has more, such as "post compare"; set where the command is known
	err     error
}

// New returns the error of a wrong call; nil where there is no error.
func New(err error) error {
	if err == nil {
		return nil
	}
	return &Error{err: err}
}

func (e *Error) Error() string {
	return fmt.Sprintf("%v\nSee `%s --help`.", e.err, e.Command)
}

func (e *Error) Unwrap() error { return e.err }
