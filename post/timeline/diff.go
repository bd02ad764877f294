package timeline

import (
	"cmp"
	"context"
	"math"
	"reflect"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// Diff is what changed between the traces of two runs of one step. It is the JSON document of post timeline --diff.
type Diff struct {
	Tool   string        `json:"-"`
	Before DiffRun       `json:"before"`
	After  DiffRun       `json:"after"`
	Per    profiles.Span `json:"per"`       // what times are of: a step, or a whole recording
	Margin float64       `json:"margin_ms"` // smaller changes are no finding
	// Means over ranks, without the late one. The parts up to idle-unknown add up to the step.
	Parts []PartChange `json:"parts"`
	// what the rank that others wait for does longer, less the mean of the others
	LateRank  string           `json:"late_rank,omitempty"`
	OnRank    []PartChange     `json:"late_rank_parts"`
	Operators []OperatorChange `json:"operators"` // that account for significant parts, the largest change first
	// computing is not compared: rank --step calibrates it in each launch
	Calibrated bool `json:"computing_calibrated,omitempty"`

	Result notice.Fact     `json:"-"`
	Notes  []notice.Notice `json:"-"` // the result first
}

// DiffRun is one of the two runs.
type DiffRun struct {
	Path  string `json:"path"`
	Ranks int    `json:"ranks"` // read
	Steps int    `json:"steps"` // compared; 0: the whole recording
}

// Change is a time before and after, in milliseconds, with the 95 % confidence interval of the difference over steps;
// null with too few steps.
type Change struct {
	Before      float64  `json:"before_ms"`
	After       float64  `json:"after_ms"`
	Delta       float64  `json:"change_ms"`
	Lo          *float64 `json:"lo_ms"`
	Hi          *float64 `json:"hi_ms"`
	Significant bool     `json:"significant"`
}

// PartChange is the change of one part of the time.
type PartChange struct {
	Part profiles.TimePart `json:"part"`
	Rank string            `json:"rank,omitempty"` // that others wait for
	Change
}

// OperatorKind is what an operator is.
type OperatorKind string

// The kinds of operators.
const (
	KernelOperator     OperatorKind = "kernel"
	CopyOperator       OperatorKind = "copy"
	CollectiveOperator OperatorKind = "collective"
)

// OperatorChange is the change of the time of kernels or copies of one name, or of the exposed time of collectives.
type OperatorChange struct {
	Kind  OperatorKind `json:"kind"`
	Name  string       `json:"name"`
	Bytes int64        `json:"size_bytes,omitempty"`
	Ranks int          `json:"ranks,omitempty"`
	On    string       `json:"on,omitempty"` // the late rank, against the others; "": mean over the others
	Change
}

const (
	// diffAlpha is the family-wise false-positive rate of a diff: of the whole and of its parts.
	diffAlpha = 0.05
	// diffFamily is the number of tests: the whole, the parts that add up to it, and the waiting for a single rank.
	diffFamily = float64(profiles.WholeStep) + 2
	// diffMargin is the minimum change, as a share of the step: two runs of one step differ by about 0.5 %, which the
	// steps of one run do not show.
	diffMargin = 0.02
	// ownMargin is that of busbar's own steps on CPUs, which other processes share.
	ownMargin = 0.30
	// minOfPart is the minimum share of a part's change that an operator accounts for.
	minOfPart = 0.1
)

// ReadDiff compares two runs, each from a file or a folder. The notices concern files, also with an error. Runs of
// different steps are an *usage.Error.
func ReadDiff(ctx context.Context, paths [2]string, o Options) (*Diff, []notice.Notice, error) {
	var runs [2]*Timeline
	var notes []notice.Notice
	for i, path := range paths {
		run, problems, err := Read(ctx, []string{path}, o)
		notes = append(notes, problems...)
		if err != nil {
			return nil, notes, err
		}
		runs[i] = run
	}
	found, err := diffOf(paths, runs)
	return found, notes, err
}

// differ compares two runs.
type differ struct {
	*Diff
	runs [2]*runTimes
	late int // the lane that others wait for; -1: none
	rest []int
}

func diffOf(paths [2]string, runs [2]*Timeline) (*Diff, error) {
	if err := sameStep(paths, runs); err != nil {
		return nil, err
	}
	d := &differ{Diff: &Diff{Tool: runs[1].Tool, Per: perStep,
		Calibrated: runs[0].onThreads() && runs[1].onThreads()}}
	for i, run := range []*DiffRun{&d.Before, &d.After} {
		r := timesOf(runs[i])
		d.runs[i] = r
		*run = DiffRun{Path: paths[i], Ranks: len(r.lanes), Steps: len(r.steps)}
	}
	if d.Before.Steps*d.After.Steps == 0 {
		d.Per = perRecording
	}
	if err := d.sameCollectives(); err != nil {
		return nil, err
	}
	d.findLate()
	whole := d.whole()
	d.findParts(&whole)
	d.findOperators()
	d.report(whole)
	return d.Diff, nil
}

// onThreads reports whether all files are of busbar's own steps, computed by threads.
func (t *Timeline) onThreads() bool { return t.own() && t.Unit() == "rank" }

// compare returns the change of a series; judged with the number of tests in its family.
func (d *differ) compare(of func(*runTimes) []float64, tests float64) (c Change) {
	a, b := of(d.runs[0]), of(d.runs[1])
	s := stats.ShiftOf(a, b, stats.Confidence)
	c = Change{Before: s.Before, After: s.After, Delta: s.Change, Significant: math.Abs(s.Change) >= d.Margin}
	if s.Known {
		c.Lo, c.Hi = &s.Lo, &s.Hi
		strict := stats.ShiftOf(a, b, 1-diffAlpha/tests)
		c.Significant = c.Significant && (strict.Lo > 0 || strict.Hi < 0)
	}
	return c
}

// clear reports whether the 95 % interval excludes 0.
func (c *Change) clear() bool { return c.Lo != nil && (*c.Lo > 0 || *c.Hi < 0) }

// findLate sets the margin, and the late rank: the one for which the others wait longer or shorter by most, if that is
// significant, or at least half of a significant change of all waiting.
func (d *differ) findLate() {
	all := make([]int, len(d.runs[0].lanes))
	for i := range all {
		all[i] = i
	}
	share := diffMargin
	if d.Calibrated {
		share = ownMargin
	}
	for _, r := range d.runs {
		d.Margin += share / 2 * stats.Median(r.mean(profiles.WholeStep, all))
	}
	d.late, d.rest = -1, all
	sum := d.compare(func(r *runTimes) []float64 {
		waited := r.mean(profiles.WaitingForRanks, all)
		for i := range waited {
			waited[i] *= float64(len(all)) / max(1, float64(len(all)-1))
		}
		return waited
	}, diffFamily)
	most := 0.0
	for i := range all {
		of := func(r *runTimes) []float64 { return r.caused[i] }
		c := d.compare(of, diffFamily*float64(len(all)))
		half := sum.Significant && math.Abs(c.Delta) >= math.Abs(sum.Delta)/2 && (c.clear() || c.Lo == nil)
		if size := math.Abs(c.Delta); (c.Significant || half) && size > most {
			d.late, most = i, size
		}
	}
	if d.late >= 0 {
		d.rest = slices.Delete(slices.Clone(all), d.late, d.late+1)
		d.LateRank = d.label()
	}
}

func (d *differ) label() string { return d.runs[1].lanes[d.late].recordings[0].Label }

// whole returns the change of the step; without computing where that is not compared.
func (d *differ) whole() Change {
	return d.compare(func(r *runTimes) []float64 {
		all := r.mean(profiles.WholeStep, d.rest)
		if d.Calibrated {
			all = minus(all, r.mean(profiles.Computing, d.rest))
		}
		return all
	}, diffFamily)
}

func minus(a, b []float64) []float64 {
	less := slices.Clone(a)
	for i := range less {
		less[i] -= b[i]
	}
	return less
}

// findParts sets the changes of the parts. If one is significant, the interval of the whole is too: the parts keep the
// family-wise rate.
func (d *differ) findParts(whole *Change) {
	add := func(c PartChange, of func(*runTimes) []float64) {
		c.Change = d.compare(of, diffFamily)
		d.Parts = append(d.Parts, c)
	}
	for part := profiles.Computing; part <= profiles.PureComm; part++ {
		mean := func(r *runTimes) []float64 { return r.mean(part, d.rest) }
		switch {
		case part == profiles.WholeStep:
			explained := func(p PartChange) bool { return p.Significant && p.Delta*whole.Delta > 0 }
			whole.Significant = whole.Significant || math.Abs(whole.Delta) >= d.Margin && whole.clear() &&
				slices.ContainsFunc(d.Parts, explained)
			c := PartChange{Part: part, Change: d.compare(mean, diffFamily)}
			c.Significant = whole.Significant
			d.Parts = append(d.Parts, c)
			continue
		case part == profiles.WaitingForRanks && d.late >= 0:
			of := func(r *runTimes) []float64 { return r.caused[d.late] }
			add(PartChange{Part: part, Rank: d.LateRank}, of)
			if len(d.rest) > 1 {
				add(PartChange{Part: part}, func(r *runTimes) []float64 { return minus(mean(r), of(r)) })
			}
		default:
			add(PartChange{Part: part}, mean)
		}
		if part == profiles.PureComm || part == profiles.Computing && d.Calibrated { // not of the family
			d.Parts[len(d.Parts)-1].Significant = false
		}
	}
	for part := range profiles.WholeStep {
		if d.late < 0 || part == profiles.PureExposed || part == profiles.WaitingForRanks {
			continue
		}
		d.OnRank = append(d.OnRank, PartChange{Part: part, Change: d.compare(func(r *runTimes) []float64 {
			return minus(r.parts[d.late][part], r.mean(part, d.rest))
		}, diffFamily)})
	}
}

// report states the result.
func (d *differ) report(whole Change) {
	step := d.Parts[slices.IndexFunc(d.Parts, func(p PartChange) bool { return p.Part == profiles.WholeStep })]
	s := profiles.StepChange{Per: d.Per, Change: seconds(whole.Delta), Before: seconds(step.Before),
		After: seconds(step.After), Parts: significant(d.Parts, whole.Delta),
		Computing: profiles.BesideComputing(d.Calibrated), Untested: whole.Lo == nil}
	if whole.Lo != nil {
		s.Interval = profiles.ChangeInterval{Lo: seconds(*whole.Lo), Hi: seconds(*whole.Hi), Known: true}
	}
	if on := significant(d.OnRank, whole.Delta); len(on) > 0 {
		s.Late = profiles.RankItself{Rank: d.LateRank, Parts: on}
	}
	d.Result = profiles.FactOf(s, whole.Significant)
	n := notice.New(d.Result)
	if s.Untested {
		n.Severity = notice.Info
	}
	d.Notes = append([]notice.Notice{n}, d.Notes...)
	for _, r := range d.runs {
		for _, n := range r.Notes {
			same := func(o notice.Notice) bool { return reflect.DeepEqual(n.Fact, o.Fact) }
			if n.Code() != (profiles.OwnTrace{}).Code() && !slices.ContainsFunc(d.Notes, same) {
				d.Notes = append(d.Notes, n)
			}
		}
	}
}

// significant returns the significant parts: those that explain most of the whole's change first.
func significant(parts []PartChange, whole float64) (all profiles.ChangedParts) {
	for _, p := range parts {
		if p.Significant && p.Part != profiles.WholeStep {
			all = append(all, profiles.ChangedPart{Part: p.Part, Rank: p.Rank, Change: seconds(p.Delta)})
		}
	}
	slices.SortStableFunc(all, func(a, b profiles.ChangedPart) int {
		return cmp.Compare(explains(b.Change, whole), explains(a.Change, whole))
	})
	return all
}

// explains orders changes: those in the direction of the whole first, by size.
func explains(change units.Seconds, whole float64) float64 {
	return float64(change) * math.Copysign(1, whole)
}

// findOperators sets the operators that account for significant parts, and reports kernels that one run alone has.
func (d *differ) findOperators() {
	var rest, late [2]map[operatorKey][]float64
	for i, r := range d.runs {
		rest[i] = r.operatorTimes(d.rest)
		if d.late >= 0 {
			late[i] = r.operatorTimes([]int{d.late})
		}
	}
	d.oneSided(rest)
	at := func(all map[operatorKey][]float64, k operatorKey, r *runTimes) []float64 {
		if all[k] == nil {
			return make([]float64, r.n)
		}
		return all[k]
	}
	side := func(r *runTimes) int { return slices.Index(d.runs[:], r) }
	for k := range joined(rest) {
		d.addOperator(k, "", d.Parts, func(r *runTimes) []float64 { return at(rest[side(r)], k, r) })
	}
	for k := range joined(late) {
		d.addOperator(k, d.LateRank, d.OnRank, func(r *runTimes) []float64 {
			return minus(at(late[side(r)], k, r), at(rest[side(r)], k, r))
		})
	}
	slices.SortFunc(d.Operators, func(a, b OperatorChange) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Delta), math.Abs(a.Delta)), cmp.Compare(a.On, b.On),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.Bytes, b.Bytes))
	})
}

func joined(sides [2]map[operatorKey][]float64) map[operatorKey]bool {
	all := map[operatorKey]bool{}
	for _, side := range sides {
		for k := range side {
			all[k] = true
		}
	}
	return all
}

// addOperator adds an operator if it accounts for a share of a significant part. Its interval is its own.
func (d *differ) addOperator(k operatorKey, on string, parts []PartChange, of func(*runTimes) []float64) {
	least := 0.0
	for _, p := range parts {
		kind := map[profiles.TimePart]OperatorKind{
			profiles.Computing: KernelOperator, profiles.Copying: CopyOperator,
			profiles.PureExposed: CollectiveOperator, profiles.WaitingForRanks: CollectiveOperator,
		}[p.Part]
		if p.Significant && kind == k.kind {
			least = max(least, math.Abs(p.Delta))
		}
	}
	if least == 0 {
		return
	}
	c := d.compare(of, 1)
	if c.Significant = c.clear(); math.Abs(c.Delta) >= minOfPart*least && (c.Significant || c.Lo == nil) {
		d.Operators = append(d.Operators, OperatorChange{k.kind, k.name, k.bytes, k.ranks, on, c})
	}
}

// minOneSided is the minimum share of a step of a kernel that one run alone has.
const minOneSided = 0.001

// oneSided reports kernels that one run alone has.
func (d *differ) oneSided(sides [2]map[operatorKey][]float64) {
	for i, side := range []string{"before", "after"} {
		var keys []operatorKey
		for k, ms := range sides[i] {
			if least := minOneSided * stats.Median(d.runs[i].mean(profiles.WholeStep, d.rest)); k.kind == KernelOperator &&
				sides[1-i][k] == nil && stats.Median(ms) >= least {
				keys = append(keys, k)
			}
		}
		slices.SortFunc(keys, func(a, b operatorKey) int {
			return cmp.Or(cmp.Compare(stats.Median(sides[i][b]), stats.Median(sides[i][a])), cmp.Compare(a.name, b.name))
		})
		var names profiles.KernelNames
		for _, k := range keys {
			names = append(names, k.name)
		}
		if names != nil {
			d.Notes = append(d.Notes, notice.New(profiles.OneSided{Side: side, Kernels: names}))
		}
	}
}
