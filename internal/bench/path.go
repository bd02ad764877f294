package bench

import (
	"fmt"
	"hash/fnv"

	"busbar/internal/notice"
	"busbar/internal/result"
)

// Pathfinder is implemented by operations whose library tells which way it takes.
type Pathfinder interface {
	// Watch returns the operation to run once for that, of which the library tells from now on; nil where it cannot
	// tell, which is so on all ranks or on none.
	Watch() Operation
	// Path ends the watch. It is what was told on this rank; nil for nothing.
	Path() *result.Path
}

// findPath runs one operation that is not timed, and keeps which way it took.
func (m *measurement) findPath() error {
	p, ok := m.op.(Pathfinder)
	if !ok {
		return nil
	}
	op := p.Watch()
	if op == nil {
		return nil
	}
	m.phase("path", 1)
	_, err := m.runOperation(op, 1, 1)
	mine := p.Path()
	if op == m.op {
		m.before += m.o.Aggregate
	}
	if err != nil {
		return &Fatal{"path", err}
	}
	if err := m.w.comparePaths(m.record, mine); err != nil {
		return &Fatal{"path", err}
	}
	return nil
}

// comparePaths keeps rank 0's path, with a warning if another rank took another one.
func (w World) comparePaths(record *result.Record, mine *result.Path) error {
	var p result.Path
	if mine != nil {
		p = *mine
	}
	id := pathID(p)
	ends := []float64{id, -id, float64(p.Channels)}
	if err := w.Max(ends); err != nil {
		return err
	}
	if ends[0] == 0 { // sends and receives: ranks have different ones, and the most channels count
		p.Channels = int(ends[2])
	}
	if p != (result.Path{}) {
		record.Path = &p
	}
	if ends[0] == -ends[1] {
		return nil
	}
	return w.warnOfPaths(record, id, p.String())
}

// warnOfPaths says which ranks took another way than rank 0.
func (w World) warnOfPaths(record *result.Record, id float64, text string) error {
	first := []float64{id}
	if err := w.Bcast(first); err != nil {
		return err
	}
	differs := []float64{0}
	if id == first[0] {
		text = ""
	} else {
		differs[0] = 1
	}
	if err := w.Sum(differs); err != nil {
		return err
	}
	rank, other, err := w.firstText(text)
	if err != nil || w.Rank != 0 {
		return err
	}
	record.Warnings.Add(notice.PathDiffers{Ranks: int(differs[0]), World: w.Size, Own: record.Path.String(),
		Rank: w.Name(rank), Host: w.host(rank), Other: other})
	return nil
}

// pathID is a number that ways of collectives have in common only if they are the same. Where there is no algorithm it
// is 0.
func pathID(p result.Path) float64 {
	if p.Algorithm == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = fmt.Fprint(h, p) // a hash takes everything
	return float64(h.Sum64()>>12) + 1
}
