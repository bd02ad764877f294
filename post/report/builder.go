package report

import (
	"cmp"
	"slices"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/steps"
)

// Options are what a report does not take from the results.
type Options struct {
	Title string
	Tool  string    // which post makes it
	Made  time.Time // when
	Dir   string    // where it will lie, for links; "" is the current folder
	Read  []string  // files and folders, as they were named
}

// builder makes a report of rows as they come. It keeps little of each, since there may be a million.
type builder struct {
	options Options
	curves  *analysis.Collector
	runs    runList
	byRun   map[string]*gathered // by the run's ID
	files   []fileOf
	layouts map[string]*layout // each once
	heats   *heats
	quality quality
	ways    ways
	steps   []*steps.Run // of training steps
	rows    int
	ok      int
	stepped int // points of steps with figures
}

// runList is all runs, by their numbers.
type runList []*gathered

// some names runs by their numbers.
func (l runList) some(numbers []int) notice.Runs {
	return notice.Runs{Numbers: numbers, Of: len(l)}
}

// gathered is what is known of one run.
type gathered struct {
	number  int
	run     *result.Run
	counts  map[result.Status]int
	rows    int
	records int // of the run's largest file, with those that another record stands for
	end     *result.End
	files   []int
	layout  *layout
	state   string // of its devices
	later   bool   // another run continues it
}

// newBuilder begins a report of runs, oldest first, whose rows come in any order.
func newBuilder(runs []*result.Run, o Options) *builder {
	b := &builder{
		options: o, curves: analysis.NewCollector(), byRun: map[string]*gathered{}, layouts: map[string]*layout{},
		heats: newHeats(), ways: ways{},
	}
	for i, run := range runs {
		g := &gathered{number: i + 1, run: run, counts: map[result.Status]int{}}
		b.runs = append(b.runs, g)
		b.byRun[run.ID] = g
	}
	for _, g := range b.runs {
		for _, id := range g.run.Resumes {
			if before := b.byRun[id]; before != nil {
				before.later = true
			}
		}
	}
	return b
}

// add takes a row of one of the runs.
func (b *builder) add(row result.Row) {
	g, r := b.byRun[row.Run.ID], row.Record
	b.rows++
	g.rows++
	g.counts[r.Status]++
	b.quality.add(g, r)
	b.ways.add(g, r)
	if !b.curves.Add(row) {
		b.quality.passOver(g, r)
		return
	}
	b.ok++
	b.heats.add(row)
}

// addFile takes the rest of a file behind its rows, as result.Dataset.EachWhole hands it on.
func (b *builder) addFile(f *result.File) {
	g := b.byRun[f.Run.ID]
	g.files = append(g.files, len(b.files))
	b.files = append(b.files, fileOf{f.Path, f.Points})
	g.records = max(g.records, f.Points)
	if f.End != nil {
		g.end = f.End
	}
	if len(f.Ranks) > 0 {
		g.layout, g.state = b.layoutOf(f.Ranks), stateWords(f.Ranks)
	}
}

// analysed is what was found in the curves.
type analysed struct {
	Curves    []*analysis.Curve
	Findings  []analysis.Finding
	More      int                                    // findings that are too many to be told
	Ceilings  func(*analysis.Curve) analysis.Ceiling // of a curve; nil: they are not looked for
	Models    func(*analysis.Curve) analysis.Model   // of a curve; nil: there are none
	Headlines []notice.Fact                          // of the comparison of contenders
	Notes     []notice.Notice                        // on files
}

// report is the report of what was added.
func (b *builder) report(f analysed) *Report {
	r := &Report{Title: cmp.Or(b.options.Title, b.title()), Made: b.options.Made.UTC().Format(time.RFC3339), Tool: b.options.Tool, Bases: bases}
	r.Totals = Totals{len(b.runs), len(f.Curves), pointsOf(f.Curves), b.rows, b.stepped}
	links := b.addFiles(r)
	b.addRuns(r, links)
	r.Plan = b.runs.plan()
	r.Environment, r.Method = b.runs.environment(), slices.Concat(b.method(), b.stepMethod())
	b.addCurves(newMaking(r), f)
	addSteps(r, b.steps)
	b.addQuality(r, f)
	b.addBanners(r)
	b.addHeadlines(r, f)
	return r.whole()
}

// title names what was measured.
func (b *builder) title() string {
	var backends, worlds []string
	for _, g := range b.runs {
		if name := g.run.Backend.Name; name != "" && !slices.Contains(backends, name) {
			backends = append(backends, name)
		}
		if w := g.run.World; w > 0 && !slices.Contains(worlds, units.Count(w, "rank")) {
			worlds = append(worlds, units.Count(w, "rank"))
		}
	}
	title := "Collective communication"
	switch {
	case len(b.steps) > 0 && b.rows == 0:
		title = "Training steps"
	case len(b.steps) > 0:
		title += " and training steps"
	}
	if len(backends) > 0 {
		title += " with " + units.Some(backends)
	}
	if len(worlds) == 1 {
		title += ", " + worlds[0]
	}
	return title
}
