package compare

import (
	"maps"
	"testing"

	"busbar/internal/result"
	"busbar/internal/stats"
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
