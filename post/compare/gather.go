package compare

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/analysis"
)

// gathered is what was read of all sides, by point.
type gathered struct {
	sides  []*side
	parts  []part // what tells points apart beside their condition
	points []pointKey
	number map[pointKey]int32

	classes []class
	numbers map[class]int32
	classOf map[classKey]int32
	reasons map[string]string     // each once
	lacking analysis.Incomparable // imported points that cannot be compared
}

// pointKey is a point: what two records must share to be compared. It is small, since there may be a million.
type pointKey struct {
	class int32
	coll.Case
}

// class is the part of a point that many share.
type class struct {
	who   analysis.Contender // empty but for what the sides have several of
	under analysis.Condition // without its case
}

type classKey struct {
	run  *result.Run
	mode coll.Mode
}

// part is one thing that a contender is known by.
type part func(*analysis.Contender) *string

// contenderParts go from what says most to what says least.
var contenderParts = []part{
	func(c *analysis.Contender) *string { return &c.Backend },
	func(c *analysis.Contender) *string { return &c.Variant },
	func(c *analysis.Contender) *string { return &c.Library },
	func(c *analysis.Contender) *string { return &c.Settings },
	func(c *analysis.Contender) *string { return &c.Device },
}

// partsOf are the parts that points must share: those that some side has several of, which the parts before do not tell
// apart already. What each side has one of is what is compared, and a difference in it is a fact.
func partsOf(sides []*side) (parts []part) {
	for _, p := range contenderParts {
		if slices.ContainsFunc(sides, func(s *side) bool { return severalOf(s, p, parts) }) {
			parts = append(parts, p)
		}
	}
	return parts
}

// severalOf says whether runs of a side that are alike in some parts differ in another.
func severalOf(s *side, p part, alike []part) bool {
	seen := map[analysis.Contender]string{}
	for _, r := range s.runs {
		all := analysis.ContenderOf(r)
		var known analysis.Contender
		for _, q := range alike {
			*q(&known) = *q(&all)
		}
		v := *p(&all)
		if other, there := seen[known]; there && other != v {
			return true
		}
		seen[known] = v
	}
	return false
}

// gatherCollectives reads all records of collectives of all sides. pool is the dataset that all sides are of, nil
// where each has its own.
func gatherCollectives(ctx context.Context, sides []*side, pool *result.Dataset) (*pointSet, []notice.Notice, error) {
	g := &gathered{
		sides: sides, parts: partsOf(sides), number: map[pointKey]int32{}, numbers: map[class]int32{},
		classOf: map[classKey]int32{}, reasons: map[string]string{},
	}
	err := byDataset(sides, pool, func(data *result.Dataset, sideOf map[string]*side, again bool) error {
		lacking := &g.lacking
		if again {
			lacking = &analysis.Incomparable{} // they are counted
		}
		return data.Each(func(row result.Row) error {
			if s := sideOf[row.Run.ID]; s != nil && !lacking.Add(row) {
				g.add(s, row)
			}
			return context.Cause(ctx)
		})
	})
	if err != nil {
		return nil, nil, err
	}
	for _, s := range sides {
		s.index(len(g.points))
	}
	of := func(point int32) subject { return collective{g.condition(point), g.who(point)} }
	return &pointSet{collectives, g.sorted(), of}, g.lacking.Notices(), nil
}

func (g *gathered) add(s *side, row result.Row) {
	r := row.Record
	p := pointKey{g.classOfRun(row.Run, r), r.Case}
	n, known := g.number[p]
	if !known {
		n = int32(len(g.points))
		g.number[p] = n
		g.points = append(g.points, p)
	}
	e := entry{point: n, launch: s.number[row.Run.PairedBy()], status: r.Status}
	if e.status == result.OK {
		if !r.Timed() || r.Time.Seconds <= 0 {
			return // no figure, and nothing that went wrong
		}
		e.seconds = r.Time.Seconds
	} else {
		e.status, e.cause = result.Status(g.once(string(r.Status))), r.Why.Fact()
	}
	s.entries = append(s.entries, e)
}

// once is a text that is kept only once.
func (g *gathered) once(text string) string {
	kept, there := g.reasons[text]
	if !there {
		g.reasons[text] = text
		return text
	}
	return kept
}

func (g *gathered) classOfRun(run *result.Run, r *result.Record) int32 {
	key := classKey{run, r.Mode}
	if n, known := g.classOf[key]; known {
		return n
	}
	all := analysis.ContenderOf(run)
	c := class{under: analysis.ConditionOf(run, r)}
	c.under.Case = coll.Case{}
	for _, p := range g.parts {
		*p(&c.who) = *p(&all)
	}
	n, known := g.numbers[c]
	if !known {
		n = int32(len(g.classes))
		g.numbers[c] = n
		g.classes = append(g.classes, c)
	}
	g.classOf[key] = n
	return n
}

// condition is that of a point.
func (g *gathered) condition(point int32) analysis.Condition {
	c := g.classes[g.points[point].class].under
	c.Case = g.points[point].Case
	return c
}

// who is what a point is of, in words, where sides have several of it.
func (g *gathered) who(point int32) string {
	return whoOf(g.classes[g.points[point].class].who, g.parts)
}

// whoOf is a contender in words, as far as the parts say.
func whoOf(c analysis.Contender, parts []part) (words string) {
	for _, p := range parts {
		if v := *p(&c); v != "" {
			words += ", " + v
		}
	}
	return words
}

// trimWho is who without the comma that joins it to what stands before.
func trimWho(who string) string { return strings.TrimPrefix(who, ", ") }

// sorted are the points in the order of tables.
func (g *gathered) sorted() []int32 {
	order := make([]int32, len(g.points))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &g.points[i], &g.points[j]
		if a.class == b.class && a.Collective == b.Collective && a.Type == b.Type && a.Op == b.Op && a.Root == b.Root &&
			a.Placement == b.Placement && a.Mode == b.Mode && a.World == b.World {
			return cmp.Compare(a.SizeBytes, b.SizeBytes)
		}
		x, y := g.condition(i), g.condition(j)
		return cmp.Or(analysis.CompareConditions(analysis.TableOf(x), analysis.TableOf(y)), cmp.Compare(g.who(i), g.who(j)),
			cmp.Compare(x.SizeBytes, y.SizeBytes))
	})
	return order
}

// index sorts the entries and notes where those of each point begin.
func (s *side) index(points int) {
	slices.SortStableFunc(s.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.point, b.point), cmp.Compare(a.launch, b.launch))
	})
	s.first = make([]int32, points+1)
	i := 0
	for p := range points {
		s.first[p] = int32(i)
		for i < len(s.entries) && int(s.entries[i].point) == p {
			i++
		}
	}
	s.first[points] = int32(i)
}

// of are the records of a point.
func (s *side) of(point int32) []entry { return s.entries[s.first[point]:s.first[point+1]] }
