package timeline

import (
	"cmp"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/stats"
)

// lane is one rank among others: the devices that were read of it, one for each recording.
type lane struct {
	devices  []int // indexes in Timeline.Devices
	pure     int64 // ns, of matched calls
	waiting  int64 // ns
	calls    int   // matched
	last     int   // of the uneven ones, those it was the last to begin
	uneven   int   // matched calls of which that can be said
	chance   float64
	cost     int64           // ns that others waited in those, the mean over them
	inSteps  int64           // ns, that part of cost
	waits    map[step]int64  // ns of waiting
	lateness map[step]counts // by step, of uneven calls
}

// counts are how many of a step's uneven calls a rank was last in.
type counts struct{ last, of int }

// step is one step of one recording; the name is "" for what is in none.
type step struct {
	cohort int
	name   string
}

// comparison is what is known over ranks while it is found.
type comparison struct {
	timeline *Timeline
	cohort   []int // of each device: recordings that can be matched with each other have one number
	lane     []int // of each device, index in lanes; -1: it has nothing to compare
	lanes    []*lane
	parties  []*party
	methods  map[method]int // collectives matched by each
	common   map[step]bool
	offset   []*float64                   // of each lane
	alone    int                          // calls
	refused  []notice.CommunicatorUnclear // why communicators were left out
}

// compareRanks compares ranks; it leaves Timeline.Across null where fewer than two were read.
func compareRanks(t *Timeline) {
	c := &comparison{timeline: t, methods: map[method]int{}}
	c.findLanes()
	if len(c.lanes) < 2 {
		return
	}
	if !t.NonBlocking() {
		c.findParties()
	}
	for _, p := range c.parties {
		c.match(p)
	}
	for _, p := range c.parties {
		c.weigh(p)
	}
	a := &Across{How: c.how(), Alone: c.alone}
	for _, p := range c.parties {
		a.Matched += len(p.matches)
	}
	c.common = c.commonSteps()
	a.Steps = len(c.common)
	c.offset = c.offsets()
	for i, l := range c.lanes {
		a.Ranks = append(a.Ranks, RankShare{Device: l.devices[0], Compute: c.sumOf(l, computeOf), Kernels: c.kernelsOf(l),
			Pure: milliseconds(l.pure), Waiting: milliseconds(l.waiting),
			Last: l.last, Offset: c.offset[i]})
		a.Pure += milliseconds(l.pure) / float64(len(c.lanes))
		a.Waiting += milliseconds(l.waiting) / float64(len(c.lanes))
		for in, waited := range l.waits {
			if in.name != "" {
				a.waitingInSteps += milliseconds(waited) / float64(len(c.lanes))
			}
		}
	}
	a.Uneven = c.uneven()
	a.Imbalance = c.imbalance()
	a.Matches = c.matched()
	t.Across = a
	a.Straggler = stragglers{c}.worst()
	c.note()
}

// findLanes gives each device its rank. A rank that was recorded several times has several devices in different
// cohorts; a device whose rank is not known is a rank of its own.
func (c *comparison) findLanes() {
	devices := c.timeline.Devices
	c.cohort, c.lane = make([]int, len(devices)), make([]int, len(devices))
	order := make([]int, 0, len(devices))
	for i := range devices {
		c.lane[i] = -1
		if devices[i].works() {
			order = append(order, i)
		}
	}
	recordings := map[[2]int][]int{} // by rank and device number
	of := map[[2]int]int{}
	for _, i := range order {
		d := &devices[i]
		if d.Rank == nil {
			c.lane[i] = c.addLane(i)
			continue
		}
		key := [2]int{*d.Rank, d.ID}
		if _, known := of[key]; !known {
			of[key] = c.addLane(i)
		} else {
			l := c.lanes[of[key]]
			l.devices = append(l.devices, i)
		}
		c.lane[i] = of[key]
		recordings[key] = append(recordings[key], i)
	}
	for _, again := range recordings {
		slices.SortStableFunc(again, func(a, b int) int { return cmp.Compare(devices[a].origin, devices[b].origin) })
		for n, i := range again {
			c.cohort[i] = n
		}
	}
}

func (c *comparison) addLane(device int) int {
	c.lanes = append(c.lanes, &lane{devices: []int{device}, waits: map[step]int64{}, lateness: map[step]counts{}})
	return len(c.lanes) - 1
}

// kernelsOf is the time of kernels that compute, in milliseconds, of what sumOf is of.
func (c *comparison) kernelsOf(l *lane) (sum float64) {
	for _, i := range l.devices {
		d := &c.timeline.Devices[i]
		if len(c.common) == 0 {
			sum += d.Busy
		}
		for s := range d.Steps {
			if c.common[step{c.cohort[i], d.Steps[s].Name}] {
				sum += d.Steps[s].Busy
			}
		}
	}
	return sum
}

// commonSteps are the steps that each rank has once, and whole.
func (c *comparison) commonSteps() map[step]bool {
	seen := map[step]int{}
	unfit := map[step]bool{}
	for i := range c.timeline.Devices {
		if c.lane[i] < 0 {
			continue
		}
		mine := map[step]bool{}
		for _, s := range c.timeline.Devices[i].Steps {
			k := step{c.cohort[i], s.Name}
			if mine[k] || s.Partial != nil {
				unfit[k] = true
			}
			if !mine[k] {
				mine[k] = true
				seen[k]++
			}
		}
	}
	common := map[step]bool{}
	for k, n := range seen {
		if n == len(c.lanes) && !unfit[k] {
			common[k] = true
		}
	}
	return common
}

// stepOf is the step that a call of a device is in.
func (c *comparison) stepOf(device int, s *seen) step {
	steps := c.timeline.Devices[device].Steps
	if s.step < 0 || int(s.step) >= len(steps) {
		return step{c.cohort[device], ""}
	}
	return step{c.cohort[device], steps[s.step].Name}
}

// offsets are what is added to the times of each rank to set them beside the first's: the median of the distances
// between the ends of matched calls, which all ranks end together, or nearly so. A rank that has no call in common with
// the first is set beside one that has.
func (c *comparison) offsets() []*float64 {
	between := map[[2]int][]float64{}
	for _, p := range c.parties {
		if p.peers || p.cohort > 0 {
			continue
		}
		for _, m := range p.matches {
			for a := range p.parts {
				for b := range p.parts {
					x, y := c.lane[p.parts[a].device], c.lane[p.parts[b].device]
					if a != b && (a == 0 || b == 0) {
						between[[2]int{x, y}] = append(between[[2]int{x, y}], milliseconds(p.at(c, m, a).end-p.at(c, m, b).end))
					}
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
