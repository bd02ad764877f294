package compare

import (
	"maps"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/post/analysis"
)

// A launch has one time, however many cycles it had.
func TestMediansOfLaunches(t *testing.T) {
	records := []entry{
		{launch: 0, status: result.OK, seconds: 1}, {launch: 0, status: result.OK, seconds: 3},
		{launch: 0, status: result.Failed}, {launch: 1, status: result.OK, seconds: 5},
	}
	times := medians(records, seconds)
	if !maps.Equal(times, map[int]float64{0: 2, 1: 5}) {
		t.Errorf("%v", times)
	}
	if of := timesOf(times, records); of != (launchTimes{Launches: 2, Time: 3.5, Min: 2, Max: 5}) {
		t.Errorf("%+v", of)
	}
	if times := medians(records[2:3], seconds); len(times) != 0 {
		t.Errorf("of a failure: %v", times)
	}
	if stats.FewestLaunches(stats.DefaultAlpha, false) != 4 {
		t.Error("the help names four launches")
	}
}

// Groups of an oversubscribed world share its cores, whatever the number of their own ranks.
func TestShapeOfGroup(t *testing.T) {
	run := &result.Run{World: 8, Nodes: 2, RanksPerNode: 4}
	r := &result.Record{Nodes: 1, RanksPerNode: 4}
	r.World, r.Groups = 4, coll.Groups{Division: "2:contiguous", Number: 1}
	s := collective{Condition: analysis.ConditionOf(run, r)}.shape()
	if s != (analysis.Shape{World: 8, Nodes: 2, PerNode: 4}) {
		t.Errorf("shape %+v, want that of the run", s)
	}
}
