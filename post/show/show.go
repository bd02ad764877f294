// Package show makes tables of the points of runs.
package show

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/pattern"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/expect"
	"busbar/post/footnote"
	"busbar/post/title"
)

// Tables makes a document of runs, each with the tables of its points.
type Tables struct {
	peaks analysis.Peaks
	shows func(notice.Code) bool // reports whether a notice is not ignored

	doc      document.Document
	data     showData
	judged   pattern.Runs
	curves   *analysis.Collector
	ceilings *analysis.Ceilings
}

// New makes a document with the given peaks; shows reports whether a notice is not ignored.
func New(peaks analysis.Peaks, shows func(notice.Code) bool) *Tables {
	return &Tables{
		peaks: peaks, shows: shows, curves: analysis.NewCollector(), ceilings: analysis.NewCeilings(peaks),
	}
}

// Add adds a run. The error is that it has nothing to show.
func (s *Tables) Add(f *result.File) ([]notice.Notice, error) {
	switch {
	case f.Run.Step != nil:
		steps, err := result.ReadSteps(f.Path)
		if err != nil {
			return nil, err
		}
		s.doc.Add(s.stepRun(steps))
		return steps.Problems, nil
	case f.Run.Pattern != nil:
		s.doc.Add(s.patternRun(f))
		for r := range units.Each(f.Records) {
			s.judged.Add(result.Row{Run: &f.Run, Record: r})
		}
	default:
		s.doc.Add(s.collectiveRun(f))
	}
	return f.Problems, nil
}

// Document returns the document of the runs, with notices on the files before those of the runs.
func (s *Tables) Document(notices []notice.Notice) *document.Document {
	s.doc.Notices = append(notices, s.doc.Notices...)
	verdicts := Patterns(&s.judged, func(all []notice.Notice, subject string) document.List {
		return s.list(all, subject, notice.Text)
	})
	if first := slices.Concat(s.answer(), verdicts); len(first) > 0 {
		s.doc.Blocks = slices.Concat(first, s.doc.Blocks)
	}
	s.doc.Kind, s.doc.Data = "show", &s.data
	return &s.doc
}

// answer is the peak bus bandwidth, the latency of small messages and the worst finding.
func (s *Tables) answer() []document.Block {
	curves := s.curves.Curves()
	var list document.List
	add := func(n notice.Notice) {
		if s.shows(n.Code()) {
			list = append(list, strings.TrimSpace(n.Sentence()+" "+notice.ToDo(n.Fact)))
		}
	}
	for _, fact := range analysis.Headlines(analysis.Answers(curves, s.ceilings.OfCurve), curves) {
		add(notice.New(fact))
	}
	if n := expect.Headline(curves); n != nil {
		add(*n)
	}
	found, _ := analysis.Find(curves, analysis.Options{Ceiling: s.ceilings.OfCurve})
	found = slices.DeleteFunc(found, func(f analysis.Finding) bool { return !s.shows(f.Code()) })
	if len(found) > 0 && found[0].Severity > notice.Info {
		text := fmt.Sprintf("%s: %s", units.Capital(found[0].Severity.String()), found[0].Sentence())
		if n := len(found) - 1; n > 0 {
			text += fmt.Sprintf(" post report lists this and %s.", units.Count(n, "other finding"))
		}
		list = append(list, text)
	}
	if list == nil {
		return nil
	}
	return []document.Block{list}
}

// showData is what the JSON of post show has beside notices.
type showData struct {
	Runs []*shownRun `json:"runs"`
}

// shownRun is a run in the JSON. It has many fields because it is one object of the JSON.
type shownRun struct {
	File      string `json:"file"`
	ID        string `json:"run"`
	Backend   string `json:"backend"`
	Library   string `json:"library"`
	World     int    `json:"world"`
	Nodes     int    `json:"nodes"`
	Device    string `json:"device"`
	Host      string `json:"host"`
	Start     string `json:"start"`
	Tool      string `json:"tool"`
	Simulated bool   `json:"simulated"`
	Outcome   string `json:"outcome"` // complete, interrupted, aborted; unknown: no end is recorded

	Cause  *notice.Brief         `json:"cause"`       // of an outcome that is not complete; null: not recorded
	Left   int                   `json:"points_left"` // of the plan
	Counts map[result.Status]int `json:"points"`      // by status

	Tables []shownTable `json:"tables"`

	Steps []result.StepRecord `json:"steps"` // of rank --step
}

// unknownEnd is the outcome of a run that has no end: it is going on, or was killed.
const unknownEnd = "unknown"

// shownTable is a table in the JSON; points have the columns of merged.csv, notices and
// the cause of reason.
type shownTable struct {
	Title    string            `json:"title"`
	PeakGBps *float64          `json:"peak_GBps"` // null: unknown
	Peak     string            `json:"peak"`      // where it comes from, or why it is unknown
	Model    *notice.Kept      `json:"model"`     // code and parameters; null: too few sizes
	Points   []json.RawMessage `json:"points"`
}

// describe adds a run to the JSON, and reports points that failed and a plan that was not finished.
func (s *Tables) describe(path string, r *result.Run, end *result.End, counts map[result.Status]int) *shownRun {
	report := s.footnotes(path).Report
	for _, status := range []result.Status{result.Wrong, result.Failed, result.Timeout, result.OOM} {
		if n := counts[status]; n > 0 {
			report(notice.PointsFailed{Points: n, Status: string(status)})
		}
	}
	switch {
	case end == nil && r.Imported == nil:
		report(notice.RunUnfinished{})
	case end != nil && end.Left > 0:
		report(notice.RunUnfinished{Outcome: string(end.Outcome), Left: end.Left})
	}
	one := &shownRun{
		File: path, ID: r.ID, Backend: r.Backend.Name, Library: r.Backend.Library, World: r.World, Nodes: r.Nodes,
		Device: r.Device, Host: r.Machine.Host, Tool: r.Tool, Simulated: r.Rehearse, Outcome: unknownEnd,
		Counts: counts,
	}
	if !r.Start.IsZero() {
		one.Start = r.Start.UTC().Format("2006-01-02T15:04:05Z")
	}
	if end != nil {
		one.Outcome, one.Cause, one.Left = string(end.Outcome), notice.BriefOf(end.Fact()), end.Left
	}
	s.data.Runs = append(s.data.Runs, one)
	return one
}

// collectiveRun is one run: its description, its tables, its footnotes.
func (s *Tables) collectiveRun(f *result.File) *document.Section {
	notes := s.footnotes(f.Path)
	section, described := s.head(f, notes)
	ceilings, peakBefore := analysis.NewCeilings(s.peaks), ""
	var records []*result.Record
	for r := range units.Each(f.Records) {
		records = append(records, r)
		row := result.Row{Run: &f.Run, Record: r}
		ceilings.Add(row)
		s.ceilings.Add(row)
		s.curves.Add(row)
	}
	for _, table := range units.GroupBy(records, titleOf) {
		k := titleOf(table[0])
		in := shownTable{Title: k.String(), Model: modelOf(&f.Run, table)}
		ceiling := analysis.Ceiling{}
		if k.Mode != coll.Latency {
			ceiling = ceilings.Of([]*result.Run{&f.Run}, table[0].Case)
			in.Peak = ceiling.Text()
		}
		below := document.NewSection(k.String(), pointTable(k.Mode, table, notes, ceiling))
		if ceiling.Known() {
			in.PeakGBps = new(ceiling.BusBW / 1e9)
		}
		if in.Peak != "" && in.Peak != peakBefore {
			below.Add(document.Paragraph("peak " + in.Peak))
			peakBefore = in.Peak
		}
		if in.Model != nil && in.Model.Code() != notice.CodeOf(notice.NoModel{}) {
			below.Add(document.Paragraph(notice.Message(in.Model.Fact)))
		}
		for _, r := range table {
			in.Points = append(in.Points, result.Row{Run: &f.Run, Record: r}.JSON())
		}
		described.Tables = append(described.Tables, in)
		section.Add(below)
	}
	section.Add(notes.Blocks()...)
	return section
}

func titleOf(r *result.Record) title.Table {
	return title.Table{
		Operation: r.ForeignOperation(), Collective: r.Collective, Type: r.Type, Op: r.Op, Root: r.Root,
		Imbalance: r.Imbalance, Groups: r.Groups, Placement: r.Placement, Mode: r.Mode,
	}
}

// modelOf is the model that the times of a table follow; nil where too few of its sizes have one.
func modelOf(run *result.Run, records []*result.Record) *notice.Kept {
	c := analysis.NewCollector()
	for _, r := range records {
		c.Add(result.Row{Run: run, Record: r})
	}
	curves := c.Curves()
	if len(curves) != 1 {
		return nil
	}
	if fact := analysis.ModelOf(curves[0]).Fact(); fact != nil {
		return &notice.Kept{Fact: fact}
	}
	return nil
}

// head begins the section of a run: what ran, where, and how it ended.
func (s *Tables) head(f *result.File, notes *footnote.List) (*document.Section, *shownRun) {
	r := &f.Run
	var lines document.Lines
	lines = append(lines, notes.Head(r)...)
	if r.Imported != nil {
		lines = append(lines, importedLines(f)...)
	} else {
		lines = append(lines, ranOn(r), ranWhere(r)+", sweep "+r.Sweep.Name+title.Unusual(&r.Method))
	}
	counts := map[result.Status]int{}
	for i := range f.Records {
		counts[f.Records[i].Status]++
	}
	lines = append(lines, endWords(f.End, counts))
	return document.NewSection(f.Path, lines), s.describe(f.Path, r, f.End, counts)
}

// ranOn is the backend of a run and its world.
func ranOn(r *result.Run) string {
	return fmt.Sprintf("%s (%s), %s on %s of %s", r.Backend.Name, r.Backend.Library, units.Count(r.World, "rank"),
		units.Count(r.Nodes, "node"), r.Device)
}

// ranWhere is the host of a run, its start and the version of rank.
func ranWhere(r *result.Run) string {
	return fmt.Sprintf("host %s, %s, %s", r.Machine.Host, r.Start.UTC().Format("2006-01-02 15:04:05 UTC"), r.Tool)
}

// endWords are how a run ended, with the number of points of each status.
func endWords(e *result.End, counts map[result.Status]int) string {
	words := "no end recorded: the run is going on, or was killed"
	if e != nil {
		words = string(e.Outcome)
		if e.Reason != "" {
			words += " (" + e.Reason + ")"
		}
		if e.Left > 0 {
			words += fmt.Sprintf(", %s of the plan not reached", units.Count(e.Left, "point"))
		}
	}
	for _, s := range result.Statuses {
		if counts[s] > 0 {
			words += fmt.Sprintf(", %d %s", counts[s], s)
		}
	}
	return words
}

// footnotes are those of a file, whose notices go into the document too.
func (s *Tables) footnotes(path string) *footnote.List {
	return &footnote.List{Shows: s.shows, Report: func(f notice.Fact) {
		if n := notice.New(f); s.shows(n.Code()) {
			n.At.File = path
			s.doc.CountKind(n)
		}
	}}
}
