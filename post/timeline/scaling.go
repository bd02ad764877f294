package timeline

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// The kinds of scaling. Traces do not show which: it depends on what stayed the same between runs.
const (
	Strong = "strong" // the work per step: the global batch
	Weak   = "weak"   // the work per rank: its batch
)

// ReadScaled reads runs of one training at different world sizes, each from a file or a folder, compares them, and
// returns the one with the most GPUs. Without a kind, all paths are one run. The notices concern files, also with an
// error.
func ReadScaled(ctx context.Context, kind string, paths []string, o Options) (*Timeline, []notice.Notice, error) {
	if kind == "" {
		return Read(ctx, paths, o)
	}
	runs, notes, err := readRuns(ctx, paths, o)
	if err != nil {
		return nil, notes, err
	}
	found, err := scalingOf(kind, paths, runs)
	if err != nil {
		return nil, notes, err
	}
	shown := slices.MaxFunc(runs, func(a, b *Timeline) int { return cmp.Compare(len(a.Devices), len(b.Devices)) })
	shown.Scaling = found
	return shown, notes, nil
}

// scalingOf compares runs of one training at different world sizes with the smallest. The time of a step is the median
// over steps of the slowest rank's. An error names what a run lacks.
func scalingOf(kind string, paths []string, runs []*Timeline) (found []profiles.ScalingEfficiency, err error) {
	all := make([]scaled, len(runs))
	for i, t := range runs {
		if all[i], err = scaledOf(t); err != nil {
			return nil, fmt.Errorf("%s: %w", paths[i], err)
		}
		all[i].path = paths[i]
	}
	units.SortBy(all, func(s scaled) int { return s.ranks })
	for i, s := range all[1:] {
		if few := all[i]; few.ranks == s.ranks {
			return nil, fmt.Errorf("%s and %s have %s each: scaling compares different numbers", few.path, s.path,
				units.Count(few.ranks, "rank"))
		}
		found = append(found, efficiency(kind, all[0], s))
	}
	return found, nil
}

// scaled is a run's data for scaling.
type scaled struct {
	path  string
	ranks int
	step  float64 // ms
	steps int
	read  int // ranks included in the maximum
}

func scaledOf(t *Timeline) (s scaled, err error) {
	s.ranks = t.world()
	if s.ranks == 0 {
		return s, fmt.Errorf("nothing ran on a GPU while it was recorded")
	}
	slowest := map[step]float64{}
	for d := range units.Each(t.Devices) {
		if len(d.Steps) > 0 {
			s.read++
		}
		steps := d.stepsOf(0)
		for _, n := range d.whole() {
			slowest[steps[n]] = max(slowest[steps[n]], d.Steps[n].Span)
		}
	}
	maps.DeleteFunc(slowest, func(_ step, ms float64) bool { return ms <= 0 })
	if len(slowest) == 0 {
		return s, fmt.Errorf(
			"it has no steps, so there is no time to compare: record with profiler.step(), or with NVTX " +
				"ranges and --step-pattern",
		)
	}
	s.step, s.steps = stats.Median(slices.Collect(maps.Values(slowest))), len(slowest)
	return s, nil
}

func efficiency(kind string, few, many scaled) profiles.ScalingEfficiency {
	efficiency := stats.WeakScaling(few.step, many.step)
	if kind == Strong {
		efficiency = stats.StrongScaling(few.step, few.ranks, many.step, many.ranks)
	}
	e := profiles.ScalingEfficiency{
		Kind: kind, If: profiles.ScalingValid(kind), From: few.ranks, To: many.ranks,
		Percent: profiles.Whole(100 * efficiency), Step: seconds(many.step), FromStep: seconds(few.step),
		Speed: units.Factor(few.step / many.step), Ideal: units.Factor(float64(many.ranks) / float64(few.ranks)),
	}
	for _, s := range []scaled{few, many} {
		if s.read < s.ranks {
			e.Unread = append(e.Unread, profiles.RanksRead{Read: s.read, Of: s.ranks})
		}
	}
	if fewest := min(few.steps, many.steps); fewest < 3 {
		e.FewSteps = fewest
	}
	return e
}
