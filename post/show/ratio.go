package show

import (
	"fmt"
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

// campaigns are the times of the runs shown, by campaign, for the tables that compare what was measured in one.
type campaigns struct {
	order []string
	of    map[string]*analysis.Measurements
	seen  map[recordID]bool // a copy of a run's file counts no more
}

// recordID is what a record is known by, wherever it lies.
type recordID struct {
	run string
	n   int
}

func (c *campaigns) add(f *result.File) {
	id := f.Run.Campaign
	if id == "" {
		id = f.Run.Launch
	}
	if c.of == nil {
		c.of, c.seen = map[string]*analysis.Measurements{}, map[recordID]bool{}
	}
	if c.of[id] == nil {
		c.of[id] = analysis.NewMeasurements()
		c.order = append(c.order, id)
	}
	for i := range f.Records {
		known := recordID{f.Run.ID, f.Records[i].N}
		if known.n == 0 || !c.seen[known] {
			c.of[id].Add(&f.Run, &f.Records[i])
			c.seen[known] = true
		}
	}
	if f.Run.Interleaved != nil {
		c.of[id].Asked = f.Run.Interleaved
	}
}

// sections are a table for every contender of a campaign but the first, against the first that it has a condition in
// common with: variants may differ in how values are taken.
func (c *campaigns) sections(data *showData) (all []document.Block) {
	for _, id := range c.order {
		m := c.of[id]
		if len(m.Contenders) < 2 {
			continue
		}
		m.Arrange()
		name := analysis.Names(m.Contenders)
		for i, other := range m.Contenders {
			for _, first := range m.Contenders[:i] {
				if m.Common(first, other) {
					one := shownComparison{A: name[first], B: name[other]}
					all = append(all, ratioSection(m, first, other, &one))
					data.Comparisons = append(data.Comparisons, one)
					break
				}
			}
		}
	}
	return all
}

// shownComparison is a comparison in the JSON: the times of B against those of A.
type shownComparison struct {
	A      string       `json:"a"`
	B      string       `json:"b"`
	Points []shownRatio `json:"points"`
}

// shownRatio is one point of it.
type shownRatio struct {
	Condition string  `json:"condition"`
	SizeBytes int64   `json:"size_bytes"`
	ASeconds  float64 `json:"a_s"`
	BSeconds  float64 `json:"b_s"`
	Ratio     float64 `json:"ratio"`
	Lo        float64 `json:"lo"` // 0: no bounds
	Hi        float64 `json:"hi"`
	Verdict   string  `json:"verdict"` // "" where ranks shared cores
}

// ratioSection is the times of two contenders under each condition that both were measured under, of which there is
// one.
func ratioSection(m *analysis.Measurements, first, other analysis.Contender, data *shownComparison) *document.Section {
	section := &document.Section{Title: fmt.Sprintf("%s against %s: ratio of their times", data.B, data.A)}
	if first.Rehearsed || other.Rehearsed {
		section.Title += " (SIMULATED: not about hardware)"
	}
	var shared []analysis.Condition
	for under := range m.Cells[other] {
		if m.Cells[first][under] != nil {
			shared = append(shared, under)
		}
	}
	slices.SortFunc(shared, analysis.CompareConditions)
	notes, table := &footnote.List{}, (*document.Table)(nil)
	for i, under := range shared {
		if i == 0 || analysis.TableOf(shared[i-1]) != analysis.TableOf(under) {
			table = &document.Table{
				Columns: document.NumericColumns("size", clip(head(first, other)), clip(head(other, first)), "ratio"),
			}
			table.Columns = append(table.Columns, document.Column{Name: "bounds"}, document.Column{}, document.Column{})
			section.Add(&document.Section{Title: under.Title(), Blocks: []document.Block{table}})
		}
		a, b := m.Cells[first][under], m.Cells[other][under]
		r := analysis.Ratio(b, a)
		was, _ := a.Over()
		now, _ := b.Over()
		words, about := verdict(r), []string{say.Basis(r)}
		if why := m.Crowded(analysis.ShapeOf(under), first, other); why != nil {
			words, about = "", append(about, notice.Message(why))
		}
		table.Row(coll.FormatSize(under.SizeBytes, true), units.Duration(was.Value), units.Duration(now.Value),
			units.Times(r.Value), say.Span(r), words, notes.Marks(nil, about...))
		one := shownRatio{under.Title(), under.SizeBytes, was.Value, now.Value, r.Value, 0, 0, words}
		if r.Basis != stats.NoBounds {
			one.Lo, one.Hi = r.Lo, r.Hi
		}
		data.Points = append(data.Points, one)
	}
	section.Add(notes.Blocks()...)
	return section
}

// head is what tells a contender from the other one above their columns: its backend, or of one backend its variant.
func head(c, other analysis.Contender) string {
	if c.Backend == other.Backend && c.Variant != "" {
		return c.Variant
	}
	return c.Backend
}

// clip shortens a name to the width of a column.
func clip(name string) string {
	if r := []rune(name); len(r) > 14 {
		return string(r[:13]) + "…"
	}
	return name
}

// verdict is what the bounds show of the ratio of a time to that of the other.
func verdict(r stats.Ratio) string {
	switch {
	case r.Differs() && r.Value > 1:
		return "slower"
	case r.Differs():
		return "faster"
	case r.Basis == stats.WithinLaunch || r.Basis == stats.AcrossLaunches:
		return "inconclusive"
	}
	return ""
}
