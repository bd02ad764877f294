package compare

import (
	"cmp"
	"strings"

	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/say"
)

// subject is what a point is of: a collective under its conditions, or a training step.
type subject interface {
	title() string          // of the table that it stands in
	sameTable(subject) bool // of one that is of the same kind
	name() string           // in its table
	shape() analysis.Shape
	limits(*Thresholds) limits
	beside(launchTimes) []string // figures behind a time
}

// kind is one kind of thing to compare. Collectives and training steps go by the same rules, each by themselves.
type kind struct {
	name     string
	has      func(*result.Run) bool
	heading  string   // over them on a page or a screen; none where it is plain what they are
	times    string   // what a ratio is of
	units    string   // of the tables on a page
	point    string   // head of the points in tables
	beside   []string // heads of the figures behind a time
	ownTable bool     // on a screen these have a table of their own; else they are left to pages
	aspects  []aspect
	hasSizes bool // points are sizes, which a picture can have along its axis
}

// aspect is one thing in which points may differ, so that they are no partners.
type aspect struct {
	name string
	of   func(subject) string
}

// pointSet is what was read of all sides, by point.
type pointSet struct {
	*kind
	order   []int32 // of the points in tables
	subject func(point int32) subject
}

// collectives are points of cases.
var collectives = &kind{
	name: "collectives", has: func(r *result.Run) bool { return r.Step == nil },
	times: "their times",
	units: "Sizes are powers of 1024, GB/s are 1e9 bytes per second, times are medians over launches.",
	point: "size", beside: []string{"busbw GB/s"}, aspects: collectiveAspects, hasSizes: true,
}

var collectiveAspects = []aspect{
	{"world", func(s subject) string { return units.Count(s.shape().World, "rank") }},
	{"nodes", func(s subject) string { return units.Count(s.shape().Nodes, "node") }},
	{"collective", ofCollective(func(c collective) string { return c.Collective.String() })},
	{"type", ofCollective(func(c collective) string { return ifTold(c.Type != 0, c.Type.String()) })},
	{"operation", ofCollective(func(c collective) string { return c.Op.String() })},
	{"mode", ofCollective(func(c collective) string { return c.Mode.String() })},
	{"placement", ofCollective(func(c collective) string { return ifTold(c.Placement != 0, say.Placement(c.Placement)) })},
	{"size", subject.name},
	{"way of measuring", ofCollective(func(c collective) string {
		return cmp.Or(
			strings.TrimPrefix(say.Unusual(&result.Method{Rotate: c.Rotate, Aggregate: c.Aggregate, Average: c.Average}), ", "),
			"rank's own")
	})},
	{whoAspect, ofCollective(func(c collective) string { return trimWho(c.who) })},
}

// whoAspect names what contenders differ in.
const whoAspect = "backend, library or variant (--by tells them apart)"

// ofCollective makes an aspect of what is a collective.
func ofCollective(of func(collective) string) func(subject) string {
	return func(s subject) string { return of(s.(collective)) }
}

// ifTold is a word for what another tool's file may not tell.
func ifTold(is bool, word string) string {
	if is {
		return word
	}
	return "not recorded"
}

// collective is a point of a collective.
type collective struct {
	analysis.Condition
	who string // what it is of, where sides have several of it: ", MPICH 4.0.2"
}

func (c collective) title() string               { return c.Title() + c.who }
func (c collective) name() string                { return c.Size() }
func (c collective) shape() analysis.Shape       { return analysis.ShapeOf(c.Condition) }
func (c collective) limits(t *Thresholds) limits { return t.of(c.Case) }
func (c collective) beside(t launchTimes) []string {
	return []string{units.Gigabytes(c.BusBW(t.median))}
}

func (c collective) sameTable(other subject) bool {
	o := other.(collective)
	return analysis.TableOf(c.Condition) == analysis.TableOf(o.Condition) && c.who == o.who
}
