package timeline

import (
	"cmp"
	"maps"
	"slices"

	"busbar/internal/notice/profiles"
	"busbar/internal/stats"
)

// recording is a device among others.
type recording struct {
	*Device
	index  int // in Timeline.Devices
	of     *lane
	cohort int // recordings that can be matched with each other have one number
	steps  []step
}

// lane is one rank among others, with its recordings, one after the other.
type lane struct {
	recordings []*recording
	pure       int64 // ns, of matched calls
	waiting    int64 // ns
	last       int   // of the uneven ones, those it was the last to begin
	uneven     int   // matched calls of which that is known
	chance     float64
	cost       int64           // ns that others waited in those, the mean over them
	inSteps    int64           // ns, that part of cost
	waits      map[step]int64  // ns of waiting
	lateness   map[step]counts // by step, of uneven calls
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
	timeline   *Timeline
	recordings []*recording
	lanes      []*lane
	parties    []*party
	numbered   int // collectives matched by their numbers
	ordered    int // collectives matched by their order in steps
	alone      int // calls
	common     map[step]int
}

// compareRanks compares ranks; it leaves Timeline.Across null where fewer than two were read.
func compareRanks(t *Timeline) {
	c := &comparison{timeline: t}
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

// findLanes gives each device that works its rank. A rank that was recorded several times has recordings in different
// cohorts; a device whose rank is not known is a rank of its own.
func (c *comparison) findLanes() {
	lanes := map[rankKey]*lane{}
	for i := range c.timeline.Devices {
		d := &c.timeline.Devices[i]
		if !d.works() {
			continue
		}
		key := rankKey{rank: -1 - i}
		if d.Rank != nil {
			key = rankKey{*d.Rank, d.ID}
		}
		l := lanes[key]
		if l == nil {
			l = &lane{waits: map[step]int64{}, lateness: map[step]counts{}}
			lanes[key] = l
			c.lanes = append(c.lanes, l)
		}
		r := &recording{Device: d, index: i, of: l}
		l.recordings, c.recordings = append(l.recordings, r), append(c.recordings, r)
	}
	for _, l := range c.lanes {
		again := slices.Clone(l.recordings)
		slices.SortStableFunc(again, func(a, b *recording) int { return cmp.Compare(a.origin, b.origin) })
		for n, r := range again {
			r.cohort, r.steps = n, r.stepsOf(n)
		}
	}
}

// commonSteps are the steps that each rank has whole, with the number of ranks.
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

// stepOf is the step that a call is in.
func (r *recording) stepOf(s *seen) step {
	if s.step < 0 {
		return step{cohort: r.cohort}
	}
	return r.steps[s.step]
}

// offsets are what is added to the times of ranks to set them beside the first's: the median of the distances between
// the ends of matched calls, which all ranks end together, or nearly so. A rank that has no call in common with the
// first is set beside one that has.
func (c *comparison) offsets() map[*lane]float64 {
	between := map[[2]*lane][]float64{}
	for _, p := range c.parties {
		for a, from := range p.recordings {
			for b, to := range p.recordings {
				if p.cohort > 0 || a == b || a > 0 && b > 0 {
					continue
				}
				lanes := [2]*lane{from.of, to.of}
				for _, m := range p.matches {
					between[lanes] = append(between[lanes], milliseconds(m[a].end-m[b].end))
				}
			}
		}
	}
	found := map[*lane]float64{c.lanes[0]: 0}
	for reached := c.lanes[:1:1]; len(reached) > 0; reached = reached[1:] {
		for _, l := range c.lanes {
			if _, known := found[l]; !known && between[[2]*lane{reached[0], l}] != nil {
				found[l] = found[reached[0]] + stats.Median(between[[2]*lane{reached[0], l}])
				reached = append(reached, l)
			}
		}
	}
	return found
}

// sumOf is a part of a rank's time. Recordings may differ in length, so it is that of the steps all ranks have, if
// there are any.
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
