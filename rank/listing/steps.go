package listing

import (
	"fmt"
	"strings"
	"time"

	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/rank/screen"
)

// steps writes the header of a plan of training steps.
func (l *list) steps(size int) {
	m := l.p.Step.Model
	l.printf("# plan: training steps of %s on %s, %s\n", m.Name, strings.Join(l.p.Backends, ","),
		units.Count(size, "rank"))
	l.wrapped("", screen.ModelLine(m))
	if m.About != "" {
		l.wrapped("", m.About)
	}
}

// stepWorld writes the points of a world and their operations.
func (l *list) stepWorld(library string, n int) error {
	w, err := l.p.StepWorld(library, n)
	if err != nil {
		return err
	}
	l.printf("#\n# world %d on %s\n#    bucket  ops   smallest    largest      total     memory\n", n, library)
	section := ""
	for i, point := range w.Points {
		if g := point.GroupString(); g != section {
			section = g
			l.printf("# %s\n", g)
		}
		smallest, largest, all, err := opBytes(w.Plans[i])
		if err != nil {
			return err
		}
		l.printf("%11s %4d %10s %10s %10s %10s\n", point.Bucket, len(w.Plans[i].Ops),
			units.Binary(smallest), units.Binary(largest), units.Binary(all), units.Binary(w.Plans[i].Bytes))
	}
	for _, text := range append(w.Same, l.duration(w.Points)) {
		l.wrapped("", text)
	}
	return nil
}

// duration estimates the time of points.
func (l *list) duration(points []step.Point) string {
	s := l.p.Sweep
	text := units.Count(len(points), "point") + "; "
	if s.Iterations > 0 {
		return text + units.Count(s.Iterations, "round") + " of four steps each"
	}
	return text + fmt.Sprintf("about %s at %s per point; longer if rounds are slow and --budget is not set",
		roundTime(time.Duration(len(points))*s.Budget), s.Budget)
}

// opBytes returns the message size of the smallest and the largest operation of a step, and the sum of all.
func opBytes(p *step.Plan) (smallest, largest, all int64, err error) {
	for i := range p.Ops {
		c, err := p.Case(i)
		if err != nil {
			return 0, 0, 0, err
		}
		if i == 0 {
			smallest = c.SizeBytes
		}
		smallest, largest, all = min(smallest, c.SizeBytes), max(largest, c.SizeBytes), all+c.SizeBytes
	}
	return smallest, largest, all, nil
}
