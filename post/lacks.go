package main

import (
	"busbar/internal/result"
	"busbar/internal/units"
)

// lacks counts the points that cannot stand beside others, by file and reason: imported ones, and those of groups of nodes.
type lacks struct {
	order  []lack
	n      map[lack]int
	groups bool // some are of a pattern, which is whole without them
}

type lack struct{ path, reason string }

// add says whether a point lacks something, and counts it.
func (l *lacks) add(row result.Row) bool {
	k := lack{reason: row.Record.Lacks()}
	switch {
	case row.Record.Group != nil:
		k = lack{"groups of nodes", "rank --pattern measured them to find a weak node; post show judges them"}
		l.groups = true
	case k.reason == "":
		return false
	default:
		k.path = row.Run.Imported.Path
	}
	if l.n == nil {
		l.n = map[lack]int{}
	}
	if l.n[k]++; l.n[k] == 1 {
		l.order = append(l.order, k)
	}
	return true
}

// problems tells of what was left out.
func (l *lacks) problems(what string) (problems []result.Problem) {
	for _, k := range l.order {
		problems = append(problems, result.Problem{Path: k.path, Text: units.Count(l.n[k], "point") + " " + what + ": " + k.reason})
	}
	return problems
}
