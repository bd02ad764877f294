package main

import (
	"errors"
	"fmt"

	"busbar/internal/notice"
)

// explained is an error that keeps apart what failed, the places that were tried, and what to do.
type explained interface {
	Explain() (problem string, tried []string, remedy string)
}

// failure is an error with its parts, as ranks send it to each other.
type failure struct {
	Text  string // of the error
	Parts notice.Failed

	err error // the error itself, on its own rank
}

func (f *failure) Error() string { return f.Text }

func (f *failure) Unwrap() error { return f.err }

// Explain implements explained.
func (f *failure) Explain() (problem string, tried []string, remedy string) {
	return f.Parts.Problem, f.Parts.Tried, f.Parts.Remedy
}

// on states which ranks have the failure.
func (f *failure) on(where string) *failure {
	f.Text, f.Parts.Problem = where+": "+f.Text, where+": "+f.Parts.Problem
	return f
}

// failureOf takes an error apart. One that has no parts is a problem without a remedy.
func failureOf(err error) *failure {
	f := &failure{Text: err.Error(), Parts: notice.Failed{Problem: err.Error()}, err: err}
	for known, is := err.(*codeError); is; known, is = err.(*codeError) {
		err = known.err
	}
	if e, is := err.(explained); is {
		f.Parts.Problem, f.Parts.Tried, f.Parts.Remedy = e.Explain()
	}
	return f
}

// problemOf is what failed, without the places that were tried and what to do.
func problemOf(err error) string {
	if e := explained(nil); errors.As(err, &e) {
		problem, _, _ := e.Explain()
		return problem
	}
	return err.Error()
}

// remedied is an error of the environment with what to do.
func remedied(remedy, format string, a ...any) error {
	problem := fmt.Sprintf(format, a...)
	return &codeError{exitEnvironment, &failure{Text: problem + "; " + remedy,
		Parts: notice.Failed{Problem: problem, Remedy: remedy}}}
}
