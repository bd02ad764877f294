package timeline

import (
	"errors"
	"fmt"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/units"
)

// ErrDifferent is in the errors for runs that are not of the same step.
var ErrDifferent = errors.New("--diff compares the same ranks of the same step")

func different(format string, of ...any) error {
	return fmt.Errorf("%w: %s", ErrDifferent, fmt.Sprintf(format, of...))
}

// mostDifferences is how many differing collectives an error lists.
const mostDifferences = 5

// same returns an error if the runs differ in their ranks, or their steps in their collectives.
func (d *differ) same() error {
	a, b := d.runs[0], d.runs[1]
	if x, y := statedWorld(a.Timeline), statedWorld(b.Timeline); x != y && x*y > 0 {
		return different("%s is of %s, %s of %d", d.Before.Path, units.Count(x, "rank"), d.After.Path, y)
	}
	if x, y := a.ranks(), b.ranks(); !slices.Equal(x, y) {
		return different("%s has traces of ranks %s, %s of %s", d.Before.Path, units.Some(x), d.After.Path,
			units.Some(y))
	}
	if x, y := d.Before.Steps, d.After.Steps; (x == 0) != (y == 0) {
		return different("%s has %s, %s has %d; record steps in both", d.Before.Path, units.Count(x, "whole step"),
			d.After.Path, y)
	}
	for l := range a.lanes {
		x, y := a.calls(l), b.calls(l)
		var lines []string
		for k := range joined(x, y) {
			if x[k] != y[k] {
				lines = append(lines, fmt.Sprintf("%s: %d per %s before, %d after", k.words(), x[k], d.Per, y[k]))
			}
		}
		if slices.Sort(lines); lines != nil {
			return different("%s and %s differ on %s in%s", d.Before.Path, d.After.Path,
				a.lanes[l].recordings[0].Label, listed(lines[:min(len(lines), mostDifferences)]))
		}
	}
	return nil
}

// ranks names the ranks that were read.
func (r *runTimes) ranks() (all []string) {
	for _, l := range r.lanes {
		all = append(all, fmt.Sprint(valueOr(l.recordings[0].Rank, -1)))
	}
	return all
}

// joined returns the keys of two maps.
func joined[T any](a, b map[operatorKey]T) map[operatorKey]bool {
	all := map[operatorKey]bool{}
	for _, side := range []map[operatorKey]T{a, b} {
		for k := range side {
			all[k] = true
		}
	}
	return all
}

// words names a collective.
func (k operatorKey) words() string {
	words := k.name
	if k.bytes > 0 {
		words += " " + coll.FormatSize(k.bytes, true)
	}
	if k.ranks > 0 {
		words += fmt.Sprintf(" x%d", k.ranks)
	}
	return words
}
