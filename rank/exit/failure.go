package exit

import (
	"errors"
	"fmt"
	"reflect"

	"busbar/internal/notice"
)

// explained is an error that keeps apart what failed, the places that were tried, and what to do.
type explained interface {
	Explain() (problem string, tried []string, remedy string)
}

// Failure is an error with its parts, as ranks send it to each other.
type Failure struct {
	Text  string // of the error
	Parts notice.Failed

	err error // the error itself, on its own rank
}

// Error is the text of the error.
func (f *Failure) Error() string { return f.Text }

// Unwrap is the error itself; nil on other ranks.
func (f *Failure) Unwrap() error { return f.err }

// Explain implements explained.
func (f *Failure) Explain() (problem string, tried []string, remedy string) {
	return f.Parts.Problem, f.Parts.Tried, f.Parts.Remedy
}

// On states which ranks have the failure.
func (f *Failure) On(where string) *Failure {
	on := *f
	on.Text, on.Parts.Problem = where+": "+f.Text, where+": "+f.Parts.Problem
	return &on
}

// Same reports whether two failures have the same text and parts.
func (f *Failure) Same(other *Failure) bool {
	return f.Text == other.Text && reflect.DeepEqual(f.Parts, other.Parts)
}

// FailureOf takes an error apart. One that has no parts is a problem without a remedy.
func FailureOf(err error) *Failure {
	f := &Failure{Text: err.Error(), Parts: notice.Failed{Problem: err.Error()}, err: err}
	for known, is := err.(*Error); is; known, is = err.(*Error) {
		err = known.err
	}
	if e, is := err.(explained); is {
		f.Parts.Problem, f.Parts.Tried, f.Parts.Remedy = e.Explain()
	}
	return f
}

// ProblemOf is what failed, without the places that were tried and what to do.
func ProblemOf(err error) string {
	if e := explained(nil); errors.As(err, &e) {
		problem, _, _ := e.Explain()
		return problem
	}
	return err.Error()
}

// Remedied is an error of the environment with what to do.
func Remedied(remedy, format string, a ...any) error {
	problem := fmt.Sprintf(format, a...)
	return With(Environment, &Failure{Text: problem + "; " + remedy,
		Parts: notice.Failed{Problem: problem, Remedy: remedy}})
}
