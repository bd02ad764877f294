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

// RunKey identifies comparable runs: --resume skips points that a run with the same key has measured. It has many
// fields because each one changes values.
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
	Other string // the pattern, or what training steps are of; "" for a sweep of collectives
}

// Key returns the run's RunKey.
func (r *Run) Key() RunKey {
	return RunKey{
		Backend: r.Backend.Name, Library: r.Backend.Library, Version: r.Backend.Version, Variant: r.Variant,
		World: r.World, Nodes: r.Nodes, RanksPerNode: r.RanksPerNode, Device: r.Device, Rehearsed: r.Rehearse,
		Rotate: r.Method.Rotate, Packed: r.Method.Packed,
		Aggregate: max(1, r.Method.Aggregate), Average: r.Method.Average,
		Settings: r.Method.Settings(),
		Other:    r.Pattern.String() + r.Step.key(),
	}
}

// PointKey identifies a point of a sweep: case, backend, cycle and group of a pattern.
type PointKey struct {
	coll.Case
	Backend string
	Cycle   int    // at least 1
	Group   string // as Group.String
}

// Point returns the key of a case in a cycle. Cycle 0, of a run with a single cycle, is 1.
func Point(backend string, c coll.Case, cycle int) PointKey {
	return PointKey{Case: c, Backend: backend, Cycle: max(cycle, 1)}
}

// Point returns the key of a record of a backend.
func (r *Record) Point(backend string) PointKey {
	k := Point(backend, r.Case, r.Cycle)
	k.Group = r.Group.String()
	return k
}

// StepPoint returns the key of a point of a training step.
func StepPoint(backend string, p step.Point) PointKey {
	return PointKey{Backend: backend, Group: p.String()}
}

// Past holds the points of earlier runs.
type Past struct {
	Problems []notice.Notice // unreadable files and lines
	runs     map[string]*pastRun
}

type pastRun struct {
	id, campaign string
	key          RunKey
	start        time.Time
	done         Done
}

// Done holds measured points, with times for the groups of a pattern.
type Done map[PointKey]*Time

// Has reports whether a point was measured.
func (d Done) Has(k PointKey) bool {
	_, has := d[k]
	return has
}

// ReadPast reads the runs in files (see Find). Unreadable lines are problems; --resume measures their points again.
func ReadPast(files []string) *Past {
	p := &Past{runs: map[string]*pastRun{}}
	for _, path := range files {
		if err := p.add(path); err != nil {
			p.Problems = append(p.Problems, notice.OfError(path, err))
		}
	}
	return p
}

func (p *Past) add(path string) error {
	done := Done{}
	f, err := Scan(path, func(r *Record) error {
		if r.Status == OK {
			k := r.Point("")
			if done[k] = nil; r.Group != nil {
				done[k] = r.Time
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.Problems = append(p.Problems, f.Problems...)
	if f.Run.Imported != nil { // results of another tool do not count
		return nil
	}
	for _, r := range f.steps {
		if r != nil && r.Status == OK {
			done[StepPoint("", r.Point)] = nil
		}
	}
	r := p.runs[f.Run.ID]
	if r == nil {
		r = &pastRun{id: f.Run.ID, campaign: f.Run.Campaign, key: f.Run.Key(), start: f.Run.Start, done: Done{}}
		p.runs[f.Run.ID] = r
	}
	for k, t := range done {
		k.Backend = f.Run.Backend.Name
		r.done[k] = t
	}
	return nil
}

// Done returns the points that are ok in runs with this key, and the IDs of these runs, oldest first, for Resumes. An
// incomplete training step is not done, since rounds of different launches form no pairs.
func (p *Past) Done(key RunKey) (done Done, runs []string) {
	done = Done{}
	for _, r := range p.oldestFirst(func(k RunKey) bool { return k == key }) {
		runs = append(runs, r.id)
		maps.Copy(done, r.done)
	}
	return done, runs
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

// Campaign returns the campaign of the newest of these runs; "" without runs.
func (p *Past) Campaign(runs []string) string {
	for _, id := range slices.Backward(runs) {
		if r := p.runs[id]; r != nil {
			return r.campaign
		}
	}
	return ""
}
