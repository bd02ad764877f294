package main

import (
	"fmt"
	"maps"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// familyOf is what all points of one table share: everything but world, its shape, and size.
func familyOf(c condition) condition {
	c.World, c.nodes, c.perNode, c.SizeBytes, c.Count = 0, 0, 0, 0, 0
	return c
}

func familyTitle(c condition) string {
	return tableKey{"", c.Collective, c.Type, c.Op, c.Root, c.Placement, c.Mode}.String() + unusual(&result.Method{Rotate: c.rotate, Aggregate: c.aggregate, Average: c.average})
}

// families are those that have a time, all_reduce first.
func (f *findings) families() []condition {
	seen := map[condition]bool{}
	for _, cells := range f.times.cells {
		for under := range cells {
			seen[familyOf(under)] = true
		}
	}
	return slices.SortedFunc(maps.Keys(seen), compareConditions)
}

// rowsByTable are the rows family by family, and within one by contender, world and size.
func (f *findings) rowsByTable() []result.Row {
	rows := slices.Clone(f.rows)
	slices.SortStableFunc(rows, func(a, b result.Row) int {
		return compareConditions(familyOf(conditionOf(a.Run, a.Record)), familyOf(conditionOf(b.Run, b.Record)))
	})
	return rows
}

// conditions are those of a family that a contender has a time under, by world and size.
func (m *measurements) conditions(who contender, family condition) []condition {
	var found []condition
	for under := range m.cells[who] {
		if familyOf(under) == family {
			found = append(found, under)
		}
	}
	slices.SortFunc(found, compareConditions)
	return found
}

// shapes are the worlds of a family that a contender has a time in, ascending.
func (m *measurements) shapes(who contender, family condition) (found []shape) {
	for _, under := range m.conditions(who, family) {
		if s := shapeOf(under); !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	return found
}

// in are the conditions of a family in one world, by size.
func (m *measurements) in(who contender, family condition, s shape) (found []condition) {
	for _, under := range m.conditions(who, family) {
		if shapeOf(under) == s {
			found = append(found, under)
		}
	}
	return found
}

// ranks names a world in a table.
func ranks(s shape) string {
	if s.nodes > 1 {
		return fmt.Sprintf("%d on %d nodes", s.world, s.nodes)
	}
	return fmt.Sprint(s.world)
}

// withRanks names a world in a sentence.
func withRanks(s shape) string {
	words := count(s.world, "rank")
	if s.nodes > 1 {
		words += fmt.Sprintf(" on %d nodes", s.nodes)
	}
	return words
}

func size(c condition) string { return coll.FormatSize(c.SizeBytes, true) }
