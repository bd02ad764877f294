package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/units"
	"busbar/post/usage"
)

// sameStep returns an error if two runs differ in their ranks.
func sameStep(paths [2]string, runs [2]*Timeline) error {
	var ranks [2][]string
	for i, t := range runs {
		if len(t.compared.lanes) == 0 {
			return fmt.Errorf("nothing computed or communicated in %s", paths[i])
		}
		for _, l := range t.compared.lanes {
			name := "unknown"
			if rank := l.recordings[0].Rank; rank != nil {
				name = fmt.Sprint(*rank)
			}
			ranks[i] = append(ranks[i], name)
		}
	}
	if a, b := statedWorld(runs[0]), statedWorld(runs[1]); a != b && a*b > 0 {
		return different("%s is of %s, %s of %d", paths[0], units.Count(a, "rank"), paths[1], b)
	}
	if !slices.Equal(ranks[0], ranks[1]) {
		return different("%s has traces of ranks %s, %s of ranks %s", paths[0], units.Some(ranks[0]), paths[1],
			units.Some(ranks[1]))
	}
	return nil
}

// different is the error for runs that are not of the same step.
func different(format string, of ...any) error {
	return usage.New(fmt.Errorf("--diff compares the same ranks of the same step: "+format, of...))
}

// mostDifferences is how many differing collectives an error lists.
const mostDifferences = 5

// sameCollectives returns an error if the steps of both runs do not have the same collectives.
func (d *differ) sameCollectives() error {
	if d.Before.Steps == 0 != (d.After.Steps == 0) {
		return different("%s has %s, %s has %d; record whole steps in both", d.Before.Path,
			units.Count(d.Before.Steps, "whole step"), d.After.Path, d.After.Steps)
	}
	for l := range d.runs[0].lanes {
		a, b := d.runs[0].callsPerStep(l), d.runs[1].callsPerStep(l)
		var keys []operatorKey
		for _, side := range []map[operatorKey]int{a, b} {
			for k := range side {
				if a[k] != b[k] && !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
		}
		if keys == nil {
			continue
		}
		slices.SortFunc(keys, func(a, b operatorKey) int {
			return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(a.bytes, b.bytes), cmp.Compare(a.ranks, b.ranks))
		})
		var lines []string
		for _, k := range keys[:min(len(keys), mostDifferences)] {
			lines = append(lines, fmt.Sprintf("%s: %d per %s before, %d after", k.words(), a[k], d.Per, b[k]))
		}
		return different("of %s, %s and %s differ in%s", d.runs[0].lanes[l].recordings[0].Label, d.Before.Path,
			d.After.Path, listed(lines))
	}
	return nil
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
