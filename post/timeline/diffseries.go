package timeline

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice/profiles"
	"busbar/internal/units"
)

// runTimes are the times of one run by step, in ms: of the steps that all ranks have whole, or of the whole recordings.
type runTimes struct {
	*Timeline
	lanes  []*lane
	steps  map[step]int // index in series; empty: whole recordings
	n      int          // values in a series
	parts  map[profiles.TimePart][][]float64
	caused [][]float64 // how long the others wait for a lane, mean over them
}

// partTimes are the parts of a device's time, in the order of tables. Local ones do not depend on other ranks.
var partTimes = []struct {
	part  profiles.TimePart
	of    func(*Parts) float64
	local bool
}{
	{profiles.WholeStep, spanOf, false},
	{profiles.Computing, computeOf, true}, {profiles.PureExposed, exposedOf, false},
	{profiles.WaitingForRanks, exposedOf, false}, // runTimes.wait separates the two
	{profiles.Copying, copiesOf, true}, {profiles.HostBoundIdle, hostBoundOf, true},
	{profiles.LaunchedIdle, waitingOf, true},
	{profiles.UnknownIdle, func(p *Parts) float64 { return p.Unexplained }, true},
	{profiles.PureComm, commOf, false},
}

// timesOf returns the times of a run.
func timesOf(t *Timeline) *runTimes {
	c := t.compared
	r := &runTimes{Timeline: t, lanes: c.lanes, steps: map[step]int{}, parts: map[profiles.TimePart][][]float64{}}
	common := c.commonSteps()
	for _, rec := range c.lanes[0].recordings {
		for i, s := range rec.steps {
			if common[s] > 0 && rec.Steps[i].Span > 0 {
				r.steps[s] = len(r.steps)
			}
		}
	}
	r.n = max(1, len(r.steps))
	for _, l := range r.lanes {
		for _, p := range partTimes {
			series := make([]float64, r.n)
			for _, rec := range l.recordings {
				if len(r.steps) == 0 {
					series[0] += p.of(&rec.Parts)
				}
				for n, s := range rec.steps {
					if at, in := r.steps[s]; in {
						series[at] += p.of(&rec.Steps[n].Parts)
					}
				}
			}
			r.parts[p.part] = append(r.parts[p.part], series)
		}
		r.caused = append(r.caused, r.series(l.caused))
	}
	r.wait()
	return r
}

// at returns the index of a step in series; ok is false if it is not compared.
func (r *runTimes) at(s step) (at int, ok bool) {
	at, ok = r.steps[s]
	return at, ok || len(r.steps) == 0
}

// series returns nanoseconds by step as a series.
func (r *runTimes) series(ns map[step]int64) []float64 {
	all := make([]float64, r.n)
	for s, one := range ns {
		if at, in := r.at(s); in {
			all[at] += milliseconds(one)
		}
	}
	return all
}

// wait separates waiting from exposed communication: that of matched calls, as far as it is exposed. If all
// communication is among all ranks, what a rank has exposed beyond the one with the least is waiting for that one too,
// also where calls are not matched or the late rank's are as long.
func (r *runTimes) wait() {
	world := max(r.world(), len(r.lanes))
	among := len(r.lanes) > 1 && !slices.ContainsFunc(r.Devices, func(d Device) bool {
		return slices.ContainsFunc(d.Groups, func(g Group) bool { return g.Size > 1 && g.Size < world })
	})
	exposed, waited := r.parts[profiles.PureExposed], r.parts[profiles.WaitingForRanks]
	for i, l := range r.lanes {
		waited[i] = r.series(l.waits)
		for at, ms := range waited[i] {
			pure := r.parts[profiles.PureComm][i]
			pure[at] = max(0, pure[at]-ms)
			waited[i][at] = min(ms, exposed[i][at])
		}
	}
	for at := range r.n {
		least := 0
		for i := range r.lanes {
			if exposed[i][at] < exposed[least][at] {
				least = i
			}
		}
		beyond := exposed[least][at]
		for i := range r.lanes {
			if more := exposed[i][at] - beyond - waited[i][at]; among && more > 0 {
				waited[i][at] += more
				r.caused[least][at] += more / float64(len(r.lanes)-1)
			}
			exposed[i][at] -= waited[i][at]
		}
	}
}

// mean returns the mean of a part over lanes.
func (r *runTimes) mean(part profiles.TimePart, lanes []int) []float64 {
	return r.sum(r.parts[part], lanes, len(lanes))
}

func (r *runTimes) sum(of [][]float64, lanes []int, over int) []float64 {
	all := make([]float64, r.n)
	for _, l := range lanes {
		for at, ms := range of[l] {
			all[at] += ms / float64(over)
		}
	}
	return all
}

// operatorKey identifies what ran: a kernel, a copy or a collective.
type operatorKey struct {
	part  profiles.TimePart
	name  string
	bytes int64
	ranks int
}

// operatorTime is how often an operator ran, and its time, mean over lanes: of collectives the exposed time.
type operatorTime struct {
	calls int
	ms    []float64
}

func (r *runTimes) operatorTimes(lanes []int) map[operatorKey]*operatorTime {
	all := map[operatorKey]*operatorTime{}
	add := func(k operatorKey, s step, ns int64) {
		if at, in := r.at(s); in {
			if all[k] == nil {
				all[k] = &operatorTime{ms: make([]float64, r.n)}
			}
			all[k].calls++
			all[k].ms[at] += milliseconds(ns) / float64(len(lanes))
		}
	}
	for _, l := range lanes {
		for _, rec := range r.lanes[l].recordings {
			for o := range units.Each(rec.operators) {
				k := operatorKey{part: profiles.Computing, name: o.Name}
				if o.Copies {
					k.part = profiles.Copying
				}
				add(k, step{}, o.Steps[0])
				for n, ns := range o.Steps[1:] {
					add(k, rec.steps[n], ns)
				}
			}
			for s := range units.Each(rec.seen) {
				add(rec.collectiveKey(s), rec.stepOf(s), s.exposed)
			}
		}
	}
	return all
}

// collectiveKey is what a call has in common in two runs: names of kernels depend on the library's version.
func (d *Device) collectiveKey(s *seen) operatorKey {
	row := d.rowOf(s)
	k := operatorKey{profiles.PureExposed, row.Name, d.likenessOf(s).bytes, row.Ranks}
	if _, err := coll.ParseCollective(k.name); err != nil {
		k.name = "other communication"
	}
	return k
}
