package timeline

import (
	"maps"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice/profiles"
)

// runTimes are the times of one run by step, in ms: of the steps that all ranks have whole, or of the whole recordings.
type runTimes struct {
	*Timeline
	lanes  []*lane
	steps  map[step]int // index in series; nil: whole recordings
	n      int          // of values in a series
	parts  [][profiles.PureComm + 1][]float64
	caused [][]float64 // by lane: how long the others wait for it, mean over them
}

// timesOf returns the times of a run.
func timesOf(t *Timeline) *runTimes {
	c := t.compared
	common := c.commonSteps()
	r := &runTimes{Timeline: t, lanes: c.lanes, n: 1}
	for _, rec := range c.lanes[0].recordings {
		for i, s := range rec.steps {
			if common[s] > 0 && rec.Steps[i].Span > 0 {
				if r.steps == nil {
					r.steps = map[step]int{}
				}
				r.steps[s] = len(r.steps)
			}
		}
	}
	r.n = max(1, len(r.steps))
	r.parts = make([][profiles.PureComm + 1][]float64, len(r.lanes))
	for i, l := range r.lanes {
		for p := range r.parts[i] {
			r.parts[i][p] = make([]float64, r.n)
		}
		r.caused = append(r.caused, make([]float64, r.n))
		for _, rec := range l.recordings {
			if r.steps == nil {
				r.add(i, 0, &rec.Parts)
			}
			for n := range rec.Steps {
				if at, in := r.steps[rec.steps[n]]; in {
					r.add(i, at, &rec.Steps[n].Parts)
				}
			}
		}
	}
	r.wait(c)
	return r
}

// add adds the times of a lane in a step.
func (r *runTimes) add(lane, at int, p *Parts) {
	for part, ms := range map[profiles.TimePart]float64{
		profiles.WholeStep: p.Span, profiles.Computing: p.Compute, profiles.PureExposed: p.Exposed,
		profiles.Copying: p.MemcpyOnly, profiles.HostBoundIdle: p.HostBound, profiles.LaunchedIdle: p.Waiting,
		profiles.UnknownIdle: p.Unexplained, profiles.PureComm: p.Comm,
	} {
		r.parts[lane][part][at] += ms
	}
}

// at returns the index of a step in series; ok is false if it is not compared.
func (r *runTimes) at(s step) (at int, ok bool) {
	if r.steps == nil {
		return 0, true
	}
	at, ok = r.steps[s]
	return at, ok
}

// wait separates waiting from exposed communication. Of a matched call, the last part, as long as on the rank that
// began last, is the communication itself; what is exposed before that is waiting for this rank.
func (r *runTimes) wait(c *comparison) {
	index := map[*lane]int{}
	for i, l := range r.lanes {
		index[l] = i
	}
	for _, p := range c.parties {
		for _, m := range p.matches {
			last := 0
			for i, s := range m {
				if s.end-s.start < m[last].end-m[last].start {
					last = i
				}
			}
			if what, err := coll.ParseCollective(p.recordings[0].rowOf(m[0]).Name); err == nil && what.Rooted() {
				continue
			}
			least := m[last].end - m[last].start
			for i, s := range m {
				if at, in := r.at(p.recordings[i].stepOf(s)); in {
					of := index[p.recordings[i].of]
					r.parts[of][profiles.PureComm][at] -= milliseconds(s.end - s.start - least)
					r.waited(of, index[p.recordings[last].of], at, milliseconds(max(0, s.exposed-least)))
				}
			}
		}
	}
	if r.inWorld() {
		for at := range r.n {
			r.balance(at)
		}
	}
	for i := range r.parts {
		for at, waited := range r.parts[i][profiles.WaitingForRanks] {
			exposed := r.parts[i][profiles.PureExposed]
			exposed[at] = max(0, exposed[at]-waited)
			pure := r.parts[i][profiles.PureComm]
			pure[at] = max(0, pure[at])
		}
	}
}

// waited adds the time that a lane waits for another in a step.
func (r *runTimes) waited(lane, for_, at int, ms float64) {
	r.parts[lane][profiles.WaitingForRanks][at] += ms
	r.caused[for_][at] += ms / float64(max(1, len(r.lanes)-1))
}

// inWorld reports whether all communication is among all ranks.
func (r *runTimes) inWorld() bool {
	world := max(r.world(), len(r.lanes))
	for _, d := range r.Devices {
		if slices.ContainsFunc(d.Groups, func(g Group) bool { return g.Size > 1 && g.Size < world }) {
			return false
		}
	}
	return len(r.lanes) > 1
}

// balance adds the waiting that calls do not show, because they are not matched or the late rank's are long too: all
// ranks take part in the same communication, so what a rank has exposed beyond the one with the least is waiting for
// that one.
func (r *runTimes) balance(at int) {
	least := 0
	exposed := func(lane int) float64 { return r.parts[lane][profiles.PureExposed][at] }
	for i := range r.lanes {
		if exposed(i) < exposed(least) {
			least = i
		}
	}
	for i := range r.lanes {
		if more := exposed(i) - exposed(least) - r.parts[i][profiles.WaitingForRanks][at]; more > 0 {
			r.waited(i, least, at, more)
		}
	}
}

// mean returns the mean of a part over lanes, by step.
func (r *runTimes) mean(part profiles.TimePart, lanes []int) []float64 {
	sum := make([]float64, r.n)
	for _, l := range lanes {
		for at, ms := range r.parts[l][part] {
			sum[at] += ms / float64(len(lanes))
		}
	}
	return sum
}

// operatorKey identifies what ran: a kernel, a copy or a collective.
type operatorKey struct {
	kind  OperatorKind
	name  string
	bytes int64
	ranks int
}

// operatorTimes returns the times of operators, mean over lanes, by step: of collectives the exposed time.
func (r *runTimes) operatorTimes(lanes []int) map[operatorKey][]float64 {
	all := map[operatorKey][]float64{}
	for _, l := range lanes {
		for _, rec := range r.lanes[l].recordings {
			add := func(k operatorKey, at int, ns int64) {
				if all[k] == nil {
					all[k] = make([]float64, r.n)
				}
				all[k][at] += milliseconds(ns) / float64(len(lanes))
			}
			for i := range rec.operators {
				o := &rec.operators[i]
				k := operatorKey{kind: KernelOperator, name: o.name}
				if o.copies {
					k.kind = CopyOperator
				}
				if r.steps == nil {
					add(k, 0, o.sum)
					continue
				}
				for n, ns := range o.steps {
					if at, in := r.steps[rec.steps[n]]; in {
						add(k, at, ns)
					}
				}
			}
			for i := range rec.seen {
				s := &rec.seen[i]
				if at, in := r.at(rec.stepOf(s)); in {
					add(rec.kindOfOperator(s), at, s.exposed)
				}
			}
		}
	}
	return all
}

// kindOfOperator returns the kind of a collective that two runs have in common: names of kernels depend on the
// library's version.
func (d *Device) kindOfOperator(s *seen) operatorKey {
	row := d.rowOf(s)
	k := operatorKey{kind: CollectiveOperator, name: row.Name, bytes: d.likenessOf(s).bytes, ranks: row.Ranks}
	if _, err := coll.ParseCollective(k.name); err != nil {
		k.name = "other communication"
	}
	return k
}

// callsPerStep returns for each kind of collectives of a lane the median number of calls in a step; of a recording
// without steps, 1.
func (r *runTimes) callsPerStep(lane int) map[operatorKey]int {
	counts := map[operatorKey][]int{}
	for _, rec := range r.lanes[lane].recordings {
		for i := range rec.seen {
			s := &rec.seen[i]
			at, in := r.at(rec.stepOf(s))
			if !in {
				continue
			}
			k := rec.kindOfOperator(s)
			if counts[k] == nil {
				counts[k] = make([]int, r.n)
			}
			counts[k][at]++
		}
	}
	found := map[operatorKey]int{}
	for k, n := range counts {
		slices.Sort(n)
		if found[k] = n[(len(n)-1)/2]; r.steps == nil {
			found[k] = 1
		}
	}
	maps.DeleteFunc(found, func(_ operatorKey, n int) bool { return n == 0 })
	return found
}
