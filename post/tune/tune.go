// Package tune finds where NCCL's own choice of algorithm, protocol and channels is significantly slower than another
// one, and writes that as the configuration of a tuner. docs/tune.md has the rules and the formats.
package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/input"
	"busbar/post/usage"
)

// Options are how results are read and judged.
type Options struct {
	result.MergeOptions
	Margin float64 // differences up to this share of the time are none
	Strict bool    // any row is wrong in 1 % of files, not in 5 %
	Seed   uint64
}

// forcing are the variables with which variants force what a tuner file sets.
var forcing = []string{"NCCL_ALGO", "NCCL_PROTO", "NCCL_MIN_NCHANNELS", "NCCL_MAX_NCHANNELS", "NCCL_MIN_CTAS",
	"NCCL_MAX_CTAS"}

// words are the algorithms and protocols of tuner files.
var words = []string{"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat", "ll", "ll128",
	"simple"}

// Choice is what a row sets, in the words of tuner files.
type Choice struct {
	Algorithm string `json:"algorithm"`
	Protocol  string `json:"protocol"`
	Channels  int    `json:"channels"`
}

// choiceOf is what the library reported of a point (rank --algorithms); zero unless it reported all, and of one that
// failed. What a variant forces does not count: NCCL uses fewer channels for small sizes, and may not obey.
func choiceOf(r *result.Record) Choice {
	if r.Path == nil || !r.Timed() {
		return Choice{}
	}
	c := Choice{wordOf(r.Path.Algorithm), wordOf(r.Path.Protocol), r.Path.Channels}
	if c.Algorithm == "" || c.Protocol == "" || c.Channels == 0 {
		c = Choice{}
	}
	return c
}

// wordOf is the word of tuner files for one of NCCL's; "" for another.
func wordOf(text string) string {
	for _, w := range words {
		if strings.EqualFold(strings.ReplaceAll(w, "_", ""), strings.ReplaceAll(text, "_", "")) {
			return w
		}
	}
	return ""
}

// place is what the rows of a tuner file distinguish beside the size.
type place struct {
	Collective coll.Collective `json:"collective"`
	Nodes      int             `json:"nodes"`
	Ranks      int             `json:"ranks"`
}

func placeOf(c analysis.Condition) place { return place{c.Collective, c.Nodes, c.World} }

// series is one variant at one point.
type series struct {
	choice Choice               // of all its launches; zero if they differ
	times  map[string][]float64 // s, by block
}

// sweep is the times of all variants.
type sweep struct {
	run    *result.Run       // the first
	fixed  []string          // what all launches must share
	forced map[string]string // by variant
	own    string            // the variant that leaves the choice to NCCL
	blocks []string
	tables map[place]analysis.Condition
	points map[analysis.Condition]map[string]*series
}

// Read finds the rows in the results that args name. The error of results that make no tuner file is a usage.Error.
func Read(ctx context.Context, args []string, o Options) (*Tuned, error) {
	o.NoSteps = true
	data, notes, err := input.Merge(ctx, args, o.MergeOptions)
	if err != nil {
		return nil, err
	}
	s, err := newSweep(data.Runs())
	if err != nil {
		return nil, usage.New(err)
	}
	var lacking analysis.Incomparable
	err = data.Each(func(row result.Row) error {
		if row.Record.Timed() && lacking.Add(row) {
			return context.Cause(ctx)
		}
		return cmp.Or(usage.New(s.add(row.Run, row.Record)), context.Cause(ctx))
	})
	if err != nil {
		return nil, err
	}
	t, err := s.judge(o)
	if err != nil {
		return nil, usage.New(err)
	}
	t.notices = slices.Concat(notes, data.Notes(), lacking.Notices(), t.notices)
	return t, nil
}

// newSweep checks that launches differ in nothing but the variables of forcing, and that one variant of several has
// none of them.
func newSweep(runs []*result.Run) (*sweep, error) {
	s := &sweep{forced: map[string]string{}, tables: map[place]analysis.Condition{},
		points: map[analysis.Condition]map[string]*series{}}
	for _, run := range runs {
		if err := s.check(run); err != nil {
			return nil, err
		}
	}
	var own []string
	for variant, forced := range s.forced {
		if forced == "" {
			own = append(own, variant)
		}
	}
	if slices.Sort(own); len(own) != 1 || len(s.forced) == 1 {
		return nil, fmt.Errorf("%d of %s (%q) set none of NCCL_ALGO, NCCL_PROTO and channels: measure one that sets "+
			"none, and others, like slurm/tune.yaml", len(own), units.Count(len(s.forced), "variant"), own)
	}
	s.own = own[0]
	return s, nil
}

// check checks one launch.
func (s *sweep) check(run *result.Run) error {
	fixed, forced := []string{"device " + run.Device, "backend " + run.Backend.Name, "library " + run.Backend.Title(),
		"settings " + run.Method.Settings().String()}, ""
	for _, name := range slices.Sorted(maps.Keys(run.Environment)) {
		switch text := name + "=" + run.Environment[name]; {
		case slices.Contains(forcing, name):
			forced += " " + text
		case strings.HasPrefix(name, "NCCL") && !strings.HasPrefix(name, "NCCL_DEBUG") && name != "NCCL_COMM_ID":
			fixed = append(fixed, text)
		}
	}
	if s.run == nil {
		s.run, s.fixed = run, fixed
	}
	for _, text := range slices.Concat(fixed, s.fixed) {
		if !slices.Contains(fixed, text) || !slices.Contains(s.fixed, text) {
			return fmt.Errorf("not all launches have %s: tune one cluster, library and configuration at a time", text)
		}
	}
	if other, seen := s.forced[run.Variant]; seen && other != forced {
		return fmt.Errorf("variant %q has two settings, %q and %q: name results of one", run.Variant, other, forced)
	}
	s.forced[run.Variant] = forced
	return nil
}

// add adds a point. Those of latency mode, of groups and of collectives that tuners do not know are left out, and those
// of operations issued together, which NCCL shows its tuner as one of their summed size.
func (s *sweep) add(run *result.Run, r *result.Record) error {
	c := analysis.ConditionOf(run, r)
	failed := r.Status == result.Timeout || r.Status == result.Wrong || r.Status == result.Failed
	if c.Mode != coll.Throughput || r.OfGroup() || c.Aggregate > 1 || !r.Timed() && !failed ||
		c.Collective < coll.AllReduce || c.Collective > coll.Reduce {
		return nil
	}
	at, table := placeOf(c), analysis.TableOf(c)
	if other, seen := s.tables[at]; seen && other != table {
		return fmt.Errorf("tuner files do not distinguish %s from %s: name results of one", other.Title(),
			table.Title())
	}
	s.tables[at] = table
	block := run.PairedBy()
	s.blocks = units.AddOnce(s.blocks, block)
	if s.points[c] == nil {
		s.points[c] = map[string]*series{}
	}
	choice, one := choiceOf(r), s.points[c][run.Variant]
	if one == nil {
		one = &series{choice, map[string][]float64{}}
		s.points[c][run.Variant] = one
	}
	if one.choice != choice {
		one.choice = Choice{}
	}
	if !failed {
		one.times[block] = append(one.times[block], r.Time.Seconds)
	}
	return nil
}

// row is the times by block, 0 without one; of cycles the median.
func (s *sweep) row(of *series) []float64 {
	times := make([]float64, len(s.blocks))
	for i, block := range s.blocks {
		if all := of.times[block]; all != nil {
			times[i] = stats.Median(all)
		}
	}
	return times
}

// candidate is a variant at a point, compared with NCCL's choice.
type candidate struct {
	analysis.Condition
	own     Choice // NCCL's
	variant string
	Choice
	stats.Compared
}

// candidates are all, in the order of tables, with a trial for each.
func (s *sweep) candidates(margin float64) (all []candidate, trials []stats.Trial) {
	for _, c := range slices.SortedFunc(maps.Keys(s.points), analysis.CompareConditions) {
		own := s.points[c][s.own]
		for _, v := range slices.Sorted(maps.Keys(s.forced)) { // one without a record ends a row, as one that failed
			if of := cmp.Or(s.points[c][v], &series{}); own != nil && v != s.own {
				all = append(all, candidate{Condition: c, own: own.choice, variant: v, Choice: of.choice})
				trials = append(trials, stats.Trial{A: s.row(own), B: s.row(of), Margin: margin})
			}
		}
	}
	return all, trials
}

// judge compares all variants with NCCL's choice at all points, as one family, and makes the rows.
func (s *sweep) judge(o Options) (*Tuned, error) {
	standard := stats.Standard{Alpha: stats.DefaultAlpha, Paired: true, Seed: o.Seed}
	if o.Strict {
		standard.Alpha = stats.StrictAlpha
	}
	all, trials := s.candidates(o.Margin)
	t, few := &Tuned{Own: s.own, Alpha: standard.Alpha, run: s.run}, 0
	for i, compared := range stats.Compare(trials, standard).Points {
		all[i].Compared = compared
		t.Pairs = max(t.Pairs, compared.N)
		if compared.N > 0 && compared.Basis != stats.AcrossLaunches {
			few++
		}
	}
	if t.Pairs == 0 {
		return nil, errors.New("no block has the throughput of the default and of a variant, without -m and of a " +
			"collective of tuner files: measure with slurm/campaign.sh")
	}
	if few > 0 {
		t.notices = append(t.notices, notice.New(notice.LaunchesMissing{Points: few, What: notice.PairsOfLaunches,
			Have:   []notice.Having{{Side: cmp.Or(t.Own, "default"), Launches: t.Pairs}},
			Needed: stats.FewestLaunches(standard.Alpha, true)}))
	}
	t.find(units.GroupBy(all, func(c candidate) analysis.Condition { return c.Condition }))
	if s.run.Rehearse {
		t.notices = append(t.notices, notice.New(notice.SimulatedRuns{}))
	}
	return t, nil
}

// find makes the rows, which reach from the smallest to the largest of adjacent sizes with the same choice. Rows of
// adjacent sizes meet halfway.
func (t *Tuned) find(points [][]candidate) {
	unknown, faster, last := map[string]int{}, 0, -1
	for i, variants := range points {
		best, n := fastest(variants, unknown), len(t.Rows)
		if best == nil {
			continue
		}
		at, size := placeOf(best.Condition), best.SizeBytes
		adjacent := n > 0 && last == i-1 && t.Rows[n-1].place == at
		if !adjacent || t.Rows[n-1].Choice != best.Choice {
			row := Row{place: at, Choice: best.Choice, Min: size}
			if adjacent {
				half := (t.Rows[n-1].Max + size) / 2
				t.Rows[n-1].Max, row.Min = half, half+1
			}
			t.Rows = append(t.Rows, row)
			n++
		}
		row := &t.Rows[n-1]
		row.Max = size
		row.Sizes = append(row.Sizes, Size{units.Bytes(size), best.variant, best.Value, best.Lo, best.Hi})
		faster, last = faster+1, i
	}
	for _, v := range slices.Sorted(maps.Keys(unknown)) {
		t.notices = append(t.notices, notice.New(notice.ChoiceUnknown{Points: unknown[v], Variant: v}))
	}
	t.notices = append(t.notices, notice.New(notice.TunerRows{Rows: len(t.Rows), Faster: faster, Points: len(points)}))
}

// fastest is the best of the variants with another choice that are significantly faster than NCCL's; nil of none. It
// counts those whose choice is unknown or NCCL's.
func fastest(variants []candidate, unknown map[string]int) (best *candidate) {
	for i := range variants {
		switch one := &variants[i]; {
		case one.Verdict != stats.Better:
		case one.Choice == Choice{} || one.Choice == one.own:
			unknown[one.variant]++
		case best == nil || one.Value < best.Value:
			best = one
		}
	}
	return best
}
