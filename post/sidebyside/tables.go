package sidebyside

import (
	"fmt"
	"maps"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/footnote"
	"busbar/post/say"
)

const unitWords = "Sizes are powers of 1024, GB/s are 1e9 bytes per second."

// document begins a document of the comparison.
func (f *Results) document(title string) *document.Document {
	d := &document.Document{Kind: "comparison", Title: title}
	if f.rehearsed > 0 {
		n := notice.New(notice.SimulatedRuns{})
		d.Report(n)
		d.Add(document.Callout{Severity: n.Severity, Text: n.Message()})
	}
	return d
}

// tablesDocument begins a document of tables.
func (f *Results) tablesDocument(title string) (*document.Document, *footnote.List) {
	d := f.document(title)
	for _, b := range f.missing() {
		lack := f.lackOf(b)
		d.Report(notice.New(lack))
		d.Add(document.Paragraph(notice.Sentence(lack)))
	}
	d.Add(document.Paragraph("Times are medians. " + unitWords))
	return d, &footnote.List{
		Shows:  func(notice.Code) bool { return true },
		Report: func(f notice.Fact) { d.CountKind(notice.New(f)) },
	}
}

// familyTable adds the table of a family, whose columns of values have these names.
func familyTable(d *document.Document, family analysis.Condition, values ...string) *document.Table {
	t := &document.Table{Columns: append([]document.Column{{Name: "backend"}, {Name: "device"}}, document.NumericColumns(values...)...)}
	d.Add(&document.Section{Title: family.FamilyTitle(), Blocks: []document.Block{t}})
	return t
}

// fullResults is every point of every run.
func (f *Results) fullResults() *document.Document {
	d, notes := f.tablesDocument("Full results")
	references := f.references()
	var table *document.Table
	var last analysis.Condition
	for _, row := range f.rowsByTable() {
		who, under, r := analysis.ContenderOf(row.Run), analysis.ConditionOf(row.Run, row.Record), row.Record
		if t := analysis.FamilyOf(under); table == nil || t != last {
			last = t
			table = familyTable(d, t, "ranks", "size", "time", "95 % CI", "algbw GB/s", "busbw GB/s",
				"ratio to the reference of the launch")
			table.Columns = append(table.Columns, document.Column{Name: "status"}, document.Column{Name: "notes"})
		}
		var time, interval, algbw, busbw, ratio string
		status, about := string(r.Status), []string(nil)
		if r.Timed() {
			t := r.Time
			time, algbw = units.Duration(t.Seconds), units.Gigabytes(r.AlgBW(t.Seconds))
			busbw = units.Gigabytes(r.BusBW(t.Seconds))
			if t.Lo > 0 {
				interval = units.Duration(t.Lo) + " to " + units.Duration(t.Hi)
			}
			ratio, about = f.toReference(references, row, under)
		} else if r.Reason != "" {
			status += ": " + r.Reason
		}
		table.Row(f.who(who), deviceKind(who.Backend), analysis.ShapeOf(under).String(),
			coll.FormatSize(r.SizeBytes, true), time, interval, algbw, busbw, ratio, status,
			notes.Marks(slices.Concat(row.Run.Warnings, r.Warnings), about...))
	}
	d.Add(notes.Blocks()...)
	return d
}

// references are the first contender of each launch, or block of launches, that had several.
func (f *Results) references() map[string]analysis.Contender {
	several, first := map[string]bool{}, map[string]analysis.Contender{}
	for _, run := range f.runs {
		who, launch := analysis.ContenderOf(run), run.PairedBy()
		if ref, there := first[launch]; !there {
			first[launch] = who
		} else if ref != who {
			several[launch] = true
			if f.rank(who) < f.rank(ref) {
				first[launch] = who
			}
		}
	}
	maps.DeleteFunc(first, func(launch string, _ analysis.Contender) bool { return !several[launch] })
	return first
}

// rank is a contender's place in the order of comparison.
func (f *Results) rank(who analysis.Contender) int { return slices.Index(f.times.Contenders, who) }

// isReference is the ratio of the reference to itself.
const isReference = "1 (reference)"

// toReference is the ratio of a row's time to that of the reference of its launch, with its interval, and notes on it.
func (f *Results) toReference(references map[string]analysis.Contender, row result.Row, under analysis.Condition) (
	words string, notes []string,
) {
	launch := row.Run.PairedBy()
	first, there := references[launch]
	switch base := f.times.Cells[first][under]; {
	case !there:
		return "", nil
	case first == analysis.ContenderOf(row.Run):
		return isReference, nil
	case base == nil || base.Times[launch] == nil:
		return "", nil
	default:
		t := row.Record.Time
		r := stats.RatioOf(stats.Estimate{Value: t.Seconds, Lo: t.Lo, Hi: t.Hi}, base.In(launch))
		return ratioAndBounds(r), f.crowdedReference(first, under)
	}
}

func ratioAndBounds(r stats.Ratio) string {
	if r.Basis == stats.NoBounds {
		return units.Times(r.Value)
	}
	return units.Times(r.Value) + " (" + say.Span(r) + ")"
}

// crowdedReference notes that the time of a reference shows no speed.
func (f *Results) crowdedReference(first analysis.Contender, under analysis.Condition) []string {
	if why := f.times.Crowded(analysis.ShapeOf(under), first); why != nil {
		return []string{"reference " + f.who(first) + ": " + notice.Message(why)}
	}
	return nil
}

// summary is the median over launches of every configuration, with its ratio to the first backend.
func (f *Results) summary() *document.Document {
	d, notes := f.tablesDocument("Summary by configuration")
	if len(f.times.Contenders) == 0 {
		d.Add(document.Paragraph("No point has a time; full_results.md has the reasons."))
	}
	for _, family := range f.times.Families() {
		table := familyTable(d, family, "ranks", "size", "launches", "time", "bounds", "algbw GB/s", "busbw GB/s",
			"ratio to "+f.name[f.times.Contenders[0]])
		table.Columns = append(table.Columns, document.Column{Name: "notes"})
		for _, who := range f.times.Contenders {
			for _, under := range f.times.Conditions(who, family) {
				table.Row(f.summaryRow(notes, who, under)...)
			}
		}
	}
	d.Add(notes.Blocks()...)
	return d
}

func (f *Results) summaryRow(notes *footnote.List, who analysis.Contender, under analysis.Condition) []string {
	c := f.times.Cells[who][under]
	t, basis := c.Over()
	var warnings notice.List
	var about []string
	var bounds, ratio string
	if basis != stats.NoBounds {
		bounds = units.Duration(t.Lo) + " to " + units.Duration(t.Hi)
		about = append(about, timeBounds[basis])
	}
	if first := f.times.Contenders[0]; who == first {
		ratio = isReference
	} else if base := f.times.Cells[first][under]; base != nil {
		r := analysis.Ratio(c, base)
		ratio = ratioAndBounds(r)
		about = append(append(about, "ratio, "+say.Basis(r)), f.crowdedReference(first, under)...)
	}
	if why := f.times.Crowded(analysis.ShapeOf(under), who); why != nil {
		warnings.Add(why)
	}
	return []string{
		f.who(who), deviceKind(who.Backend), analysis.ShapeOf(under).String(), coll.FormatSize(under.SizeBytes, true),
		fmt.Sprint(len(c.Launches)), units.Duration(t.Value), bounds, units.Gigabytes(under.AlgBW(t.Value)),
		units.Gigabytes(under.BusBW(t.Value)), ratio, notes.Marks(warnings, about...),
	}
}

// timeBounds explain the bounds of a time.
var timeBounds = map[stats.Basis]string{
	stats.WithinLaunch: "time, bounds: 95 % CI of the median within one launch; other launches may differ by more",
	stats.LaunchSpread: fmt.Sprintf(
		"time, bounds: minimum and maximum over launches; a 95 %% CI needs %d launches", stats.MinForInterval),
	stats.AcrossLaunches: "time, bounds: 95 % CI of the median over launches",
}

// who is the name of a contender, with a mark if it was simulated.
func (f *Results) who(c analysis.Contender) string {
	if c.Rehearsed {
		return f.name[c] + " (simulated)"
	}
	return f.name[c]
}
