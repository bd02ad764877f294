package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"busbar/internal/coll"
	"busbar/sweeps"
)

// setter makes a function a pflag.Value.
type setter struct {
	set  func(string) error
	kind string // how the help writes the argument
	text string
}

func (s *setter) String() string { return s.text }

func (s *setter) Type() string { return s.kind }

func (s *setter) Set(text string) error {
	if err := s.set(text); err != nil {
		return err
	}
	s.text = text
	return nil
}

// value stores a parsed word; to stays nil when the flag is not given.
func value[T any](parse func(string) (T, error), to **T) func(string) error {
	return func(s string) error {
		v, err := parse(s)
		if err != nil {
			return err
		}
		*to = &v
		return nil
	}
}

// into stores a parsed value.
func into[T any](parse func(string) (T, error), to *T) func(string) error {
	return func(s string) (err error) {
		*to, err = parse(s)
		return err
	}
}

// list stores the words of a comma-separated list.
func list[T comparable](parse func(string) ([]T, error), to *[]T) func(string) error {
	return func(s string) (err error) {
		*to, err = sweeps.Words(s, parse)
		return err
	}
}

// one makes a parser of single values one of lists.
func one[T any](parse func(string) (T, error)) func(string) ([]T, error) {
	return func(s string) ([]T, error) {
		v, err := parse(s)
		return []T{v}, err
	}
}

func size(to **int64) func(string) error { return value(coll.ParseSize, to) }

func number(least int, to **int) func(string) error { return value(atLeast(least), to) }

func factor(s string) (int64, error) {
	n, err := atLeast(2)(s)
	return int64(n), err
}

// atLeast parses a whole number not below least.
func atLeast(least int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < least {
			return 0, fmt.Errorf("want a whole number of at least %d", least)
		}
		return n, nil
	}
}

// nearestFlag adds to pflag's error about an unknown flag the name that is most like it.
func nearestFlag(f *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var known []string
	f.VisitAll(func(fl *pflag.Flag) { known = append(known, fl.Name) })
	name := unknown.GetSpecifiedName()
	if near := coll.Nearest(name, known); near != "" && len(name) > 1 {
		return fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	return fmt.Errorf("%w (rank --help lists all flags)", err)
}
