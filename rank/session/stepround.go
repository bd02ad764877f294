package session

import (
	"fmt"

	"busbar/internal/bench"
	"busbar/internal/program"
	"busbar/internal/result"
	"busbar/internal/step"
)

// modeOrder is the order of the modes in a round. In four rounds each mode has each position once and follows each
// other mode once, which balances carry-over effects (Williams, Australian Journal of Scientific Research A 2, 1949).
func modeOrder(round int) []program.Mode {
	order := []program.Mode{program.Compute, program.Comm, program.Overlapped, program.Sequential}
	for i := range order {
		order[i] = (order[i] + program.Mode(round)) % program.Mode(len(order))
	}
	return order
}

// orderNumber returns the order of modes for a round from 0. It shifts by one after each full cycle of points:
// otherwise an even number of points would start every point with the same mode.
func orderNumber(round, points int) int {
	if points%2 == 0 {
		return round + round/points
	}
	return round
}

// turned returns a list rotated by the round.
func turned[T any](list []T, round int) []T {
	if len(list) == 0 {
		return nil
	}
	k := round % len(list)
	return append(append([]T{}, list[k:]...), list[:k]...)
}

// measureRound runs all modes of all points once, and keeps a line per point. Collective.
func (g *stepGroup) measureRound() error {
	g.round++
	over := map[*stepPoint]step.Round{}
	err := g.each(turned(g.runs, g.round-1), func(r *stepPoint) error {
		x, err := g.roundOf(r)
		if err == nil {
			over[r] = x
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range g.alive() {
		r.rounds = append(r.rounds, over[r])
		if g.s.world.Rank != 0 {
			continue
		}
		g.s.run.Watch.Phase("write the round", 0)
		if err := g.s.run.Ledger.AddRound(g.s.sheet,
			&result.StepRound{N: r.n, Number: g.round, Round: over[r]}); err != nil {
			return err
		}
	}
	return nil
}

// roundOf runs the four modes of a point; the round is the same on all ranks.
func (g *stepGroup) roundOf(r *stepPoint) (step.Round, error) {
	var longest [4]float64       // s, by mode
	inside := make([]float64, 5) // s, of this rank
	for _, m := range modeOrder(orderNumber(g.round-1, len(g.runs))) {
		start, end, err := g.run(r, m, fmt.Sprintf("round %d, %s", g.round, m))
		if err != nil {
			return step.Round{}, err
		}
		longest[m] = float64(end-start) / 1e9
		spans := r.train.Spans()
		i := step.IntervalsOf(spans)
		switch m {
		case program.Compute:
			inside[0] = float64(i.Compute) / 1e9
		case program.Comm:
			inside[2] = float64(i.Comm) / 1e9
		case program.Overlapped:
			inside[1], inside[3], inside[4] = float64(i.Compute)/1e9, float64(i.Comm)/1e9, float64(i.Overlap)/1e9
			r.trace(g.round, start, spans)
		}
	}
	g.s.run.Watch.Phase("compare the ranks", 0)
	w := g.s.world
	if err := w.Max(longest[:]); err != nil {
		return step.Round{}, &bench.Fatal{Phase: "round", Err: err}
	}
	if err := w.Sum(inside); err != nil {
		return step.Round{}, &bench.Fatal{Phase: "round", Err: err}
	}
	for i := range inside {
		inside[i] /= float64(w.Size)
	}
	if w.Size == 1 { // a single rank has no communication
		inside[2], inside[3], inside[4] = 0, 0, 0
	}
	return step.Round{
		Compute: longest[program.Compute], Comm: longest[program.Comm], Sequential: longest[program.Sequential],
		Overlapped:   longest[program.Overlapped],
		ComputeAlone: inside[0], ComputeBusy: inside[1], CommAlone: inside[2], CommBusy: inside[3], Hidden: inside[4],
	}, nil
}
