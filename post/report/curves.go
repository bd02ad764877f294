package report

import (
	"fmt"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/post/analysis"
	"busbar/post/say"
)

// making is a report that grows, with the numbers of what it holds once.
type making struct {
	*Report
	axis     map[string]int
	noted    map[string]int
	families map[analysis.Condition]int
	ceilings map[Ceiling]int
	paths    map[result.Path]int
}

func newMaking(r *Report) *making {
	return &making{Report: r, axis: map[string]int{}, noted: map[string]int{}, families: map[analysis.Condition]int{}, ceilings: map[Ceiling]int{}, paths: map[result.Path]int{}}
}

// once is the number of what a key stands for, which add adds where it is new.
func once[K comparable](of map[K]int, key K, next int, add func()) int {
	n, there := of[key]
	if !there {
		n = next
		of[key] = n
		add()
	}
	return n
}

func (m *making) axisOf(sizes []int64) int {
	return once(m.axis, fmt.Sprint(sizes), len(m.Axes), func() { m.Axes = append(m.Axes, sizes) })
}

func (m *making) note(text string) int {
	return once(m.noted, text, len(m.Notes), func() { m.Notes = append(m.Notes, text) })
}

func (m *making) pathOf(p *result.Path) int {
	return once(m.paths, *p, m.note("path: "+p.String()), func() {})
}

func (m *making) familyOf(under analysis.Condition) int {
	family := analysis.FamilyOf(under)
	return once(m.families, family, len(m.Families), func() {
		made := Family{Title: family.FamilyTitle(), Collective: family.Collective.String(), Root: family.Root, Mode: family.Mode.String()}
		if family.Type != 0 {
			made.Type = family.Type.String()
		}
		if family.Op != 0 {
			made.Op = family.Op.String()
		}
		if family.Placement != 0 {
			made.Placement = say.Placement(family.Placement)
		}
		made.Way = say.Unusual(&result.Method{Rotate: family.Rotate, Aggregate: family.Aggregate, Average: family.Average})
		m.Families = append(m.Families, made)
	})
}

// addCurves adds curves, and what was found on them.
func (b *builder) addCurves(m *making, f analysed) {
	shown := chosen(m.Report, f)
	number := map[*analysis.Curve]int{}
	for i, c := range shown {
		number[c] = i
		made := m.curveOf(c)
		if f.Ceilings != nil && c.Mode == coll.Throughput {
			m.setCeiling(&made, f.Ceilings(c))
		}
		m.Curves = append(m.Curves, made)
		if f.Models != nil {
			m.addModel(i, f.Models(c))
		}
	}
	b.addHeats(m, shown)
	for _, one := range f.Findings {
		made := findingOf(one)
		if n, there := number[one.Curve]; there {
			made.Curve = n
		}
		for _, p := range one.Also {
			if n, there := number[p.Curve]; there {
				made.Also = append(made.Also, Place{n, p.From, p.To})
			}
		}
		m.Findings = append(m.Findings, made)
	}
	if f.More > 0 {
		m.LeftOut = append(m.LeftOut, notice.ReportLeftOut{
			Shown: len(f.Findings), Of: len(f.Findings) + f.More, What: notice.LeftFindings,
		})
	}
}

func (m *making) setCeiling(c *Curve, of analysis.Ceiling) {
	switch {
	case of.Known():
		made := Ceiling{of.BusBW / 1e9, of.Name, of.Text(), of.Source}
		c.Ceiling = once(m.ceilings, made, len(m.Ceilings), func() { m.Ceilings = append(m.Ceilings, made) })
	case of.Fact != nil:
		c.Unknown = m.note("no peak: " + of.Words())
	}
}

func (m *making) curveOf(c *analysis.Curve) Curve {
	n := len(c.Points)
	made := Curve{
		Family: m.familyOf(c.Condition), Who: c.Who, Backend: c.Backend, World: c.World, Nodes: c.Nodes, PerNode: c.PerNode,
		Label: c.Who + ", " + analysis.ShapeOf(c.Condition).Words(), Factor: c.Collective.BusFactor(c.World),
		Rehearsed: c.Rehearsed, Imported: c.Tool, Crowded: notice.Reason(c.Crowded), Ceiling: -1, Unknown: -1, Heat: -1,
	}
	sizes, lo, hi, bases, launches := make([]int64, n), make(Figures, n), make(Figures, n), make([]int, n), make([]int, n)
	bounded, paths := false, make([]int, n)
	for i, p := range c.Points {
		sizes[i], paths[i] = p.SizeBytes, -1
		made.Time = append(made.Time, 1e6*p.Time.Value)
		bases[i], launches[i] = basisOf[p.Basis], max(1, len(p.Launches))
		if p.Basis != stats.NoBounds {
			lo[i], hi[i], bounded = 1e6*p.Time.Lo, 1e6*p.Time.Hi, true
		}
		if p.Path != nil {
			paths[i] = m.pathOf(p.Path)
			made.Paths = paths
		}
		for kind, text := range warned {
			if p.Warned[kind] > 0 {
				made.Marks = append(made.Marks, Mark{i, m.note(text)})
			}
		}
	}
	made.Axis = m.axisOf(sizes)
	if made.Bases = alike(bases); bounded {
		made.Lo, made.Hi = lo, hi
	}
	made.Launches = alike(launches)
	return made
}

// basisOf is the index in Bases.
var basisOf = map[stats.Basis]int{stats.NoBounds: 0, stats.WithinLaunch: 1, stats.LaunchSpread: 2, stats.AcrossLaunches: 3}

// warned are the notes on points by the kind of the warning.
var warned = []string{
	analysis.Bimodal:  "bimodal: the median describes at most one mode",
	analysis.Drifting: "drift: times rose or fell during the measurement",
}

// alike is a list of numbers as one, where all are the same.
func alike(numbers []int) []int {
	for _, n := range numbers {
		if n != numbers[0] {
			return numbers
		}
	}
	return numbers[:min(1, len(numbers))]
}

func findingOf(f analysis.Finding) Finding {
	made := Finding{Number: f.Number, Notice: f.Notice, Curve: -1, From: f.From, To: f.To, Evidence: f.Evidence()}
	for _, h := range f.Hints {
		made.Hints = append(made.Hints, Hint{h.Text(), h.Tip.Source(), h.Variable, h.Value, h.Sweep})
	}
	return made
}
