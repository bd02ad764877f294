package session

import (
	"errors"
	"slices"
	"strings"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/launch"
)

// dimensions are this rank's groups in a world that is divided in two ways at once. All ranks create communicators, and
// start operations, in the order of the dimensions and from one thread, so that no two ranks wait for each other.
type dimensions struct {
	of     coll.Division
	groups [2]*worldRun
	pairs  []*backend.Pair // by session
	labels [2]string       // "tp group 1 (ranks 0, 1)", "dp group 1 (ranks 0, 2)"
}

// inDimensions divides the world in two ways, unless it is divided like that. Collective over the world.
func inDimensions(w *worldRun, of coll.Division) error {
	if w.dimensions != nil && w.dimensions.of == of {
		return nil
	}
	if err := w.dimensions.close(); err != nil {
		return err
	}
	d := &dimensions{of: of}
	w.dimensions = d
	for k, dim := range of.Dimensions() {
		layout := of.Layout(k, w.world.Size)
		g, number, err := split(w, layout)
		if err != nil {
			return err
		}
		d.groups[k] = g
		d.labels[k] = dim.Name + " " + coll.Groups{Division: layout, Number: number}.WithRanks(dim.Size)
		g.memory.hostShares = w.memory.hostShares
		g.memory.neighbours *= 2 // the groups of both kinds have buffers
		for _, s := range w.sessions {
			in := &session{worldRun: g, lib: s.lib}
			for _, c := range s.cases {
				if c.Groups.Division == of && slices.Contains(c.Groups.Measured(), k) {
					in.cases = append(in.cases, c.In(k))
				}
			}
			g.sessions = append(g.sessions, in)
			if err := in.open(); err != nil {
				return err
			}
		}
	}
	first, second := d.groups[0], d.groups[1]
	for i := range w.sessions {
		p, err := backend.NewPair(w.world, [2]backend.Backend{first.sessions[i].backend, second.sessions[i].backend},
			[2]int{first.world.Rank, second.world.Rank})
		if err != nil {
			return err
		}
		d.pairs = append(d.pairs, p)
	}
	return nil
}

// close closes the groups; of a nil value it does nothing. Collective over the world.
func (d *dimensions) close() (err error) {
	if d == nil {
		return nil
	}
	for _, p := range d.pairs {
		err = errors.Join(err, p.Close())
	}
	for _, g := range d.groups {
		err = errors.Join(err, g.close(), g.world.Group.Free())
	}
	return err
}

// measuring is what measures a case of this session, and the name and the group in reports of a hang (launch.State).
func measuring(s *session, c coll.Case) (b bench.Backend, name, group string) {
	switch of := c.Groups; {
	case of.Division.IsDimension():
		d, k := s.dimensions, of.Measured()
		group = strings.Join(d.labels[k[0]:k[len(k)-1]+1], ", ")
		return d.pairs[slices.Index(s.sessions, s)], c.String(), launch.Joint + group
	case of.Divided():
		c.Groups = coll.Groups{}
		return s.backend, c.String(), of.WithRanks(c.World)
	}
	return s.backend, c.String(), s.label
}

// measureInDimensions measures the case of the current order in groups of two kinds. Collective over the world.
func measureInDimensions(s *session, o order) (*result.Record, error) {
	c := s.cases[o.Case]
	if err := inDimensions(s.worldRun, c.Groups.Division); err != nil {
		return nil, err
	}
	left, err := launch.GatherJSON(s.world.Group, s.dimensions.leftOut(int(o.Session), c)) // groups may differ
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(left, func(r *result.Record) bool { return r != nil }) // -1 on ranks other than 0
	over := first >= 0
	if err := launch.Broadcast(s.world.Group, &over); err != nil || over && first < 0 {
		return nil, err
	}
	if over {
		return left[first], nil
	}
	return s.observed(o, nil)
}

// leftOut returns the record of a case that is too small or too large; nil if it fits.
func (d *dimensions) leftOut(session int, c coll.Case) *result.Record {
	for _, k := range c.Groups.Measured() {
		in, of := d.groups[k].sessions[session], c.In(k)
		r := in.leftOutByMemory(slices.Index(in.cases, of))
		if of.Count == 0 {
			r = bench.NotMeasured(result.Record{}, result.Skipped, notice.TooSmall{Ranks: of.World})
		}
		if r != nil {
			r.Case = c
			return r
		}
	}
	return nil
}
