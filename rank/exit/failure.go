package exit

import (
	"errors"
	"fmt"
	"reflect"

	"busbar/internal/notice/preflights"
)

// explained is an error with a problem, the locations that were tried, and a remedy.
type explained interface {
	Explain() (problem string, tried []string, remedy string)
}

// Failure is an error with its parts, as ranks exchange it.
type Failure struct {
	Text  string // of the error
	Parts preflights.Failed

	err error // the error itself, on its own rank
}

// Error returns the text of the error.
func (f *Failure) Error() string { return f.Text }

// Unwrap returns the error itself; nil on other ranks.
func (f *Failure) Unwrap() error { return f.err }

// Explain implements explained.
func (f *Failure) Explain() (problem string, tried []string, remedy string) {
	return f.Parts.Problem, f.Parts.Tried, f.Parts.Remedy
}

// On adds the ranks that have the failure.
func (f *Failure) On(where string) *Failure {
	on := *f
	on.Text, on.Parts.Problem = where+": "+f.Text, where+": "+f.Parts.Problem
	return &on
}

// Same reports whether two failures have the same text and parts.
func (f *Failure) Same(other *Failure) bool {
	return f.Text == other.Text && reflect.DeepEqual(f.Parts, other.Parts)
}

// FailureOf splits an error into its parts. An error without parts is a problem without a remedy.
func FailureOf(err error) *Failure {
	f := &Failure{Text: err.Error(), Parts: preflights.Failed{Problem: err.Error()}, err: err}
	for known, is := err.(*Error); is; known, is = err.(*Error) {
		err = known.err
	}
	if e, is := err.(explained); is {
		f.Parts.Problem, f.Parts.Tried, f.Parts.Remedy = e.Explain()
	}
	return f
}

// ProblemOf returns the problem, without the locations that were tried and the remedy.
func ProblemOf(err error) string {
	if e := explained(nil); errors.As(err, &e) {
		problem, _, _ := e.Explain()
		return problem
	}
	return err.Error()
}

// Remedied returns an error of the environment with a remedy.
func Remedied(remedy, format string, a ...any) error {
	problem := fmt.Sprintf(format, a...)
	return With(Environment, &Failure{Text: problem + "; " + remedy,
		Parts: preflights.Failed{Problem: problem, Remedy: remedy}})
}
