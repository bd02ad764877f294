package compare

import (
	"context"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// entry is one record, as far as comparing needs it.
type entry struct {
	launch  int
	status  result.Status
	cause   notice.Fact
	seconds float64
	step    *step.Figures // of a training step, whose overlapped mode the seconds are of
}

// gathered are the points of all sides.
type gathered struct {
	sideOf map[string]*side // of the dataset that is read, by the IDs of runs
	who    map[*result.Run]string
	parts  []part
	points []point
	known  map[point]bool
}

// reader adds the records of one kind in a dataset. Notices are on what cannot be compared.
type reader func(context.Context, *result.Dataset, *gathered) ([]notice.Notice, error)

// gather reads the records of one kind of all sides. The points are in the order of tables.
func (k *kind) gather(ctx context.Context, sides []*side) (*gathered, []notice.Notice, error) {
	g := &gathered{who: map[*result.Run]string{}, parts: partsOf(sides), known: map[point]bool{}}
	var notes []notice.Notice
	for _, data := range datasets(sides) {
		g.sideOf = map[string]*side{}
		for _, s := range sides {
			for id := range s.ids {
				if s.data == data {
					g.sideOf[id] = s
				}
			}
		}
		found, err := k.read(ctx, data, g)
		if err != nil {
			return nil, nil, err
		}
		notes = append(notes, found...)
	}
	slices.SortStableFunc(g.points, point.compare)
	return g, notes, nil
}

// datasets are those of sides, each once.
func datasets(sides []*side) (all []*result.Dataset) {
	for _, s := range sides {
		all = units.AddOnce(all, s.data)
	}
	return all
}

func readCollectives(ctx context.Context, data *result.Dataset, g *gathered) ([]notice.Notice, error) {
	var lacking analysis.Incomparable
	err := data.Each(func(row result.Row) error {
		r := row.Record
		if s := g.sideOf[row.Run.ID]; s != nil && !lacking.Add(row) {
			e := entry{status: r.Status, cause: r.Why.Fact()}
			if r.Timed() {
				e.seconds = r.Time.Seconds
			}
			g.add(s, row.Run, collective{analysis.ConditionOf(row.Run, r), g.whoOf(row.Run)}, e)
		}
		return context.Cause(ctx)
	})
	return lacking.Notices(), err
}

// readTraining reads training steps. A point with missing rounds has no valid time.
func readTraining(ctx context.Context, data *result.Dataset, g *gathered) ([]notice.Notice, error) {
	files, unread := result.ReadStepRuns(data.StepFiles())
	rows, problems := result.MergeSteps(files)
	for _, row := range rows {
		run, r := &row.File.Run, row.Record
		s := g.sideOf[run.ID]
		if s == nil {
			continue // its side is not compared
		}
		e := entry{status: r.Status, cause: r.Why.Fact()}
		if r.Status == result.OK {
			e.seconds, e.step = r.Figures.Overlapped.Value, r.Figures
		}
		g.add(s, run, trainingOf(run, r.N, g.whoOf(run)), e)
	}
	return slices.Concat(unread, problems), context.Cause(ctx)
}

// add adds a record, unless it has neither a time nor a reason why.
func (g *gathered) add(s *side, run *result.Run, p point, e entry) {
	if !g.known[p] {
		g.known[p], g.points = true, append(g.points, p)
	}
	if e.status == result.OK && e.seconds <= 0 {
		return
	}
	e.launch = s.number[run.PairedBy()]
	s.entries[p] = append(s.entries[p], e)
}

type part = func(analysis.Contender) string

// partsOf are the properties that points must share: those with several values on a side that earlier properties do not
// distinguish. A property with one value per side is what is compared, and a difference in it is reported.
func partsOf(sides []*side) (parts []part) {
	for _, p := range analysis.Parts {
		if slices.ContainsFunc(sides, func(s *side) bool { return severalOf(s, p, parts) }) {
			parts = append(parts, p)
		}
	}
	return parts
}

// severalOf reports whether runs of a side that are alike in some parts differ in another.
func severalOf(s *side, p part, alike []part) bool {
	seen := map[string]string{}
	for _, r := range s.runs {
		who := analysis.ContenderOf(r)
		key := join(who, alike)
		if other, known := seen[key]; known && other != p(who) {
			return true
		}
		seen[key] = p(who)
	}
	return false
}

// whoOf is what sides have several of, for the contender of a run.
func (g *gathered) whoOf(run *result.Run) string {
	text, known := g.who[run]
	if !known {
		text = join(analysis.ContenderOf(run), g.parts)
		g.who[run] = text
	}
	return text
}

func join(who analysis.Contender, parts []part) string {
	var words []string
	for _, p := range parts {
		if v := p(who); v != "" {
			words = append(words, v)
		}
	}
	return strings.Join(words, ", ")
}
