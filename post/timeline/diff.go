package timeline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/stats"
)

// Diff is what changed between the traces of two runs of one step. It is the JSON document of post timeline --diff.
type Diff struct {
	Tool   string        `json:"-"`
	Before DiffRun       `json:"before"`
	After  DiffRun       `json:"after"`
	Per    profiles.Span `json:"per"`       // what times are of: a step, or a whole recording
	Margin float64       `json:"margin_ms"` // smaller changes are no finding
	// computing is no finding: rank --step calibrates it in each launch
	Calibrated bool `json:"computing_calibrated,omitempty"`

	Parts     []Changed       `json:"parts"` // means over ranks, without the late one
	LateRank  string          `json:"late_rank,omitempty"`
	LateParts []Changed       `json:"late_rank_parts"` // less the mean of the other ranks
	Operators []Changed       `json:"operators"`       // that account for findings, the largest change first
	Notes     []notice.Notice `json:"-"`               // the result first
}

// DiffRun is one of the two runs.
type DiffRun struct {
	Path  string `json:"path"`
	Ranks int    `json:"ranks"` // read
	Steps int    `json:"steps"` // compared; 0: the whole recording
}

// Changed is a time before and after, in milliseconds, with the 95 % confidence interval of the difference over steps;
// null with too few steps, and then no change is significant.
type Changed struct {
	Part profiles.TimePart `json:"part"`
	// the kernel, copy or collective that is in this part
	Operator string `json:"operator,omitempty"`
	Rank     string `json:"rank,omitempty"` // that others wait for, or that runs the operator

	Before      float64  `json:"before_ms"`
	After       float64  `json:"after_ms"`
	Change      float64  `json:"change_ms"`
	Lo          *float64 `json:"lo_ms"`
	Hi          *float64 `json:"hi_ms"`
	Significant bool     `json:"significant"`

	found bool // significant, or without an interval large enough
}

// clear reports whether the 95 % interval excludes 0, if there is one.
func (c *Changed) clear() bool { return c.Lo == nil || *c.Lo > 0 || *c.Hi < 0 }

const (
	// diffAlpha is the family-wise false-positive rate over the whole, its seven parts, and the waiting for one rank.
	diffAlpha  = 0.05
	diffFamily = 9
	// diffMargin is the minimum change, as a share of the step: two runs of one step differ by about 0.5 %, which the
	// steps of one run do not show.
	diffMargin = 0.02
	// ownMargin is that of busbar's own steps on CPUs, which other processes share.
	ownMargin = 0.30
	// minOfPart is the minimum share of a part's change that an operator accounts for.
	minOfPart = 0.1
)

// differ compares two runs.
type differ struct {
	Diff
	runs [2]*runTimes
	late int // the lane that others wait for; -1: none
	rest []int
}

// ReadDiff compares two runs, each from a file or a folder. The notices concern files, also with an error. Runs of
// different steps are ErrDifferent.
func ReadDiff(ctx context.Context, paths [2]string, o Options) (*Diff, []notice.Notice, error) {
	runs, notes, err := readRuns(ctx, paths[:], o)
	if err != nil {
		return nil, notes, err
	}
	found, err := diffOf(paths, [2]*Timeline(runs))
	return found, notes, err
}

func diffOf(paths [2]string, runs [2]*Timeline) (*Diff, error) {
	d := &differ{Diff: Diff{Tool: runs[1].Tool, Per: perStep}}
	for i, run := range []*DiffRun{&d.Before, &d.After} {
		if len(runs[i].compared.lanes) == 0 {
			return nil, fmt.Errorf("nothing computed or communicated in %s", paths[i])
		}
		r := timesOf(runs[i])
		d.runs[i], *run = r, DiffRun{paths[i], len(r.lanes), len(r.steps)}
		d.Calibrated = d.Calibrated || r.own() && r.Unit() == "rank"
	}
	if d.Before.Steps == 0 {
		d.Per = perRecording
	}
	if err := d.same(); err != nil {
		return nil, err
	}
	d.findLate()
	whole := d.findParts()
	d.findOperators("", d.Parts, d.rest)
	if d.late >= 0 {
		d.findOperators(d.LateRank, d.LateParts, []int{d.late})
	}
	d.report(whole)
	return &d.Diff, nil
}

// compare returns the change of a series, and whether it is a finding, as one of several tests.
func (d *differ) compare(c Changed, tests int, of func(*runTimes) []float64) Changed {
	a, b := of(d.runs[0]), of(d.runs[1])
	s, strict := stats.ShiftOf(a, b, stats.Confidence), stats.ShiftOf(a, b, 1-diffAlpha/float64(tests))
	c.Before, c.After, c.Change = s.Before, s.After, s.Change
	c.found = math.Abs(s.Change) >= d.Margin
	if s.Known {
		c.Lo, c.Hi = &s.Lo, &s.Hi
		c.found = c.found && (strict.Lo > 0 || strict.Hi < 0)
		c.Significant = c.found
	}
	return c
}

// findLate sets the margin, and the late rank: the one for which waiting changed most, if that is a finding, or at
// least half of all waiting, and that is one.
func (d *differ) findLate() {
	share := diffMargin
	if d.Calibrated {
		share = ownMargin
	}
	for l := range d.runs[0].lanes {
		d.rest = append(d.rest, l)
	}
	for _, r := range d.runs {
		d.Margin += share / 2 * stats.Median(r.mean(profiles.WholeStep, d.rest))
	}
	all := d.compare(Changed{}, diffFamily, func(r *runTimes) []float64 { return r.sum(r.caused, d.rest, 1) })
	most := 0.0
	d.late = -1
	for l := range d.rest {
		c := d.compare(Changed{}, diffFamily*len(d.rest), func(r *runTimes) []float64 { return r.caused[l] })
		size := math.Abs(c.Change)
		half := all.found && c.clear() && size > math.Abs(all.Change)/2
		if size > most && (half || c.found) {
			most, d.late, d.LateRank = size, l, d.runs[1].lanes[l].recordings[0].Label
		}
	}
	if d.late >= 0 {
		d.rest = slices.Delete(d.rest, d.late, d.late+1)
	}
}

func minus(a, b []float64) []float64 {
	less := slices.Clone(a)
	for i := range less {
		less[i] -= b[i]
	}
	return less
}

// findParts sets the changes of the parts, and returns that of the whole; without computing if this is calibrated.
func (d *differ) findParts() (whole Changed) {
	for _, p := range partTimes {
		mean := func(r *runTimes) []float64 { return r.mean(p.part, d.rest) }
		c := d.compare(Changed{Part: p.part}, diffFamily, mean)
		switch {
		case p.part == profiles.WholeStep:
			if whole = c; d.Calibrated {
				whole = d.compare(c, diffFamily, func(r *runTimes) []float64 {
					return minus(mean(r), r.mean(profiles.Computing, d.rest))
				})
			}
			c.Significant = whole.Significant
		case p.part == profiles.WaitingForRanks && d.late >= 0:
			c.Rank = d.LateRank
			c = d.compare(c, diffFamily, func(r *runTimes) []float64 { return r.caused[d.late] })
			c.found, c.Significant = true, c.Lo != nil // by the tests that named the rank
		case p.part == profiles.PureComm, p.part == profiles.Computing && d.Calibrated: // not of the family
			c.found, c.Significant = false, false
		}
		d.Parts = append(d.Parts, c)
		if d.late >= 0 && p.local {
			d.LateParts = append(d.LateParts, d.compare(Changed{Part: p.part}, diffFamily,
				func(r *runTimes) []float64 { return minus(r.parts[p.part][d.late], mean(r)) }))
		}
	}
	return whole
}

// report states the result.
func (d *differ) report(whole Changed) {
	step := d.Parts[0]
	f := profiles.StepChange{Per: d.Per, Change: profiles.ChangedTime(whole.Change / 1e3),
		Computing: d.Calibrated, Before: seconds(step.Before), After: seconds(step.After),
		Parts: findings(d.Parts[1:], whole.Change)}
	f.Same = !whole.found && f.Parts == nil
	if whole.Lo != nil {
		f.Interval = profiles.ChangeInterval{Lo: seconds(*whole.Lo), Hi: seconds(*whole.Hi), Known: true}
	}
	if on := findings(d.LateParts, whole.Change); on != nil {
		f.LateRank, f.LateParts = d.LateRank, on
	}
	n := notice.New(f)
	if !f.Same && f.Interval.Lo > 0 {
		n.Severity = notice.Warning
	}
	d.Notes = []notice.Notice{n}
	for _, r := range d.runs {
		for _, n := range r.Notes {
			if n.Code() != notice.CodeOf(profiles.OwnTrace{}) && !slices.ContainsFunc(d.Notes, n.Equal) {
				d.Notes = append(d.Notes, n)
			}
		}
	}
}

// findings returns the findings: those in the direction of the whole's change first, by size.
func findings(parts []Changed, whole float64) (all []profiles.ChangedPart) {
	for _, p := range parts {
		if p.found {
			all = append(all, profiles.ChangedPart{Part: p.Part, Rank: p.Rank, Change: seconds(p.Change)})
		}
	}
	slices.SortStableFunc(all, func(a, b profiles.ChangedPart) int {
		return cmp.Compare(float64(b.Change)*math.Copysign(1, whole), float64(a.Change)*math.Copysign(1, whole))
	})
	return all
}

// findOperators sets the operators that account for findings. Each interval is its own.
func (d *differ) findOperators(rank string, parts []Changed, lanes []int) {
	times := map[*runTimes]map[operatorKey]*operatorTime{}
	for _, r := range d.runs {
		times[r] = r.operatorTimes(lanes)
	}
	for k := range joined(times[d.runs[0]], times[d.runs[1]]) {
		c := d.compare(Changed{Part: k.part, Operator: k.words(), Rank: rank}, 1, func(r *runTimes) []float64 {
			if o := times[r][k]; o != nil {
				return o.ms
			}
			return make([]float64, r.n)
		})
		c.Significant = c.Lo != nil
		if c.clear() && slices.ContainsFunc(parts, func(p Changed) bool {
			waits := k.part == profiles.PureExposed && p.Part == profiles.WaitingForRanks
			return p.found && (p.Part == k.part || waits) && math.Abs(c.Change) >= minOfPart*math.Abs(p.Change)
		}) {
			d.Operators = append(d.Operators, c)
		}
	}
	slices.SortFunc(d.Operators, func(a, b Changed) int {
		return cmp.Or(cmp.Compare(math.Abs(b.Change), math.Abs(a.Change)), cmp.Compare(a.Operator, b.Operator))
	})
}
