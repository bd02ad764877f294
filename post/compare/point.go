package compare

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/steps"
)

// point is what two records must share to be compared: a collective under its conditions, or a training step. Points
// are keys of maps.
type point interface {
	title() string     // of its table
	name() string      // in its table
	table() point      // what all points of its table share
	compare(point) int // orders points as tables do
	shape() analysis.Shape
	beside(launchTimes) []string // values beside a time
	place() any                  // itself in JSON
	timesJSON(launchTimes) any
}

// kind is one kind of points. Collectives and training steps are compared by the same rules, each for themselves.
type kind struct {
	name    string
	has     func(*result.Run) bool
	heading string   // of their section; "" for the main part of the document
	times   string   // what a ratio is of
	units   string   // of the tables
	column  string   // of the points in tables
	beside  []string // columns of the values beside a time
	read    reader
}

// collectives are points of cases, trainingSteps those of rank --step.
var (
	collectives = &kind{
		name: "collectives", has: func(r *result.Run) bool { return r.Step == nil }, times: "their times",
		units:  "Sizes are powers of 1024, GB/s are 1e9 bytes per second, times are medians over launches.",
		column: "size", beside: []string{"busbw GB/s"}, read: readCollectives,
	}
	trainingSteps = &kind{
		name: "training steps", has: func(r *result.Run) bool { return r.Step != nil }, heading: "Training steps",
		times: "the times of their overlapped steps",
		units: "Times are medians over launches: of the overlapped step, and beside it of communication " +
			"alone and of what of it is exposed.",
		column: "bucket", beside: []string{"comm", "exposed"}, read: readTraining,
	}
)

// collective is a point of a collective.
type collective struct {
	analysis.Condition
	who string // what of a contender sides have several of: "MPICH 4.0.2"
}

func (c collective) title() string { return c.Title() + behind(c.who) }
func (c collective) name() string  { return c.Size() }
func (c collective) table() point  { return collective{analysis.TableOf(c.Condition), c.who} }

// shape is the shape of the run.
func (c collective) shape() analysis.Shape { return cmp.Or(c.Whole, analysis.ShapeOf(c.Condition)) }

func (c collective) compare(p point) int {
	o := p.(collective)
	return cmp.Or(analysis.CompareConditions(analysis.TableOf(c.Condition), analysis.TableOf(o.Condition)),
		cmp.Compare(c.who, o.who), cmp.Compare(c.SizeBytes, o.SizeBytes))
}

func (c collective) beside(t launchTimes) []string {
	return []string{units.Gigabytes(c.BusBW(t.Time))}
}

func (c collective) place() any {
	return struct {
		coll.Case
		Nodes     int    `json:"nodes"`
		PerNode   int    `json:"ranks_per_node"`
		Rotate    int64  `json:"rotate_bytes"`
		Aggregate int    `json:"aggregate"`
		Average   string `json:"average"`
		Of        string `json:"of"` // backend, variant and so on, where the sides have several

		Whole analysis.Shape `json:"divided_world,omitzero"`
	}{c.Case, c.Nodes, c.PerNode, c.Rotate, c.Aggregate, c.Average, c.who, c.Whole}
}

func (c collective) timesJSON(t launchTimes) any {
	return struct {
		launchTimes
		AlgBW float64 `json:"algbw_GBps"`
		BusBW float64 `json:"busbw_GBps"`
	}{t, c.AlgBW(t.Time) / 1e9, c.BusBW(t.Time) / 1e9}
}

// behind joins what a point is of to what precedes it.
func behind(who string) string {
	if who == "" {
		return ""
	}
	return ", " + who
}

// trainingStep is a point of a training step. It has many fields because a difference in any of them makes it another
// step; they are one object of the JSON.
type trainingStep struct {
	Model  string `json:"model"`
	text   string // a digest of the model's YAML; "" for a preset
	Params int64  `json:"params"`
	Layers int    `json:"layers"`
	step.Point
	World     int    `json:"world"`
	Nodes     int    `json:"nodes"`
	PerNode   int    `json:"ranks_per_node"`
	Device    string `json:"device"`
	Computing string `json:"computing"`
	passTimes
	First    int64   `json:"first_bucket_bytes"` // cap of the first bucket, where the strategy has such a rule
	Interval float64 `json:"poll_interval_s"`    // between calls that test, where they poll
	Of       string  `json:"of"`
}

// passTimes are the times of the passes of a step in seconds.
type passTimes struct {
	Forward   float64 `json:"forward_s"`
	Backward  float64 `json:"backward_s"`
	Optimizer float64 `json:"optimizer_s"`
}

// trainingOf is the n-th point of a run.
func trainingOf(run *result.Run, n int, who string) trainingStep {
	s := run.Step
	p := trainingStep{
		Model: s.Model, Params: s.Params, Layers: s.Layers, Point: s.Points[n-1], World: run.World, Nodes: run.Nodes,
		PerNode: run.RanksPerNode, Device: run.Device, Computing: s.Computing, Of: who,
		passTimes: passTimes{wholeNanoseconds(s.Forward), wholeNanoseconds(s.Backward), wholeNanoseconds(s.Optimizer)},
	}
	if s.Source != "" {
		p.text = fmt.Sprintf("%.4x", sha256.Sum256([]byte(s.Source)))
	}
	if p.Strategy == step.DDP {
		p.First = s.First
	}
	if p.Progress == step.Poll {
		p.Interval = s.Interval
	}
	return p
}

// wholeNanoseconds is a time without the last digits, in which sums over layers differ with the order of adding.
func wholeNanoseconds(s float64) float64 { return math.Round(s*1e9) / 1e9 }

func (p trainingStep) title() string {
	text := p.Model
	if p.text != "" {
		text += " (text " + p.text + ")"
	}
	group := steps.Group{Point: p.Group()}
	text += fmt.Sprintf(", %s, %s, computing %s forward, %s backward", group.Title(), p.shape().Words(),
		units.SignedDuration(p.Forward), units.SignedDuration(p.Backward))
	if p.Optimizer > 0 {
		text += ", " + units.SignedDuration(p.Optimizer) + " optimizer"
	}
	text += " by " + p.Computing
	if p.First > 0 {
		text += ", first bucket " + coll.FormatSize(p.First, true)
	}
	if p.Interval > 0 {
		text += ", polling every " + units.SignedDuration(p.Interval)
	}
	return text + behind(p.Of)
}

func (p trainingStep) name() string { return steps.Bucket(p.Bucket) }
func (p trainingStep) shape() analysis.Shape {
	return analysis.Shape{World: p.World, Nodes: p.Nodes, PerNode: p.PerNode}
}

func (p trainingStep) table() point {
	p.Bucket = 0
	return p
}

func (p trainingStep) compare(other point) int {
	o := other.(trainingStep)
	return cmp.Or(cmp.Compare(p.Model, o.Model), cmp.Compare(p.World, o.World), cmp.Compare(p.title(), o.title()),
		cmp.Compare(fmt.Sprint(p.table()), fmt.Sprint(o.table())), cmp.Compare(p.Bucket, o.Bucket))
}

func (p trainingStep) beside(t launchTimes) []string {
	return []string{units.SignedDuration(t.comm), units.SignedDuration(t.exposed)}
}

func (p trainingStep) place() any {
	one := struct {
		trainingStep
		Text *string `json:"model_text"`
	}{trainingStep: p}
	if p.text != "" {
		one.Text = &p.text
	}
	return one
}

func (p trainingStep) timesJSON(t launchTimes) any {
	return struct {
		launchTimes
		Comm    float64 `json:"comm_s"`
		Exposed float64 `json:"exposed_s"`
	}{t, t.comm, t.exposed}
}
