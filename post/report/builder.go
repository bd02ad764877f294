package report

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/steps"
)

// Options are what a report does not take from the results.
type Options struct {
	Tool string    // which post makes it
	Made time.Time // when
	Dir  string    // where it will be, for links; "" is the current folder
}

// builder makes a report of rows as they come. It keeps little of each, since there may be a million.
type builder struct {
	options  Options
	curves   *analysis.Collector
	runs     runList
	byRun    map[string]*gathered // by the run's ID
	files    document.Links
	quality  quality
	lacking  analysis.Incomparable
	method   facts
	steps    []*steps.Run // of training steps
	patterns pattern.Runs
	rows     int
	ok       int
	stepped  int // points of steps with values
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
	records int // of the run's largest file, with those that another record represents
	end     *result.End
	files   []string
	layout  layout
	resumes []int // numbers of the runs that it continues
	later   bool  // another run continues it
}

// newBuilder begins a report of runs, oldest first, whose rows come in any order.
func newBuilder(runs []*result.Run, o Options) *builder {
	b := &builder{
		options: o, curves: analysis.NewCollector(), byRun: map[string]*gathered{},
		quality: quality{checks: map[string]int{}},
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
				g.resumes = append(g.resumes, before.number)
			}
		}
	}
	return b
}

// add takes a row of one of the runs.
func (b *builder) add(row result.Row) {
	g, r := b.byRun[row.Run.ID], row.Record
	b.rows++
	b.patterns.Add(row)
	g.rows++
	g.counts[r.Status]++
	b.quality.add(g.number, r.Operation(), r)
	b.method.addRecord(g.number, r)
	if !b.curves.Add(row) {
		if r.Timed() {
			b.lacking.Add(row)
		}
		return
	}
	b.ok++
}

// addFile adds what a file has besides its rows, as from result.Dataset.EachWhole.
func (b *builder) addFile(f *result.File) {
	g := b.byRun[f.Run.ID]
	g.files = append(g.files, f.Path)
	b.files = append(b.files, document.Link{Name: f.Path, Href: hrefFrom(b.options.Dir, f.Path)})
	if f.Points > 0 {
		b.files[len(b.files)-1].About = ", " + units.Count(f.Points, "record")
	}
	g.records = max(g.records, f.Points)
	if f.End != nil {
		g.end = f.End
	}
	if len(f.Ranks) > 0 {
		g.layout = layoutOf(f.Ranks)
	}
}

// analysed is what was found in the curves.
type analysed struct {
	Curves    []*analysis.Curve
	Findings  []analysis.Finding
	More      int                                    // findings beyond the most that a report has
	Ceilings  func(*analysis.Curve) analysis.Ceiling // of a curve; nil: they are not looked for
	Models    func(*analysis.Curve) analysis.Model   // of a curve; nil: no models
	Headlines []notice.Fact                          // of the comparison of contenders
	Notes     []notice.Notice                        // on files
}

// report is the report of what was added.
func (b *builder) report(f analysed) *Report {
	r := &Report{
		Title: b.title(), Made: b.options.Made.UTC().Format(time.RFC3339), Tool: b.options.Tool, runs: b.runs,
		Totals: totals{len(f.Curves), pointsOf(f.Curves), b.rows, b.stepped}, Plan: b.runs.plan(), method: b.method,
		Findings: f.Findings, Files: b.files, steps: b.steps, patterns: &b.patterns,
	}
	for _, g := range b.runs {
		r.addRun(g)
	}
	r.answers = analysis.Answers(f.Curves, f.Ceilings)
	b.addCurves(r, f)
	b.addQuality(r, f)
	b.addBanners(r)
	b.addHeadlines(r, f)
	return r
}

// title names what was measured.
func (b *builder) title() string {
	var backends, worlds []string
	for _, g := range b.runs {
		if name := g.run.Backend.Name; name != "" {
			backends = units.AddOnce(backends, name)
		}
		if w := g.run.World; w > 0 {
			worlds = units.AddOnce(worlds, units.Count(w, "rank"))
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

// hrefFrom is a link from the report's folder to a file: a relative path, escaped, which is never read as a scheme.
func hrefFrom(dir, path string) string {
	from, errFrom := filepath.Abs(dir)
	to, errTo := filepath.Abs(path)
	if relative, err := filepath.Rel(from, to); err == nil && errFrom == nil && errTo == nil {
		path = relative
	}
	parts := strings.Split(filepath.ToSlash(path), "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	if strings.Contains(parts[0], ":") {
		parts = slices.Insert(parts, 0, ".")
	}
	return strings.Join(parts, "/")
}
