package listing

import (
	"fmt"
	"strings"
	"time"

	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/rank/screen"
)

// steps writes what is known of the model.
func (l *list) steps(size int, source string) {
	m := l.p.Step.Model
	l.printf(
		"# plan: training steps of %s on %s, %d ranks (%s)\n",
		m.Name,
		strings.Join(l.p.Backends, ","),
		size,
		source,
	)
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
	l.printf("#\n# world %d on %s\n#    bucket  ops   smallest    largest   together     memory\n", n, library)
	section := ""
	for i, point := range w.Points {
		if g := point.GroupString(); g != section {
			section = g
			l.printf("# %s\n", g)
		}
		least, most, all, err := opBytes(w.Plans[i])
		if err != nil {
			return err
		}
		l.printf("%11s %4d %10s %10s %10s %10s\n", point.Bucket, len(w.Plans[i].Ops),
			units.Binary(least), units.Binary(most), units.Binary(all), units.Binary(w.Plans[i].Bytes))
	}
	for _, text := range append(w.Same, l.duration(w.Points)) {
		l.wrapped("", text)
	}
	return nil
}

// duration states how long points take, as far as that is known before.
func (l *list) duration(points []step.Point) string {
	s := l.p.Sweep
	text := units.Count(len(points), "point") + "; "
	if s.Iterations > 0 {
		return text + units.Count(s.Iterations, "round") + " of four steps each"
	}
	return text + fmt.Sprintf("about %s at %s a point; longer where rounds are slow and --budget is not given",
		roundTime(time.Duration(len(points))*s.Budget), s.Budget)
}

// opBytes returns the bytes of the smallest and the largest operation of a step, and of all together, as the
// collectives count them.
func opBytes(p *step.Plan) (least, most, all int64, err error) {
	for i := range p.Ops {
		c, err := p.Case(i)
		if err != nil {
			return 0, 0, 0, err
		}
		if i == 0 {
			least = c.SizeBytes
		}
		least, most, all = min(least, c.SizeBytes), max(most, c.SizeBytes), all+c.SizeBytes
	}
	return least, most, all, nil
}
