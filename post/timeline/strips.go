package timeline

import (
	"encoding/binary"

	"busbar/post/trace"
)

// stripCells is the maximum number of cells in a strip.
const stripCells = 4000

// strips returns a device's strips: the whole, then its steps.
func (s *study) strips() []Strip {
	all := []Strip{s.strip(-1, s.cover.whole)}
	for i, w := range s.windows {
		all = append(all, s.strip(i, w))
	}
	return all
}

// strip returns the strip of one window.
func (s *study) strip(step int, w trace.Span) Strip {
	span := w.End - w.Start
	out := Strip{Step: step, Start: milliseconds(w.Start - s.cover.whole.Start), Span: milliseconds(span),
		Cells: int(min(stripCells, max(0, span)))}
	edge := func(cell int) int64 { return w.Start + span*int64(cell)/int64(out.Cells) }
	perCell := func(set class) []int64 {
		lengths, before := make([]int64, out.Cells), s.cover.sets[set].before(w.Start)
		for i := range lengths {
			until := s.cover.sets[set].before(edge(i + 1))
			lengths[i], before = until-before, until
		}
		return lengths
	}
	compute, exposed := perCell(computing), perCell(exposedSet)
	overlap, copies := perCell(overlapSet), perCell(copyOnlySet)
	balance := readiness
	var runs runs
	for i := range out.Cells {
		width := edge(i+1) - edge(i)
		if balance.takes(float64(exposed[i]) / float64(width)) {
			runs.add(ExposedComm)
			continue
		}
		most, length := Idle, width-compute[i]-exposed[i]-copies[i]
		for _, other := range []struct {
			State
			length int64
		}{{Copying, copies[i]}, {Overlapped, overlap[i]}, {Computing, compute[i] - overlap[i]}} {
			if other.length >= length && other.length > 0 {
				most, length = other.State, other.length
			}
		}
		runs.add(most)
	}
	for _, r := range runs {
		out.Packed = binary.AppendUvarint(out.Packed, uint64(r.Cells)<<stateBits|uint64(r.State))
	}
	return out
}

type runs []Run

// add appends a cell.
func (all *runs) add(state State) {
	if n := len(*all); n > 0 && (*all)[n-1].State == state {
		(*all)[n-1].Cells++
		return
	}
	*all = append(*all, Run{Cells: 1, State: state})
}

const stateBits = 3

// Runs returns the runs of cells; those of a damaged strip end early.
func (s *Strip) Runs() (runs []Run) {
	for packed := s.Packed; len(packed) > 0; {
		v, n := binary.Uvarint(packed)
		r := Run{Cells: uint16(v >> stateBits), State: State(v & (1<<stateBits - 1))}
		if n <= 0 || r.State > Copying {
			break
		}
		runs, packed = append(runs, r), packed[n:]
	}
	return runs
}

// due decides which cells show exposed communication. Other states get the cells in which they dominate, but exposed
// communication is important and often shorter than a cell. So its shares are summed, and a cell shows it when half a
// cell is due: the number of cells is proportional to its time. The sum starts just below half and returns to it while
// nothing is exposed, so that a single short call is visible and many short ones do not look like a long one.
type due float64

const (
	readiness due = 0.49
	recovery  due = 0.02 // per cell without exposed communication
)

// takes reports whether a cell with this share shows exposed communication.
func (d *due) takes(share float64) bool {
	if share == 0 {
		*d = min(readiness, *d+recovery)
		return false
	}
	*d += due(share)
	if *d < 0.5 {
		return false
	}
	*d--
	return true
}
