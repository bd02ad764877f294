package timeline

import (
	"cmp"
	"maps"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/stats"
)

// lane is one rank among others: the devices that were read of it, one for each recording.
type lane struct {
	devices  []int // indexes in Timeline.Devices
	pure     int64 // ns, of matched calls
	waiting  int64 // ns
	last     int   // of the uneven ones, those it was the last to begin
	uneven   int   // matched calls of which that is known
	chance   float64
	cost     int64           // ns that others waited in those, the mean over them
	inSteps  int64           // ns, that part of cost
	waits    map[step]int64  // ns of waiting
	lateness map[step]counts // by step, of uneven calls
}

// counts are how many of a step's uneven calls a rank was last in.
type counts struct{ last, of int }

// step is one step of one recording; the name is "" for what is in none. Steps of one name are counted, and are those
// of another rank only if it has as many.
type step struct {
	cohort  int
	name    string
	nth, of int
}

// comparison is what is known over ranks while it is found.
type comparison struct {
	timeline *Timeline
	cohort   []int    // of each device: recordings that can be matched with each other have one number
	lane     []int    // of each device, index in lanes; -1: it has nothing to compare
	steps    [][]step // of each device
	lanes    []*lane
	parties  []*party
	numbered int // collectives matched by their numbers
	ordered  int // collectives matched by their order in steps
	alone    int // calls
	common   map[step]int
}

// compareRanks compares ranks; it leaves Timeline.Across null where fewer than two were read.
func compareRanks(t *Timeline) {
	c := &comparison{timeline: t}
	c.findLanes()
	if world := statedWorld(t); len(c.lanes) > 0 && len(c.lanes) < world {
		c.note(notice.RanksMissing{Read: len(c.lanes), World: world})
	}
	if len(c.lanes) < 2 {
		return
	}
	if t.NonBlocking() {
		c.note(notice.NonBlockingCalls{})
	} else {
		c.findParties()
	}
	a := &Across{}
	for _, p := range c.parties {
		c.match(p)
		c.weigh(p)
		a.Matched += len(p.matches)
	}
	a.How, a.Alone = c.how(), c.alone
	c.common = c.commonSteps()
	a.Steps = len(c.common)
	offsets := c.offsets()
	ranks := float64(len(c.lanes))
	for i, l := range c.lanes {
		a.Ranks = append(a.Ranks, RankShare{Device: l.devices[0], Compute: c.sumOf(l, computeOf),
			Kernels: c.sumOf(l, busyOf), Pure: milliseconds(l.pure), Waiting: milliseconds(l.waiting), Last: l.last,
			Offset: offsets[i]})
		a.Pure += milliseconds(l.pure) / ranks
		a.Waiting += milliseconds(l.waiting) / ranks
		a.Uneven += l.last
		for in, waited := range l.waits {
			if in.name != "" {
				a.waitingInSteps += milliseconds(waited) / ranks
			}
		}
	}
	a.Imbalance = c.imbalance()
	a.Matches = c.matched()
	t.Across = a
	a.Straggler = stragglers{c}.worst()
	c.limits()
}

// findLanes gives each device its rank. A rank that was recorded several times has several devices in different
// cohorts; a device whose rank is not known is a rank of its own.
func (c *comparison) findLanes() {
	devices := c.timeline.Devices
	c.cohort, c.lane, c.steps = make([]int, len(devices)), make([]int, len(devices)), make([][]step, len(devices))
	laneOf := map[rankKey]int{}
	for i := range devices {
		d := &devices[i]
		if c.lane[i] = -1; !d.works() {
			continue
		}
		key := rankKey{rank: -1 - i}
		if d.Rank != nil {
			key = rankKey{*d.Rank, d.ID}
		}
		if _, known := laneOf[key]; !known {
			laneOf[key] = len(c.lanes)
			c.lanes = append(c.lanes, &lane{waits: map[step]int64{}, lateness: map[step]counts{}})
		}
		c.lane[i] = laneOf[key]
		l := c.lanes[c.lane[i]]
		l.devices = append(l.devices, i)
	}
	for _, l := range c.lanes {
		again := slices.Clone(l.devices)
		slices.SortStableFunc(again, func(a, b int) int { return cmp.Compare(devices[a].origin, devices[b].origin) })
		for n, i := range again {
			c.cohort[i], c.steps[i] = n, devices[i].stepsOf(n)
		}
	}
}

// commonSteps are the steps that each rank has whole, with the number of ranks.
func (c *comparison) commonSteps() map[step]int {
	whole := map[step]int{}
	for i, steps := range c.steps {
		for n, s := range steps {
			if c.timeline.Devices[i].Steps[n].Partial == nil {
				whole[s]++
			}
		}
	}
	maps.DeleteFunc(whole, func(_ step, ranks int) bool { return ranks < len(c.lanes) })
	return whole
}

// stepsOf are the steps of a device.
func (d *Device) stepsOf(cohort int) []step {
	steps, times := make([]step, len(d.Steps)), map[string]int{}
	for i := range steps {
		name := d.Steps[i].Name
		steps[i] = step{cohort: cohort, name: name, nth: times[name]}
		times[name]++
	}
	for i := range steps {
		steps[i].of = times[steps[i].name]
	}
	return steps
}

// stepOf is the step that a call of a device is in.
func (c *comparison) stepOf(device int, s *seen) step {
	if s.step < 0 {
		return step{cohort: c.cohort[device]}
	}
	return c.steps[device][s.step]
}

// offsets are what is added to the times of each rank to set them beside the first's: the median of the distances
// between the ends of matched calls, which all ranks end together, or nearly so. A rank that has no call in common with
// the first is set beside one that has.
func (c *comparison) offsets() []*float64 {
	between := map[[2]int][]float64{}
	for _, p := range c.parties {
		for a := range p.devices {
			for b := range p.devices {
				if p.cohort > 0 || a == b || a > 0 && b > 0 {
					continue
				}
				lanes := [2]int{c.lane[p.devices[a]], c.lane[p.devices[b]]}
				for _, m := range p.matches {
					between[lanes] = append(between[lanes], milliseconds(c.at(p, m, a).end-c.at(p, m, b).end))
				}
			}
		}
	}
	found := make([]*float64, len(c.lanes))
	found[0] = new(float64)
	for reached := []int{0}; len(reached) > 0; reached = reached[1:] {
		for l := range c.lanes {
			if apart := between[[2]int{reached[0], l}]; found[l] == nil && len(apart) > 0 {
				at := *found[reached[0]] + stats.Median(apart)
				found[l] = &at
				reached = append(reached, l)
			}
		}
	}
	if !slices.ContainsFunc(found[1:], func(f *float64) bool { return f != nil }) {
		found[0] = nil
	}
	return found
}
