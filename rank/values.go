package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"busbar/internal/coll"
	"busbar/sweeps"
)

// setter implements pflag.Value with a function.
type setter struct {
	set  func(string) error
	kind string // of the argument in the help
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

// value stores a parsed value; to remains nil without the flag.
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

// list stores the values of a comma-separated list.
func list[T comparable](parse func(string) ([]T, error), to *[]T) func(string) error {
	return func(s string) (err error) {
		*to, err = sweeps.Words(s, parse)
		return err
	}
}

// one returns a list parser from a parser of single values.
func one[T any](parse func(string) (T, error)) func(string) ([]T, error) {
	return func(s string) ([]T, error) {
		v, err := parse(s)
		return []T{v}, err
	}
}

func size(to **int64) func(string) error { return value(coll.ParseSize, to) }

func number(minimum int, to **int) func(string) error { return value(atLeast(minimum), to) }

func factor(s string) (int64, error) {
	n, err := atLeast(2)(s)
	return int64(n), err
}

// atLeast returns a parser of integers of at least minimum.
func atLeast(minimum int) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < minimum {
			return 0, fmt.Errorf("value must be an integer of at least %d", minimum)
		}
		return n, nil
	}
}

// otherFlags are flags of other programs, by the advice on them.
var otherFlags = map[string]string{
	useSizes:    "size sizes bytes message-size",
	useLauncher: "np nproc nprocs ranks nranks ntasks nodes hosts hostfile",
	"set NCCL_ALGO; --algorithms records the algorithm": "algo",

	"use --datatype": "dtype", "use --out": "output", "use --iters": "iterations", "use --warmup-iters": "warmup",
}

const (
	useSizes    = "use -b/-e (minimum and maximum message size)"
	useLauncher = "belongs to mpirun (mpirun -np 4 rank …) or srun"
)

// suggestFlag adds advice to pflag's error about an unknown flag.
func suggestFlag(f *pflag.FlagSet, err error) error {
	if invalid := (*pflag.InvalidValueError)(nil); errors.As(err, &invalid) &&
		invalid.GetFlag().Name == "iters" && invalid.GetValue() == "p" { // -np
		return fmt.Errorf("unknown flag: -np: %s", useLauncher)
	}
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	name := strings.ReplaceAll(unknown.GetSpecifiedName(), "_", "-")
	for advice, flags := range otherFlags {
		if slices.Contains(strings.Fields(flags), name) {
			return fmt.Errorf("%w: %s", err, advice)
		}
	}
	var known []string
	f.VisitAll(func(fl *pflag.Flag) { known = append(known, fl.Name) })
	if near := coll.Nearest(name, known); len(name) > 3 && near != "" && near[0] == name[0] {
		return fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	return fmt.Errorf("%w (rank --help lists all flags)", err)
}

// imbalances parses --imbalance: words, and at most one file.
func imbalances(c *config) func(string) error {
	return func(s string) error {
		c.Flags.Imbalances, c.Flags.Matrix = nil, ""
		for word := range strings.SplitSeq(s, ",") {
			i, err := coll.ParseImbalance(word)
			file := (*coll.UnknownWordError)(nil)
			switch {
			case err == nil:
				c.Flags.Imbalances = append(c.Flags.Imbalances, i)
			case word == "" || !errors.As(err, &file):
				return err
			case c.Flags.Matrix != "":
				return fmt.Errorf("%s and %s: at most one matrix file", c.Flags.Matrix, word)
			default:
				c.Flags.Matrix = word
			}
		}
		return nil
	}
}
