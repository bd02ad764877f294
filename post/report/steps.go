package report

import (
	"cmp"
	"fmt"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/post/steps"
)

// Steps is what a report says of training steps, run by run.
type Steps struct {
	Runs []StepRun `json:"runs"`
}

// StepRun is a run of training steps, with those that it continues.
type StepRun struct {
	Title     string          `json:"title"`
	About     []string        `json:"about"` // model, computing
	Rehearsed bool            `json:"rehearsed,omitempty"`
	Groups    []StepGroup     `json:"groups"`
	First     int             `json:"first"` // the group that is drawn first: the one with the fastest step
	Notices   []notice.Notice `json:"-"`     // of all groups together
}

// StepGroup is points that differ by their bucket alone.
type StepGroup struct {
	Title   string          `json:"title"`
	Points  []StepPoint     `json:"points"` // smaller buckets first
	Notices []notice.Notice `json:"-"`
}

// StepPoint is the steps with one bucket size. Times are in milliseconds; a value that is missing is unknown. It has
// many fields because it is one object of the JSON that the page's script reads.
type StepPoint struct {
	Bucket  string      `json:"bucket"`
	Ops     int         `json:"ops"` // 0: not known
	Bytes   int64       `json:"bytes"`
	Timed   bool        `json:"timed"`
	Mark    string      `json:"mark"`    // how it stands to the best, or what became of it
	Verdict string      `json:"verdict"` // best, least, same, slower, few, or none
	Rounds  int         `json:"rounds"`
	Stop    string      `json:"stop"`
	Modes   [4]StepTime `json:"modes"` // compute, communication, in turn, overlapped
	Parts   [3]float64  `json:"parts"` // of the overlapped step: computing alone, hidden and exposed communication
	Exposed StepTime    `json:"exposed"`

	Share      float64   `json:"share"` // of the step, that is exposed
	Overlap    *StepTime `json:"overlap,omitempty"`
	ByInterval *StepTime `json:"intervals,omitempty"`
	Bound      *StepTime `json:"bound,omitempty"`
	SlowerComp *StepTime `json:"slower_compute,omitempty"`
	SlowerComm *StepTime `json:"slower_comm,omitempty"`
	SpeedUp    *StepTime `json:"speed_up,omitempty"`
	Efficiency *StepTime `json:"weak,omitempty"`

	Lanes *StepLanes `json:"lanes,omitempty"` // where the record has them, and they fit
	Notes []string   `json:"notes"`
}

// StepTime is a figure with its 95 % interval; both bounds are 0 where there is none.
type StepTime struct {
	Value float64 `json:"v"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}

// StepLanes is one step over time on one rank, in milliseconds.
type StepLanes struct {
	Rank     int       `json:"rank"`
	Span     float64   `json:"span"`
	Lanes    int       `json:"lanes"` // of operations that are on their way at the same time
	Segments []StepBox `json:"segments"`
	Ops      []StepBox `json:"ops"`
}

// StepBox is a segment of computing or an operation.
type StepBox struct {
	Name    string       `json:"name"`
	Work    string       `json:"work,omitempty"`
	From    float64      `json:"from"`
	To      float64      `json:"to"`
	Number  int          `json:"n,omitempty"` // of an operation, from 1
	Lane    int          `json:"lane"`
	Exposed [][2]float64 `json:"exposed,omitempty"`
}

// maxBoxes is how many segments and operations a page draws over time; the best of each group come before the others.
const maxBoxes = 12000

// maxStepRuns is how many runs of training steps are told one by one.
const maxStepRuns = 50

// addStepRuns takes runs of training steps. It is called before report.
func (b *builder) addStepRuns(runs []*steps.Run) {
	b.steps = runs
	for _, r := range runs {
		for _, f := range r.Files {
			if g := b.byRun[f.Run.ID]; g != nil {
				g.records = max(g.records, len(f.Records))
			}
		}
		for _, group := range r.Groups {
			for _, p := range group.Points {
				b.countStep(p)
			}
		}
	}
}

// countStep counts a point in what was planned and done, and in the quality of the data.
func (b *builder) countStep(p *steps.Point) {
	g := b.byRun[p.File.Run.ID]
	if g == nil {
		return
	}
	g.rows++
	g.counts[p.Status]++
	if p.Timed() {
		b.stepped++
	}
	b.quality.addStep(g.number, p.StepRecord)
}

// addSteps makes the section on training steps, and what is said of them first.
func addSteps(r *Report, runs []*steps.Run) {
	if len(runs) == 0 {
		return
	}
	told := runs[:min(len(runs), maxStepRuns)]
	if n := len(runs) - len(told); n > 0 {
		r.LeftOut = append(r.LeftOut, notice.ReportLeftOut{Shown: len(told), Of: len(runs), What: notice.LeftStepRuns})
	}
	drawn, more := overTime(told)
	if more > 0 {
		r.LeftOut = append(r.LeftOut, notice.ReportLeftOut{Shown: len(drawn), Of: len(drawn) + more, What: notice.LeftStepPlots})
	}
	r.Steps = &Steps{}
	for _, run := range told {
		r.Steps.Runs = append(r.Steps.Runs, stepRunOf(run, drawn))
	}
}

// overTime chooses the points whose steps are drawn over time, the best of all groups before others; more is how many did not fit.
func overTime(runs []*steps.Run) (drawn map[*steps.Point]bool, more int) {
	drawn = map[*steps.Point]bool{}
	boxes := 0
	for _, best := range []bool{true, false} {
		for _, run := range runs {
			for _, g := range run.Groups {
				for _, p := range g.Points {
					if t := p.Timeline; t != nil && t.Span > 0 && (p == g.Best) == best {
						if n := len(t.Segments) + len(t.Ops); boxes+n > maxBoxes {
							more++
						} else {
							boxes, drawn[p] = boxes+n, true
						}
					}
				}
			}
		}
	}
	return drawn, more
}

func stepRunOf(run *steps.Run, drawn map[*steps.Point]bool) StepRun {
	newest := run.Newest()
	one := StepRun{Title: strings.Join(nonEmpty(run.Step().Model, run.Library(), newest.Variant, run.World()), ", "), Rehearsed: newest.Rehearse, Notices: run.Findings()}
	one.About = []string{units.Capital(steps.About(run.Step())) + ".", units.Capital(steps.How(run.Step())) + "."}
	if newest.Rehearse {
		one.About = append([]string{"SIMULATED: no device was measured; these values are not about hardware."}, one.About...)
	}
	if why := newest.Crowded(); why != nil {
		one.About = append([]string{units.Capital(notice.Message(why)) + ". The results below hold for such a machine alone."}, one.About...)
	}
	for i, g := range run.Groups {
		if g == run.BestGroup() {
			one.First = i
		}
		group := StepGroup{Title: g.Title(), Notices: g.Findings()}
		for _, p := range g.Points {
			point := stepPointOf(g, p)
			if drawn[p] {
				point.Lanes = lanesOf(p.Timeline)
			}
			group.Points = append(group.Points, point)
		}
		one.Groups = append(one.Groups, group)
	}
	return one
}

var verdictWords = map[step.Verdict]string{step.Best: "best", step.Least: "least", step.NoDifference: "same", step.Slower: "slower", step.TooFewRounds: "few"}

func stepPointOf(g *steps.Group, p *steps.Point) StepPoint {
	one := StepPoint{Bucket: steps.Bucket(p.Bucket), Ops: len(p.Ops), Bytes: p.Bytes(), Timed: p.Timed(), Mark: g.Mark(p), Stop: p.Stop}
	one.Notes = append(append(append(one.Notes, p.Reasons()...), p.Notes...), p.Warnings.Texts()...)
	if !p.Timed() {
		return one
	}
	f := p.Figures
	one.Verdict, one.Rounds = verdictWords[g.Compared(p).Verdict], f.Rounds
	for i, t := range []step.Time{f.Compute, f.Comm, f.Sequential, f.Overlapped} {
		one.Modes[i] = *scaled(&t.Figure, 1e3)
	}
	parts := steps.PartsOf(f.Compute.Value, f.Comm.Value, f.Overlapped.Value)
	one.Parts = [3]float64{1e3 * parts.Computing, 1e3 * parts.Hidden, 1e3 * parts.Exposed}
	one.Exposed, one.Share = *scaled(&f.Exposed, 1e3), f.Share()
	for to, from := range map[**StepTime]*step.Figure{
		&one.Overlap: f.Overlap, &one.ByInterval: f.ByInterval, &one.Bound: f.Bound, &one.SlowerComp: f.SlowerComp, &one.SlowerComm: f.SlowerComm, &one.SpeedUp: f.SpeedUp, &one.Efficiency: f.Efficiency,
	} {
		*to = scaled(from, 1)
	}
	return one
}

// scaled is a figure in other units; nil stays nil.
func scaled(f *step.Figure, by float64) *StepTime {
	if f == nil {
		return nil
	}
	return &StepTime{by * f.Value, by * f.Lo, by * f.Hi}
}

func lanesOf(t *result.StepTimeline) *StepLanes {
	made := &StepLanes{Rank: t.Rank, Span: 1e3 * t.Span}
	for _, s := range t.Segments {
		made.Segments = append(made.Segments, StepBox{Name: s.Name, Work: s.Work, From: 1e3 * s.Start, To: 1e3 * s.End})
	}
	laid, lanes := steps.Lay(t.Ops)
	made.Lanes = lanes
	for _, op := range laid {
		box := StepBox{Name: op.Name, From: 1e3 * op.Start, To: 1e3 * op.End, Number: op.Number, Lane: op.Lane}
		for _, part := range steps.ExposedParts(op.StepSpan, t.Segments) {
			box.Exposed = append(box.Exposed, [2]float64{1e3 * part[0], 1e3 * part[1]})
		}
		made.Ops = append(made.Ops, box)
	}
	return made
}

// listings are the tables of a group.
func (g StepGroup) listings(id string) []listing {
	times := listing{ID: id + "-times", Name: "Times of a step", Open: true, Says: g.notes(),
		Heads: heads("bucket", "against the best", "operations>", "moved>", "rounds>", "computation ms>", "communication ms>", "in turn ms>", "overlapped ms>", "exposed ms>")}
	shares := listing{ID: id + "-figures", Name: "Hidden and exposed communication, slowdown", Open: true,
		Heads: heads("bucket", "exposed, of the step>", "hidden, wall clock>", "hidden, intervals>", "at most hidden>", "computation slowdown>", "communication slowdown>", "speed-up>", "weak scaling>")}
	for _, p := range g.Points {
		row := []cell{word(p.Bucket), word(p.Mark), counted(p.Ops), {}, counted(p.Rounds)}
		if p.Bytes > 0 {
			row[3] = figure(sizeOf(p.Bytes), float64(p.Bytes))
		}
		if !p.Timed {
			times.Rows = append(times.Rows, append(row, cell{}, cell{}, cell{}, cell{}, cell{}))
			continue
		}
		for _, m := range p.Modes {
			row = append(row, m.cell())
		}
		times.Rows = append(times.Rows, append(row, p.Exposed.cell()))
		shares.Rows = append(shares.Rows, []cell{word(p.Bucket), figure(units.Share(p.Share).String(), p.Share), percentCell(p.Overlap), percentCell(p.ByInterval), percentCell(p.Bound),
			factorCell(p.SlowerComp), factorCell(p.SlowerComm), factorCell(p.SpeedUp), percentCell(p.Efficiency)})
	}
	all := []listing{times.alike("rounds", "Rounds: ").alike("moved", "Data per step: ").trimmed()}
	if len(shares.Rows) > 0 {
		all = append(all, shares.trimmed())
	}
	return all
}

// notes are what is said of points, each once, with the buckets that it is about where it is not about all.
func (g StepGroup) notes() (says []string) {
	about := map[string][]string{}
	var order []string
	for _, p := range g.Points {
		for _, n := range p.Notes {
			if about[n] == nil {
				order = append(order, n)
			}
			about[n] = append(about[n], p.Bucket)
		}
	}
	for _, n := range order {
		if len(about[n]) < len(g.Points) {
			n = strings.Join(about[n], ", ") + ": " + n
		} else {
			n = units.Capital(n)
		}
		says = append(says, strings.TrimSuffix(n, ".")+".")
	}
	return says
}

// counted is the cell of a number of things, empty where it is not known.
func counted(n int) cell {
	if n == 0 {
		return cell{}
	}
	return number(n)
}

// cell is a time with its interval.
func (t StepTime) cell() cell {
	decimals := 2
	if t.Value >= 100 { // four digits tell as much as an interval has to say
		decimals = 1
	}
	text := fmt.Sprintf("%.*f", decimals, t.Value)
	if t.Hi > t.Lo {
		text += fmt.Sprintf(" (%.*f to %.*f)", decimals, t.Lo, decimals, t.Hi)
	}
	return figure(text, t.Value)
}

func percentCell(t *StepTime) cell {
	if t == nil {
		return cell{}
	}
	return figure(fmt.Sprintf("%.1f %%", 100*t.Value), t.Value)
}

func factorCell(t *StepTime) cell {
	if t == nil {
		return cell{}
	}
	return figure(fmt.Sprintf("%.2f", t.Value), t.Value)
}

// How many runs are told of in the headlines, and how many sentences each.
const (
	mostStepRuns  = 3
	mostStepSaid  = 6
	stepTableSays = "Medians over the rounds of one launch, with their 95 % CI where the rounds suffice. In turn: computation, then communication. Exposed: overlapped minus computation, round by round."
)

// addStepHeadlines says first what the steps tell: of each run its best group, then what groups tell together.
func addStepHeadlines(r *Report, runs []*steps.Run) {
	for _, run := range runs[:min(len(runs), mostStepRuns)] {
		r.Headlines = append(r.Headlines, stepHeadlines(run, len(runs) > 1)...)
	}
	if n := len(runs) - mostStepRuns; n > 0 {
		r.Headlines = append(r.Headlines, Headline{Notice: notice.New(notice.MoreStepRuns{Runs: n})})
	}
}

// stepHeadlines are those of one run; where there are several, each names its backend.
func stepHeadlines(run *steps.Run, several bool) (all []Headline) {
	newest := run.Newest()
	trusted := !newest.Rehearse && newest.Crowded() == nil
	add := func(n notice.Notice, subject string) {
		if !trusted {
			n.Severity = notice.Info
		}
		n.At.Subject = subject
		all = append(all, Headline{Notice: n})
	}
	whose := ""
	if several {
		whose = newest.Backend.Name
	}
	if best := run.BestGroup(); best != nil {
		for i, n := range best.Findings() {
			switch n.Fact.(type) {
			case notice.StepSpeedup, notice.NoStepSpeedup:
				continue
			}
			if i == 0 {
				add(n, stepSubject(run, best))
				continue
			}
			add(n, whose)
		}
	}
	for _, n := range run.Findings() {
		switch n.Fact.(type) {
		case notice.StepComputation, notice.StepPointsMissing: // planned and done has what is missing
			continue
		}
		if len(all) < mostStepSaid {
			add(n, whose)
		}
	}
	return all
}

// stepSubject is the training step that a headline is about, with what its times are good for.
func stepSubject(run *steps.Run, of *steps.Group) string {
	newest := run.Newest()
	subject := fmt.Sprintf("Training step of %s, %s, %s", run.Step().Model, newest.Backend.Name, run.World())
	switch {
	case newest.Rehearse:
		subject += " (simulated: nothing about hardware)"
	case newest.Crowded() != nil:
		subject += " (oversubscribed: holds for such a machine alone)"
	}
	return subject + ", " + of.Title()
}

// stepMethod says how the figures of training steps were taken.
func (b *builder) stepMethod() (all []Fact) {
	if len(b.steps) == 0 {
		return nil
	}
	add := func(name string, values ...string) {
		f := Fact{Topic: "Training steps", Name: name}
		for _, v := range values {
			f.Values = append(f.Values, Value{Text: v})
		}
		all = append(all, f)
	}
	stops, checks := words{}, words{}
	least, most := 0, 0
	for _, run := range b.steps {
		for _, g := range run.Groups {
			for _, p := range g.Points {
				if p.Timed() {
					number := 0
					if g := b.byRun[p.File.Run.ID]; g != nil {
						number = g.number
					}
					stops.add(cmp.Or(p.Stop, "the run was cut off"), number)
					checks.add(p.Check.Way, number)
					least, most = span(least, most, p.Figures.Rounds)
				}
			}
		}
	}
	add("a round", "one step in each of four modes, in rotating order: computation alone, communication alone, one after the other, overlapped; the buckets of a group alternate within it")
	add("a step's time", "after synchronising the ranks, from the start to the end of the slowest rank")
	add("values", "each is computed round by round, from modes measured next to each other; the report has the median")
	add("exposed communication", "overlapped minus computation")
	add("hidden, wall clock", "(computation + communication − overlapped) / communication; it includes what both lose beside each other")
	add("hidden, intervals", "share of the time with an operation in progress in which computation ran; both times are means over ranks")
	add("best bucket", "minimum of the medians of overlapped steps; the others are compared with it by rounds, with simultaneous 95 % CIs for all pairs of the group; another launch may differ")
	if most > 0 {
		add("rounds per point", between(least, most))
	}
	var ended []string
	for _, text := range stops.byCount() {
		says := text
		if why := stepStops[text]; why != "" {
			says += ": " + why
		}
		ended = append(ended, fmt.Sprintf("%s (%s)", says, units.Count(stops[text].n, "point")))
	}
	if ended != nil {
		add("measurement ended because", ended...)
	}
	if ways := checks.byCount(); len(ways) > 0 {
		add("verification of data", ways...)
	}
	return all
}

// stepStops explain what ended the rounds of a point.
var stepStops = map[string]string{
	"precision": "the 95 % CIs of all four modes reached the target",
	"budget":    "the time for one point was used up",
	"fixed":     "the number of rounds was given",
	"maximum":   "the maximum number of rounds was reached",
	"asked":     "a signal asked the run to end",
}
