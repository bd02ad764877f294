package bench

import (
	"cmp"
	"fmt"
	"hash/fnv"

	"busbar/internal/notice"
	"busbar/internal/result"
)

// Pathfinder is implemented by operations whose library reports its algorithm.
type Pathfinder interface {
	// Watch starts the recording and returns the operation to run once for it; nil where the library cannot report. It
	// is nil on all ranks or on none.
	Watch() Operation
	// Path ends the recording and returns this rank's algorithm, or nil.
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
	first := []float64{pathID(p)}
	same, text := first[0], ""
	if err := w.Bcast(first); err != nil {
		return err
	}
	others, channels := []float64{0}, []float64{float64(p.Channels)}
	if same != first[0] {
		others[0], text = 1, p.String()
	}
	if err := cmp.Or(w.Sum(others), w.Max(channels)); err != nil {
		return err
	}
	if first[0] == 0 && others[0] == 0 { // sends and receives: ranks have different ones, and the most channels count
		p.Channels = int(channels[0])
	}
	if p != (result.Path{}) {
		record.Path = &p
	}
	if others[0] == 0 {
		return nil
	}
	rank, other, err := w.firstText(text)
	if err == nil && w.Rank == 0 {
		record.Warnings.Add(notice.PathDiffers{Ranks: int(others[0]), World: w.Size, Own: record.Path.String(),
			Rank: w.Name(rank), Host: w.host(rank), Other: other})
	}
	return err
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
