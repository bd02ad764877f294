package session

import (
	"math"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
)

// keep writes the records and traces of the group and releases its points. If the run ends early, points with too few
// rounds have no record: --resume measures them. Collective.
func (g *stepGroup) keep(over bool) error {
	for _, r := range g.points {
		if over && !r.verdict.Over() && len(r.rounds) < minRounds {
			continue
		}
		record := g.record(r)
		if err := g.s.keepTrace(r, record); err != nil {
			return err
		}
		if g.s.world.Rank == 0 {
			if err := g.s.keepStep(r, record); err != nil {
				return err
			}
		}
	}
	g.s.run.Watch.Phase("release the points", 0)
	for _, r := range g.runs {
		if err := r.train.Close(); err != nil {
			return err
		}
	}
	if g.s.world.Rank == 0 {
		g.s.run.Ledger.Begin(g.s.sheet)
		var points []step.Point
		var rounds [][]step.Round
		for _, r := range g.alive() {
			if len(r.rounds) > 0 {
				points, rounds = append(points, r.Point), append(rounds, r.rounds)
			}
		}
		g.s.run.Screen.ReportGroup(points, rounds)
	}
	return nil
}

// record returns the record of a point.
func (g *stepGroup) record(r *stepPoint) *result.StepRecord {
	record := &result.StepRecord{N: r.n, Point: r.Point, Status: result.OK, Check: r.check, Notes: r.notes}
	if v := r.verdict; v.Over() {
		record.Status, record.Why, record.Needed = v.Status, result.Because(v.Cause), v.Needed
		if v.Status != result.Wrong {
			record.Check = result.Check{Result: "none"}
		}
	}
	for i, op := range r.plan.Ops {
		c, err := r.plan.Case(i)
		if err != nil { // cannot happen: the point was bound before
			continue
		}
		record.Ops = append(record.Ops, result.StepOp{
			Name: op.Name, Collective: c.Collective.String(), Bytes: c.SizeBytes, Layers: op.Layers,
		})
	}
	if record.Status == result.OK {
		f := step.FiguresOf(r.rounds)
		record.Figures, record.Stop = &f, g.stop.reason
		record.Warnings.Add(wrongPace(r.plan, f)...)
	}
	return record
}

// paceTolerance is the tolerance of the compute time, relative to the model's time.
const paceTolerance = 0.25

// wrongPace warns if the compute time differs from the model's time.
func wrongPace(p *step.Plan, f step.Figures) []notice.Fact {
	var asked float64
	for _, s := range p.Segments {
		asked += s.Seconds()
	}
	if took := f.Compute.Value; asked <= 0 || math.Abs(took/asked-1) <= paceTolerance {
		return nil
	}
	return []notice.Fact{notice.ComputePace{Took: units.Seconds(f.Compute.Value), Model: units.Seconds(asked)}}
}

// keepStep writes a record. Rank 0 only.
func (s *stepSession) keepStep(r *stepPoint, record *result.StepRecord) error {
	if err := s.run.keep(s.sheet, record, result.AllRanks{}); err != nil {
		return err
	}
	s.run.Screen.StepRow(record)
	return nil
}
