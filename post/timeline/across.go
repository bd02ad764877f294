package timeline

import (
	"cmp"
	"maps"
	"slices"

	"busbar/internal/notice/profiles"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// recording is one of several devices.
type recording struct {
	*Device
	index  int // in Timeline.Devices
	of     *lane
	cohort int // comparable recordings have the same number
	steps  []step
}

// lane is one rank with its consecutive recordings.
type lane struct {
	recordings []*recording
	pure       int64 // ns, of matched calls
	waiting    int64 // ns
	last       int   // uneven calls that it began last
	uneven     int   // matched uneven calls
	chance     float64
	cost       int64           // ns, mean waiting time of the others in those
	inSteps    int64           // ns, that part of cost
	waits      map[step]int64  // ns of waiting
	caused     map[step]int64  // ns of cost
	lateness   map[step]counts // by step, of uneven calls
}

// counts is the number of a step's uneven calls that a rank began last.
type counts struct{ last, of int }

// step is one step of one recording; name "" for calls outside steps. A repeated name has a number, and corresponds to
// another rank's only if both have as many.
type step struct {
	cohort  int
	name    string
	nth, of int
}

// comparison is the state of the comparison of ranks.
type comparison struct {
	timeline   *Timeline
	recordings []*recording
	lanes      []*lane
	parties    []*party
	numbered   int // collectives matched by number
	ordered    int // collectives matched by order in steps
	alone      int // unmatched calls
	common     map[step]int
}

// compareRanks compares ranks; Timeline.Across stays null with fewer than two.
func compareRanks(t *Timeline) {
	c := &comparison{timeline: t}
	t.compared = c
	c.findLanes()
	if world := statedWorld(t); len(c.lanes) > 0 && len(c.lanes) < world {
		c.note(profiles.RanksMissing{Read: len(c.lanes), World: world})
	}
	if len(c.lanes) < 2 {
		return
	}
	if t.NonBlocking() {
		c.note(profiles.NonBlockingCalls{})
	} else {
		c.findParties()
	}
	c.timeline.parties = c.parties
	a := &Across{}
	for _, p := range c.parties {
		c.match(p)
		p.weigh()
		a.Matched += len(p.matches)
	}
	a.How, a.Alone = c.how(), c.alone
	c.common = c.commonSteps()
	a.Steps = len(c.common)
	offsets := c.offsets()
	ranks := float64(len(c.lanes))
	for _, l := range c.lanes {
		share := RankShare{Device: l.recordings[0].index, Compute: c.sumOf(l, computeOf), Kernels: c.sumOf(l, busyOf),
			Pure: milliseconds(l.pure), Waiting: milliseconds(l.waiting), Last: l.last}
		if at, known := offsets[l]; known && len(offsets) > 1 {
			share.Offset = &at
		}
		a.Ranks = append(a.Ranks, share)
		a.Pure += share.Pure / ranks
		a.Waiting += share.Waiting / ranks
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
	a.Straggler = c.straggler()
	c.limits()
}

// findLanes assigns each working device to a rank. Several recordings of a rank are in different cohorts; a device of
// unknown rank is its own rank.
func (c *comparison) findLanes() {
	var keys units.Numbers[rankKey]
	for i := range c.timeline.Devices {
		d := &c.timeline.Devices[i]
		if !d.works() {
			continue
		}
		key := rankKey{rank: -1 - i}
		if d.Rank != nil {
			key = rankKey{*d.Rank, d.ID}
		}
		n, added := keys.Of(key)
		if added {
			c.lanes = append(c.lanes,
				&lane{waits: map[step]int64{}, caused: map[step]int64{}, lateness: map[step]counts{}})
		}
		l := c.lanes[n]
		r := &recording{Device: d, index: i, of: l}
		l.recordings, c.recordings = append(l.recordings, r), append(c.recordings, r)
	}
	for _, l := range c.lanes {
		again := slices.Clone(l.recordings)
		units.SortBy(again, func(r *recording) int64 { return r.origin })
		for n, r := range again {
			r.cohort, r.steps = n, r.stepsOf(n)
		}
	}
}

// commonSteps returns the steps that are complete on each rank, with the number of ranks.
func (c *comparison) commonSteps() map[step]int {
	whole := map[step]int{}
	for _, r := range c.recordings {
		for n, s := range r.steps {
			if r.Steps[n].Partial == nil {
				whole[s]++
			}
		}
	}
	maps.DeleteFunc(whole, func(_ step, ranks int) bool { return ranks < len(c.lanes) })
	return whole
}

// stepsOf returns the steps of a device.
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

// stepOf returns the step of a call.
func (r *recording) stepOf(s *seen) step {
	if s.step < 0 {
		return step{cohort: r.cohort}
	}
	return r.steps[s.step]
}

// offsets returns the time offsets that align ranks with the first: the median difference between the ends of matched
// calls, which all ranks end at nearly the same time. A rank without calls in common with the first is aligned with
// one that has.
func (c *comparison) offsets() map[*lane]float64 {
	between := map[*lane]map[*lane][]float64{}
	add := func(from, to *lane, ms float64) {
		if between[from] == nil {
			between[from] = map[*lane][]float64{}
		}
		between[from][to] = append(between[from][to], ms)
	}
	for _, p := range c.parties {
		for i, to := range p.recordings {
			if i == 0 || p.cohort > 0 {
				continue
			}
			for _, m := range p.matches {
				add(p.recordings[0].of, to.of, milliseconds(m[0].end-m[i].end))
				add(to.of, p.recordings[0].of, milliseconds(m[i].end-m[0].end))
			}
		}
	}
	found := map[*lane]float64{c.lanes[0]: 0}
	byIndex := func(a, b *lane) int { return cmp.Compare(a.recordings[0].index, b.recordings[0].index) }
	for reached := c.lanes[:1:1]; len(reached) > 0; reached = reached[1:] {
		near := between[reached[0]]
		for _, l := range slices.SortedFunc(maps.Keys(near), byIndex) {
			if _, known := found[l]; !known {
				found[l] = found[reached[0]] + stats.Median(near[l])
				reached = append(reached, l)
			}
		}
	}
	return found
}

// sumOf returns the sum of a part of a rank's time, over the steps that all ranks have if any, because recordings may
// differ in length.
func (c *comparison) sumOf(l *lane, part func(*Parts) float64) (sum float64) {
	for _, r := range l.recordings {
		if len(c.common) == 0 {
			sum += part(&r.Parts)
		}
		for s := range r.Steps {
			if c.common[r.steps[s]] > 0 {
				sum += part(&r.Steps[s].Parts)
			}
		}
	}
	return sum
}
