package compare

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/steps"
)

// trainingStep is a point of a training step: what two of them must share to be compared.
type trainingStep struct {
	step.Point
	analysis.Shape
	model                        string
	params                       int64
	layers                       int
	text                         string // a digest of the model's YAML; none for a preset
	forward, backward, optimizer float64
	computing, device            string
	first                        int64   // cap of the first bucket, where there is such a rule
	interval                     float64 // between calls that test, where they poll
	who                          string
}

// trainingSteps are points of training steps.
var trainingSteps = &kind{
	name: "training steps", has: func(r *result.Run) bool { return r.Step != nil }, heading: "Training steps",
	times: "the times of their overlapped steps", units: "Times are medians over launches: of the overlapped step, and " +
		"beside it of communication alone and of what of it is exposed.",
	point: "bucket", beside: []string{"comm", "exposed"}, ownTable: true, aspects: trainingAspects,
}

var trainingAspects = []aspect{
	{"model", ofTraining(func(p *trainingStep) string { return p.model + p.ofText() })},
	{"size of the model", ofTraining(func(p *trainingStep) string {
		return fmt.Sprintf("%d parameters in %s", p.params, units.Count(p.layers, "layer"))
	})},
	{"computing", ofTraining(func(p *trainingStep) string { return p.work() })},
	{"world", func(s subject) string { return units.Count(s.shape().World, "rank") }},
	{"nodes", func(s subject) string { return units.Count(s.shape().Nodes, "node") }},
	{"ranks of a node", func(s subject) string { return fmt.Sprint(s.shape().PerNode) }},
	{"device", ofTraining(func(p *trainingStep) string { return p.device })},
	{"strategy", ofTraining(func(p *trainingStep) string { return p.Strategy.String() })},
	{"type", ofTraining(func(p *trainingStep) string { return p.Type.String() })},
	{"compression", ofTraining(func(p *trainingStep) string { return cmp.Or(p.Compression, "none") })},
	{"progress", ofTraining(func(p *trainingStep) string { return cmp.Or(p.Progress.String(), "by the device") })},
	{"first bucket", ofTraining(func(p *trainingStep) string { return coll.FormatSize(p.first, true) })},
	{"polling", ofTraining(func(p *trainingStep) string { return units.SignedDuration(p.interval) })},
	{"bucket", subject.name},
	{whoAspect, ofTraining(func(p *trainingStep) string { return trimWho(p.who) })},
}

func ofTraining(of func(*trainingStep) string) func(subject) string {
	return func(s subject) string { return of(s.(*trainingStep)) }
}

// trainingOf is the point of a record, but for who.
func trainingOf(row *result.StepRow) trainingStep {
	run := &row.File.Run
	s := run.Step
	p := trainingStep{
		Point: s.Points[row.Record.N-1], Shape: analysis.Shape{World: run.World, Nodes: run.Nodes, PerNode: run.RanksPerNode},
		model: s.Model, params: s.Params, layers: s.Layers, forward: wholeNanoseconds(s.Forward),
		backward: wholeNanoseconds(s.Backward), optimizer: wholeNanoseconds(s.Optimizer), computing: s.Computing,
		device: run.Device,
	}
	if s.Source != "" {
		p.text = fmt.Sprintf("%.4x", sha256.Sum256([]byte(s.Source)))
	}
	if p.Strategy == step.DDP {
		p.first = s.First
	}
	if p.Progress == step.Poll {
		p.interval = s.Interval
	}
	return p
}

// wholeNanoseconds is a time without the last digits, in which sums over layers differ with the order of adding.
func wholeNanoseconds(s float64) float64 { return math.Round(s*1e9) / 1e9 }

// ofText tells models of one name apart.
func (p *trainingStep) ofText() string {
	if p.text == "" {
		return ""
	}
	return fmt.Sprintf(" (text %s)", p.text)
}

// work is what was asked to be computed, and by what.
func (p *trainingStep) work() string {
	text := fmt.Sprintf("%s forward, %s backward", units.SignedDuration(p.forward), units.SignedDuration(p.backward))
	if p.optimizer > 0 {
		text += fmt.Sprintf(", %s optimizer", units.SignedDuration(p.optimizer))
	}
	return text + " by " + p.computing
}

func (p *trainingStep) title() string {
	group := steps.Group{Point: p.Group()}
	text := fmt.Sprintf("%s%s, %s, %s, computing %s", p.model, p.ofText(), group.Title(), p.Words(), p.work())
	if p.first > 0 {
		text += ", first bucket " + coll.FormatSize(p.first, true)
	}
	if p.interval > 0 {
		text += ", polling every " + units.SignedDuration(p.interval)
	}
	return text + p.who
}

func (p *trainingStep) name() string                { return steps.Bucket(p.Bucket) }
func (p *trainingStep) shape() analysis.Shape       { return p.Shape }
func (p *trainingStep) limits(t *Thresholds) limits { return t.ofStep(p.Type) }

func (p *trainingStep) beside(t launchTimes) []string {
	return []string{units.SignedDuration(t.comm), units.SignedDuration(t.exposed)}
}

func (p *trainingStep) sameTable(other subject) bool {
	return p.table() == other.(*trainingStep).table()
}

// table is what all points of one table share.
func (p *trainingStep) table() trainingStep {
	t := *p
	t.Bucket = 0
	return t
}

// compare orders points as tables do.
func (p *trainingStep) compare(o *trainingStep) int {
	return cmp.Or(
		cmp.Compare(p.model, o.model), cmp.Compare(p.text, o.text), cmp.Compare(p.Strategy, o.Strategy),
		cmp.Compare(p.Type, o.Type),
		cmp.Compare(p.Compression, o.Compression), cmp.Compare(p.Progress, o.Progress),
		cmp.Compare(p.World, o.World), cmp.Compare(p.Nodes, o.Nodes), cmp.Compare(p.PerNode, o.PerNode),
		cmp.Compare(p.title(), o.title()), cmp.Compare(p.device, o.device), cmp.Compare(p.params, o.params),
		cmp.Compare(p.layers, o.layers), cmp.Compare(p.Bucket, o.Bucket),
	)
}

// gatherTraining reads the training steps of all sides. pool is the dataset that all sides are of, nil where each has
// its own.
func gatherTraining(ctx context.Context, sides []*side, pool *result.Dataset) (*pointSet, []notice.Notice, error) {
	var points []*trainingStep
	var notes []notice.Notice
	number, parts := map[trainingStep]int32{}, partsOf(sides)
	err := byDataset(sides, pool, func(data *result.Dataset, sideOf map[string]*side, _ bool) error {
		files, unread := result.ReadStepRuns(data.StepFiles())
		rows, problems := result.MergeSteps(files)
		notes = slices.Concat(notes, unread, problems)
		for _, row := range rows {
			s := sideOf[row.File.Run.ID]
			if s == nil {
				continue // of a side that is compared with none
			}
			p := trainingOf(&row)
			p.who = whoOf(analysis.ContenderOf(&row.File.Run), parts)
			n, known := number[p]
			if !known {
				n = int32(len(points))
				number[p], points = n, append(points, &p)
			}
			s.addStep(n, &row)
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, nil, err
	}
	for _, s := range sides {
		s.index(len(points))
	}
	order := make([]int32, len(points))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int { return points[i].compare(points[j]) })
	return &pointSet{trainingSteps, order, func(point int32) subject { return points[point] }}, notes, nil
}

// addStep notes what a launch says of a point. A point whose rounds were cut off has no time that could stand for its
// launch.
func (s *side) addStep(point int32, row *result.StepRow) {
	r := row.Record
	e := entry{point: point, launch: s.number[row.File.Run.PairedBy()], status: r.Status}
	if e.status != result.OK {
		e.cause = r.Why.Fact()
	} else if e.seconds, e.step = r.Figures.Overlapped.Value, r.Figures; e.seconds <= 0 {
		return // no figure, and nothing that went wrong
	}
	s.entries = append(s.entries, e)
}
