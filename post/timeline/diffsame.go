package timeline

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice/profiles"
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
	x, y := a.ranks(), b.ranks()
	if !slices.Equal(x, y) {
		return different("%s has ranks %s, %s has %s", d.Before.Path, units.Some(x), d.After.Path, units.Some(y))
	}
	if (d.Before.Steps == 0) != (d.After.Steps == 0) {
		return different("%s has %s, %s has %d", d.Before.Path, units.Count(d.Before.Steps, "whole step"),
			d.After.Path, d.After.Steps)
	}
	for l := range a.lanes {
		x, y := a.operatorTimes([]int{l}), b.operatorTimes([]int{l})
		var lines []string
		for k := range joined(x, y) {
			before, after := a.rate(x[k]), b.rate(y[k])
			if k.part == profiles.PureExposed && math.Abs(before-after) > 0.5 {
				lines = append(lines, fmt.Sprintf("%s: %.3g per %s before, %.3g after", k.words(), before, d.Per,
					after))
			}
		}
		if slices.Sort(lines); lines != nil {
			return different("%s and %s differ on %s in%s", d.Before.Path, d.After.Path,
				a.lanes[l].recordings[0].Label, listed(lines[:min(len(lines), mostDifferences)]))
		}
	}
	return nil
}

// rate is how often an operator runs per step; of recordings without steps, which may differ in length, 1.
func (r *runTimes) rate(o *operatorTime) float64 {
	switch {
	case o == nil:
		return 0
	case len(r.steps) == 0:
		return 1
	}
	return float64(o.calls) / float64(r.n)
}

// ranks names the ranks that were read.
func (r *runTimes) ranks() (all []string) {
	for _, l := range r.lanes {
		all = append(all, fmt.Sprint(valueOr(l.recordings[0].Rank, -1)))
	}
	return all
}

// joined has the keys of two maps.
func joined(a, b map[operatorKey]*operatorTime) map[operatorKey]*operatorTime {
	all := maps.Clone(a)
	maps.Copy(all, b)
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
