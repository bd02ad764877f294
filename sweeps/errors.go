package sweeps

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Error is one thing that is wrong in a sweep file. Parse joins all that it finds; errors.As finds the first.
type Error struct {
	File   string
	Line   int // from 1
	Column int // from 1; 0 where only the line is known
	Err    error
}

func (e *Error) Error() string {
	if e.Column == 0 {
		return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err)
	}
	return fmt.Sprintf("%s:%d:%d: %v", e.File, e.Line, e.Column, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// join is the problems as one error in the order of the file, nil when there are none.
func join(problems []*Error) error {
	slices.SortStableFunc(problems, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	all := make([]error, len(problems))
	for i, e := range problems {
		all[i] = e
	}
	return errors.Join(all...)
}
