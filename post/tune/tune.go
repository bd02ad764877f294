// Package tune finds where NCCL's own choice of algorithm, protocol and channels is significantly slower than another
// one, and writes that as the configuration of a tuner. docs/tune.md has the rules and the formats.
package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
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

// algorithms and protocols are the words of tuner files.
var (
	algorithms = []string{"tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"}
	protocols  = []string{"ll", "ll128", "simple"}
)

// Choice is what a row sets, in the words of tuner files.
type Choice struct {
	Algorithm string `json:"algorithm"`
	Protocol  string `json:"protocol"`
	Channels  int    `json:"channels"`
}

// known reports whether all of it is.
func (c Choice) known() bool { return c.Algorithm != "" && c.Protocol != "" && c.Channels > 0 }

// choiceOf is what the library reported of a point (rank --algorithms), or else what the environment forces.
func choiceOf(run *result.Run, p *result.Path) Choice {
	if p == nil {
		p = &result.Path{}
	}
	env := run.Environment
	c := Choice{wordOf(cmp.Or(p.Algorithm, env["NCCL_ALGO"]), algorithms),
		wordOf(cmp.Or(p.Protocol, env["NCCL_PROTO"]), protocols), p.Channels}
	least := cmp.Or(env["NCCL_MIN_CTAS"], env["NCCL_MIN_NCHANNELS"])
	if most := cmp.Or(env["NCCL_MAX_CTAS"], env["NCCL_MAX_NCHANNELS"]); c.Channels == 0 && least == most {
		c.Channels, _ = strconv.Atoi(most) // 0: not forced
	}
	return c
}

// wordOf is the word of tuner files for one of NCCL's; "" for a list or an unknown word.
func wordOf(text string, words []string) string {
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "_", "") }
	i := slices.IndexFunc(words, func(w string) bool { return plain(w) == plain(text) })
	if i < 0 {
		return ""
	}
	return words[i]
}

// place is what the rows of a tuner file distinguish beside the size.
type place struct {
	Collective coll.Collective `json:"collective"`
	Nodes      int             `json:"nodes"`
	Ranks      int             `json:"ranks"`
}

// series is one variant at one point.
type series struct {
	choices []Choice          // of its launches, each once
	times   map[int][]float64 // s, by block
}

// sweep is the times of all variants.
type sweep struct {
	fixed  map[string]string // what all launches must share
	forced map[string]string // by variant
	own    string            // the variant that leaves the choice to NCCL
	blocks map[string]int
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
		if row.Record.Timed() && !lacking.Add(row) {
			if err := s.add(row.Run, row.Record); err != nil {
				return usage.New(err)
			}
		}
		return context.Cause(ctx)
	})
	if err != nil {
		return nil, err
	}
	t, err := s.judge(o)
	if err != nil {
		return nil, usage.New(err)
	}
	t.run = data.Runs()[0]
	t.notices = slices.Concat(notes, data.Notes(), lacking.Notices(), t.notices)
	return t, nil
}

// newSweep checks that launches differ in nothing but the variables of forcing, and that one variant has none of them.
func newSweep(runs []*result.Run) (*sweep, error) {
	s := &sweep{forced: map[string]string{}, blocks: map[string]int{}, tables: map[place]analysis.Condition{},
		points: map[analysis.Condition]map[string]*series{}}
	for _, run := range runs {
		if err := s.check(run); err != nil {
			return nil, err
		}
	}
	var own []string
	for _, variant := range slices.Sorted(maps.Keys(s.forced)) {
		if s.forced[variant] == "" {
			own = append(own, variant)
		}
	}
	switch {
	case len(own) == len(s.forced):
		return nil, errors.New("no variant sets NCCL_ALGO, NCCL_PROTO or channels: measure a plan such as slurm/tune.yaml")
	case own == nil:
		return nil, errors.New("no default: all launches set NCCL_ALGO, NCCL_PROTO or channels; measure without them too")
	case len(own) > 1:
		return nil, fmt.Errorf("several defaults: variants %q leave the choice to NCCL; name results of one", own)
	}
	s.own = own[0]
	return s, nil
}

// check checks one launch.
func (s *sweep) check(run *result.Run) error {
	fixed, forced := map[string]string{"device": run.Device, "backend": run.Backend.Name,
		"library": run.Backend.Title(), "settings": run.Method.Settings().String()}, ""
	for _, name := range slices.Sorted(maps.Keys(run.Environment)) {
		switch v := run.Environment[name]; {
		case slices.Contains(forcing, name):
			forced += " " + name + "=" + v
		case strings.HasPrefix(name, "NCCL") && !strings.HasPrefix(name, "NCCL_DEBUG") && name != "NCCL_COMM_ID":
			fixed[name] = v
		}
	}
	if s.fixed == nil {
		s.fixed = fixed
	}
	both := maps.Clone(s.fixed)
	maps.Copy(both, fixed)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if a, b := s.fixed[name], fixed[name]; a != b {
			return fmt.Errorf("two values of %s, %q and %q: tune one cluster, library and configuration at a time", name,
				a, b)
		}
	}
	if other, seen := s.forced[run.Variant]; seen && other != forced {
		return fmt.Errorf("variant %q has two settings, %q and %q: name results of one plan", run.Variant, other, forced)
	}
	s.forced[run.Variant] = forced
	return nil
}

// add adds a point. Those of latency mode, of groups and of collectives that tuners do not know are left out.
func (s *sweep) add(run *result.Run, r *result.Record) error {
	c := analysis.ConditionOf(run, r)
	if c.Mode != coll.Throughput || r.OfGroup() || c.Collective < coll.AllReduce || c.Collective > coll.Reduce {
		return nil
	}
	at, table := place{c.Collective, c.Nodes, c.World}, analysis.TableOf(c)
	if other, seen := s.tables[at]; seen && other != table {
		return fmt.Errorf("tuner files do not distinguish %s from %s: name results of one", other.Title(), table.Title())
	}
	s.tables[at] = table
	block, seen := s.blocks[run.PairedBy()]
	if !seen {
		block = len(s.blocks)
		s.blocks[run.PairedBy()] = block
	}
	if s.points[c] == nil {
		s.points[c] = map[string]*series{}
	}
	one := s.points[c][run.Variant]
	if one == nil {
		one = &series{times: map[int][]float64{}}
		s.points[c][run.Variant] = one
	}
	if choice := choiceOf(run, r.Path); !slices.Contains(one.choices, choice) {
		one.choices = append(one.choices, choice)
	}
	one.times[block] = append(one.times[block], r.Time.Seconds)
	return nil
}

// row is the times by block, 0 without one; of cycles the median.
func (s *sweep) row(of *series) []float64 {
	times := make([]float64, len(s.blocks))
	for block, all := range of.times {
		times[block] = stats.Median(all)
	}
	return times
}

// candidate is a variant at a point, compared with NCCL's choice.
type candidate struct {
	variant string
	Choice
	stats.Trial
	stats.Compared
}

// measured is one point and its variants.
type measured struct {
	analysis.Condition
	variants []candidate
}

// place is what rows of the point share.
func (m measured) place() place { return place{m.Collective, m.Nodes, m.World} }

// measured are the points that NCCL's choice was measured at, in the order of tables.
func (s *sweep) measured(margin float64) (points []measured) {
	for _, c := range slices.SortedFunc(maps.Keys(s.points), analysis.CompareConditions) {
		own := s.points[c][s.own]
		if own == nil {
			continue
		}
		m := measured{Condition: c}
		for _, v := range slices.Sorted(maps.Keys(s.points[c])) {
			if of := s.points[c][v]; v != s.own {
				one := candidate{variant: v, Trial: stats.Trial{A: s.row(own), B: s.row(of), Margin: margin}}
				if len(of.choices) == 1 {
					one.Choice = of.choices[0]
				}
				m.variants = append(m.variants, one)
			}
		}
		points = append(points, m)
	}
	return points
}

// judge compares all variants with NCCL's choice at all points, as one family, and makes the rows.
func (s *sweep) judge(o Options) (*Tuned, error) {
	standard := stats.Standard{Alpha: stats.DefaultAlpha, Paired: true, Seed: o.Seed}
	if o.Strict {
		standard.Alpha = stats.StrictAlpha
	}
	points := s.measured(o.Margin)
	var trials []stats.Trial
	for _, m := range points {
		for _, one := range m.variants {
			trials = append(trials, one.Trial)
		}
	}
	compared, k := stats.Compare(trials, standard), 0
	t := &Tuned{Own: s.own, Alpha: standard.Alpha, Tested: compared.Tested}
	for _, m := range points {
		for i := range m.variants {
			m.variants[i].Compared = compared.Points[k]
			t.Pairs, k = max(t.Pairs, compared.Points[k].N), k+1
		}
	}
	if t.Pairs == 0 {
		return nil, errors.New("no block has times of the default and of a variant: measure with slurm/campaign.sh")
	}
	if few := len(trials) - t.Tested; few > 0 {
		t.notices = append(t.notices, notice.New(notice.LaunchesMissing{Points: few, What: notice.PairsOfLaunches,
			Have:   []notice.Having{{Side: cmp.Or(t.Own, "default"), Launches: t.Pairs}},
			Needed: stats.FewestLaunches(standard.Alpha, true)}))
	}
	t.find(points, standard)
	return t, nil
}

// find makes the rows: adjacent sizes with the same choice are one. Rows meet halfway between sizes, and end at the
// smallest and largest size measured.
func (t *Tuned) find(points []measured, standard stats.Standard) {
	unknown, faster := map[string]int{}, 0
	var open []candidate // of the last row
	for i, m := range points {
		best := m.best(unknown)
		if best == nil {
			open = nil
			continue
		}
		faster++
		size := func(j int) int64 { // the size itself beside the smallest and the largest
			if j < 0 || j == len(points) || points[j].place() != m.place() {
				return m.SizeBytes
			}
			return points[j].SizeBytes
		}
		if open == nil || t.Rows[len(t.Rows)-1].place != m.place() || open[0].Choice != best.Choice {
			row := Row{place: m.place(), Choice: best.Choice, Min: m.SizeBytes}
			if before := size(i - 1); before < m.SizeBytes {
				row.Min = (before+m.SizeBytes)/2 + 1
			}
			t.Rows, open = append(t.Rows, row), nil
		}
		open = append(open, *best)
		row := &t.Rows[len(t.Rows)-1]
		row.Max = (m.SizeBytes + size(i+1)) / 2
		row.Sizes, row.Variants = append(row.Sizes, m.SizeBytes), append(row.Variants, best.variant)
		r := gain(open, standard)
		row.Ratio, row.Lo, row.Hi = r.Value, r.Lo, r.Hi
	}
	for _, v := range slices.Sorted(maps.Keys(unknown)) {
		t.notices = append(t.notices, notice.New(notice.ChoiceUnknown{Points: unknown[v], Variant: v}))
	}
	t.notices = append(t.notices, notice.New(notice.TunerRows{Rows: len(t.Rows), Faster: faster, Points: len(points)}))
}

// best is the fastest of the variants that are significantly faster than NCCL's choice; nil of none. It counts those
// whose choice is unknown.
func (m measured) best(unknown map[string]int) (best *candidate) {
	for i := range m.variants {
		switch one := &m.variants[i]; {
		case one.Verdict != stats.Better:
		case !one.known():
			unknown[one.variant]++
		case best == nil || one.Value < best.Value:
			best = one
		}
	}
	return best
}

// gain is the ratio of the times over the sizes of a row: in each block the geometric mean.
func gain(sizes []candidate, standard stats.Standard) stats.Ratio {
	one := stats.Trial{A: make([]float64, len(sizes[0].A)), B: make([]float64, len(sizes[0].A))}
	for block := range one.A {
		sum, n := 0.0, 0.0
		for _, c := range sizes {
			if a, b := c.A[block], c.B[block]; a > 0 && b > 0 {
				sum, n = sum+math.Log(b/a), n+1
			}
		}
		if n > 0 {
			one.A[block], one.B[block] = 1, math.Exp(sum/n)
		}
	}
	return stats.Compare([]stats.Trial{one}, standard).Points[0].Ratio
}
