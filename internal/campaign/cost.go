package campaign

import (
	"fmt"
	"time"
)

// Cost is what the jobs of a submission cost, in hours of one node.
type Cost struct {
	Bound   float64 // all of them run to their time limit, once
	Guess   float64 // from the launches that are done; without those that nothing is known of
	Unknown int     // launches that nothing is known of
}

// CostOf is what the arrays cost.
func (c *Campaign) CostOf(arrays []Array, status []Progress) (cost Cost, err error) {
	known := newDurations(status)
	state := map[string]State{}
	for _, p := range status {
		state[p.String()] = p.State
	}
	for _, a := range arrays {
		for _, index := range a.Tasks {
			cost.Bound += float64(a.Nodes) * c.Sbatch.Limit().Hours()
			launches, err := c.Of(Task{a.Nodes, index})
			if err != nil {
				return cost, err
			}
			for _, l := range launches {
				if state[l.String()] == Done {
					continue
				}
				if d, ok := known.of(l); ok {
					cost.Guess += float64(a.Nodes) * d.Hours()
				} else {
					cost.Unknown++
				}
			}
		}
	}
	return cost, nil
}

// durations are how long launches took that are done.
type durations struct {
	byKind  map[string][]time.Duration // nodes and variant
	byNodes map[int][]time.Duration
}

func newDurations(status []Progress) durations {
	d := durations{map[string][]time.Duration{}, map[int][]time.Duration{}}
	for _, p := range status {
		if p.State == Done && p.Took > 0 {
			key := kind(p.Launch)
			d.byKind[key] = append(d.byKind[key], p.Took)
			d.byNodes[p.Nodes] = append(d.byNodes[p.Nodes], p.Took)
		}
	}
	return d
}

func kind(l Launch) string { return fmt.Sprint(l.Nodes, " ", l.Variant.Name) }

// of is the mean of launches of that variant, else of all, on as many nodes.
func (d durations) of(l Launch) (time.Duration, bool) {
	for _, known := range [][]time.Duration{d.byKind[kind(l)], d.byNodes[l.Nodes]} {
		if len(known) > 0 {
			var sum time.Duration
			for _, k := range known {
				sum += k
			}
			return sum / time.Duration(len(known)), true
		}
	}
	return 0, false
}
