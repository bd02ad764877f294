package main

import (
	"busbar/internal/result"
)

// lacks counts the imported points that cannot stand beside others, by file and reason.
type lacks struct {
	order []lack
	n     map[lack]int
}

type lack struct{ path, reason string }

// add says whether a point lacks something, and counts it.
func (l *lacks) add(row result.Row) bool {
	reason := row.Record.Lacks()
	if reason == "" {
		return false
	}
	if l.n == nil {
		l.n = map[lack]int{}
	}
	k := lack{row.Run.Imported.Path, reason}
	if l.n[k]++; l.n[k] == 1 {
		l.order = append(l.order, k)
	}
	return true
}

// problems tells of what was left out.
func (l *lacks) problems(what string) (problems []result.Problem) {
	for _, k := range l.order {
		problems = append(problems, result.Problem{Path: k.path, Text: count(l.n[k], "point") + " " + what + ": " + k.reason})
	}
	return problems
}
