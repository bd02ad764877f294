package result

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/step"
)

// RunKey is what two runs must share for the points of one to count for the other: backend, library, shape of world,
// and what makes a figure another one (rotating buffers, operations issued as one, whose time counts, how a GPU's
// buffers and its library are set up). It has many fields because each alone makes two runs different.
type RunKey struct {
	Backend, Library, Version  string
	Variant                    string
	World, Nodes, RanksPerNode int
	Device                     string
	Rehearsed                  bool
	Rotate                     int64
	Packed                     bool
	Aggregate                  int
	Average                    string
	Settings
	Pattern string
	Step    string  // what the steps are of; "" where collectives were measured
	Poll    float64 // s between calls that test; 0 where no point polls
}

// Key is the run's RunKey.
func (r *Run) Key() RunKey {
	return RunKey{
		Backend: r.Backend.Name, Library: r.Backend.Library, Version: r.Backend.Version, Variant: r.Variant,
		World: r.World, Nodes: r.Nodes, RanksPerNode: r.RanksPerNode, Device: r.Device, Rehearsed: r.Rehearse,
		Rotate: r.Method.Rotate, Packed: r.Method.Packed, Aggregate: max(1, r.Method.Aggregate), Average: r.Method.Average,
		Settings: r.Method.Settings(),
		Pattern:  r.Pattern.String(),
		Step:     r.Step.key(),
		Poll:     r.Step.poll(),
	}
}

// PointKey identifies a point of a sweep: the case with its mode, the backend, the cycle and the group of a pattern.
type PointKey struct {
	coll.Case
	Backend string
	Cycle   int    // at least 1
	Group   string // as Group.String
}

// Point is the key of a case in a cycle; cycle 0, of a run that has only one, is 1.
func Point(backend string, c coll.Case, cycle int) PointKey {
	return PointKey{Case: c, Backend: backend, Cycle: max(cycle, 1)}
}

// Point is the key of a record of that backend.
func (r *Record) Point(backend string) PointKey {
	k := Point(backend, r.Case, r.Cycle)
	k.Group = r.Group.String()
	return k
}

// Past is what earlier runs have measured.
type Past struct {
	Problems []notice.Notice // files and lines that could not be read
	runs     map[string]*pastRun
}

type pastRun struct {
	id, campaign string
	key          RunKey
	start        time.Time
	ok           []PointKey
	groups       map[PointKey]Time // of ok, what groups of a pattern took
	steps        []step.Point      // ok, of training steps
}

// ReadPast reads the runs in files (see Find). What cannot be read is a problem and its points are measured again.
func ReadPast(files []string) *Past {
	p := &Past{runs: map[string]*pastRun{}}
	for _, path := range files {
		var ok []PointKey
		groups := map[PointKey]Time{}
		f, err := Scan(path, func(r *Record) error {
			if r.Status == OK {
				ok = append(ok, r.Point(""))
				if r.Group != nil && r.Time != nil {
					groups[r.Point("")] = *r.Time
				}
			}
			return nil
		})
		if err != nil {
			p.Problems = append(p.Problems, notice.OfError(path, err))
			continue
		}
		measured := f.Run.Imported == nil // what another tool measured is not measured
		if measured {
			p.add(f, ok, groups)
		}
		if measured && f.Run.Step != nil {
			p.addSteps(path) // which finds the same problems
		} else {
			p.Problems = append(p.Problems, f.Problems...)
		}
	}
	return p
}

// addSteps reads what a run of training steps has measured, which is one of p already.
func (p *Past) addSteps(path string) {
	f, err := ReadSteps(path)
	if err != nil {
		p.Problems = append(p.Problems, notice.OfError(path, err))
		return
	}
	p.Problems = append(p.Problems, f.Problems...)
	for _, r := range f.Records {
		if r.Status == OK {
			p.runs[f.Run.ID].steps = append(p.runs[f.Run.ID].steps, r.Point)
		}
	}
}

func (p *Past) add(f *File, ok []PointKey, groups map[PointKey]Time) {
	r := p.runs[f.Run.ID]
	if r == nil {
		r = &pastRun{id: f.Run.ID, campaign: f.Run.Campaign, key: f.Run.Key(), start: f.Run.Start,
			groups: map[PointKey]Time{}}
		p.runs[f.Run.ID] = r
	}
	for _, k := range ok {
		k.Backend = f.Run.Backend.Name
		r.ok = append(r.ok, k)
	}
	for k, t := range groups {
		k.Backend = f.Run.Backend.Name
		r.groups[k] = t
	}
}

// Groups are the times of the points of a pattern that are ok in these runs, of the newest run that has one.
func (p *Past) Groups(runs []string) map[PointKey]Time {
	all := map[PointKey]Time{}
	for _, id := range runs {
		if r := p.runs[id]; r != nil {
			maps.Copy(all, r.groups)
		}
	}
	return all
}

// Done returns the points that are ok in runs of that key, and the IDs of those runs, oldest first: what a run that
// measures the rest writes as its Resumes.
func (p *Past) Done(key RunKey) (done map[PointKey]bool, runs []string) {
	done = map[PointKey]bool{}
	for _, r := range p.oldestFirst(func(k RunKey) bool { return k == key }) {
		runs = append(runs, r.id)
		for _, k := range r.ok {
			done[k] = true
		}
	}
	return done, runs
}

// StepsDone is Done for runs of training steps. A point whose rounds were cut off is not done: rounds of another launch
// are no pairs of these. A run without points that poll goes with one of any interval.
func (p *Past) StepsDone(key RunKey) (done map[step.Point]bool, runs []string) {
	done = map[step.Point]bool{}
	fits := func(k RunKey) bool {
		if k.Poll == 0 || key.Poll == 0 {
			k.Poll = key.Poll
		}
		return k == key
	}
	for _, r := range p.oldestFirst(fits) {
		runs = append(runs, r.id)
		for _, point := range r.steps {
			done[point] = true
		}
	}
	return done, runs
}

// Unfit returns the IDs of the runs, oldest first, of a world that was too large for its launch (it has no nodes, so
// that its key is never a real run's): a later run of that backend and world continues them, whatever it measures.
func (p *Past) Unfit(backend string, world int) (runs []string) {
	for _, r := range p.oldestFirst(func(k RunKey) bool {
		return k.Nodes == 0 && k.Backend == backend && k.World == world
	}) {
		runs = append(runs, r.id)
	}
	return runs
}

func (p *Past) oldestFirst(wanted func(RunKey) bool) []*pastRun {
	var found []*pastRun
	for _, r := range p.runs {
		if wanted(r.key) {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b *pastRun) int { return cmp.Or(a.start.Compare(b.start), cmp.Compare(a.id, b.id)) })
	return found
}

// Campaign is the campaign of the newest of these runs, which a run that continues them belongs to; "" if there is
// none.
func (p *Past) Campaign(runs []string) string {
	for _, id := range slices.Backward(runs) {
		if r := p.runs[id]; r != nil {
			return r.campaign
		}
	}
	return ""
}
