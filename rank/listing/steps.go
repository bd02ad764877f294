package listing

import (
	"fmt"
	"slices"
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
	w, err := l.p.StepWorld(library, n, 0)
	if err != nil {
		return err
	}
	l.printf("#\n# world %d on %s\n#    bucket  ops   smallest    largest   together     memory\n", n, library)
	section := ""
	var impossible error
	for i, point := range w.Points {
		if g := point.GroupString(); g != section {
			section = g
			l.printf("# %s%s\n", g, screen.Modelled(point))
		}
		if err := point.Impossible(); err != nil {
			l.printf("%11s unsupported\n", point.Bucket)
			impossible = err
			continue
		}
		least, most, all, err := opBytes(w.Plans[i])
		if err != nil {
			return err
		}
		l.printf("%11s %4d %10s %10s %10s %10s\n", point.Bucket, len(w.Plans[i].Ops),
			units.Binary(least), units.Binary(most), units.Binary(all), units.Binary(w.Plans[i].Bytes))
	}
	if impossible != nil {
		w.Same = append(w.Same, "unsupported: "+impossible.Error())
	}
	for _, text := range append(w.Same, l.duration(w.Points)) {
		l.wrapped("", text)
	}
	return nil
}

// duration states how long points take, as far as that is known before.
func (l *list) duration(points []step.Point) string {
	s := l.p.Sweep
	text := units.Count(len(points), "point")
	possible := slices.DeleteFunc(slices.Clone(points), func(p step.Point) bool { return p.Impossible() != nil })
	if len(possible) < len(points) {
		text = fmt.Sprintf("%s, of which %d can be measured", text, len(possible))
	}
	text += "; "
	if s.Iterations > 0 {
		return text + units.Count(s.Iterations, "round") + " of four steps each"
	}
	text += fmt.Sprintf("about %s at %s a point, and what checks and slow rounds take",
		roundTime(time.Duration(len(possible))*s.Budget), s.Budget)
	if l.p.Options.Flags.Budget == nil {
		most := 0
		for _, group := range step.Groups(possible) {
			most = max(most, len(group))
		}
		text += fmt.Sprintf("; longer where %d rounds take longer, which it takes to compare the buckets "+
			"(--budget ends them before)", step.RoundsToCompare(most))
	}
	return text
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
