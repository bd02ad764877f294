package session

import (
	"slices"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/rank/backend"
)

// dimensions are this rank's groups in a world that is divided in two ways at once. All ranks create communicators, and
// start operations, in the order of the dimensions and from one thread, so that no two ranks wait for each other.
type dimensions struct {
	of     coll.Division
	groups [2]*worldRun
	pairs  []backend.Pair // by session
	label  string         // "tp group 1 (ranks 0, 1), dp group 1 (ranks 0, 2)"
}

// inDimensions divides the world in two ways, unless it is divided like that. Collective over the world.
func (w *worldRun) inDimensions(of coll.Division) error {
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
		g, number, err := w.split(layout)
		if err != nil {
			return err
		}
		d.groups[k] = g
		if k > 0 {
			d.label += ", "
		}
		d.label += dim.Name + " " + coll.Groups{Division: layout, Number: number}.WithRanks(dim.Size)
		g.memory.hostShares = 2 * max(1, w.memory.hostShares)
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
	for i := range w.sessions {
		var both [2]backend.Dimension
		for k, g := range d.groups {
			both[k] = backend.Dimension{Backend: g.sessions[i].backend, World: g.world}
		}
		p, err := backend.NewPair(w.world, both)
		if err != nil {
			return err
		}
		d.pairs = append(d.pairs, p)
	}
	return nil
}

// close closes the groups; of a nil value it does nothing. Collective over the world.
func (d *dimensions) close() error {
	if d == nil {
		return nil
	}
	for _, p := range d.pairs {
		if err := p.Close(); err != nil {
			return err
		}
	}
	for _, g := range d.groups {
		if err := g.close(); err != nil {
			return err
		}
		if err := g.world.Group.Free(); err != nil {
			return err
		}
	}
	return nil
}

// measuring is what measures a case of this session, and its name in reports of a hang.
func (s *session) measuring(c coll.Case) (bench.Backend, string) {
	if !c.Groups.Division.IsDimension() {
		return s.backend, c.String()
	}
	d := s.dimensions
	return d.pairs[slices.Index(s.sessions, s)], c.String() + " in " + d.label
}

// measureInDimensions measures the case of the current order in groups of two kinds. Collective over the world.
func (s *session) measureInDimensions(o order) (*result.Record, error) {
	if err := s.inDimensions(s.cases[o.Case].Groups.Division); err != nil {
		return nil, err
	}
	r, err := s.observed(o, nil)
	if r != nil {
		r.Nodes, r.RanksPerNode = s.nodes()
	}
	return r, err
}
