package step

import (
	"fmt"

	"busbar/internal/stats"
)

// Contrast compares the best points of two groups that differ by one thing. Groups are measured one after another, so
// that rounds are no pairs: a machine that became slower meanwhile counts as a difference.
type Contrast struct {
	What  string // type, compression, progress, strategy
	A, B  int    // the points, A the earlier group's
	Ratio Figure // overlapped step of B by that of A; the interval is of 95 % over all contrasts together
	Told  bool   // rounds are enough for the interval
}

// Differ says whether the two are told apart.
func (c *Contrast) Differ() bool { return c.Told && (c.Ratio.Lo > 1 || c.Ratio.Hi < 1) }

// Contrasts compares each two groups that differ by their type, compression, progress or strategy alone.
//
// An interval goes from end to end of those of the two medians, which is wider than it has to be: so it holds although
// which bucket stands for its group was seen in the same rounds.
func Contrasts(points []Point, rounds [][]Round) (all []Contrast) {
	var best []int // points
	for _, group := range Groups(points) {
		if i := bestOf(group, rounds); i >= 0 {
			best = append(best, i)
		}
	}
	for k, b := range best {
		for _, a := range best[:k] {
			if what := difference(points[a].Group(), points[b].Group()); what != "" {
				all = append(all, Contrast{What: what, A: a, B: b})
			}
		}
	}
	level := 1 - (1-stats.Confidence)/float64(2*len(all)) // two intervals make one of the ratio
	for i := range all {
		c := &all[i]
		a, loA, hiA, toldA := stats.MedianAt(each(rounds[c.A], overlapped), level)
		b, loB, hiB, toldB := stats.MedianAt(each(rounds[c.B], overlapped), level)
		c.Ratio.Value = b / a
		if c.Told = toldA && toldB; c.Told {
			c.Ratio.Lo, c.Ratio.Hi = loB/hiA, hiB/loA
		}
	}
	return all
}

// difference is the one thing that two groups differ by; "" if they differ by more.
func difference(a, b Point) (what string) {
	differences := 0
	for _, d := range []struct {
		what   string
		differ bool
	}{{"strategy", a.Strategy != b.Strategy}, {"type", a.Type != b.Type}, {"compression", a.Compression != b.Compression},
		{"progress", a.Progress != b.Progress}} {
		if d.differ {
			what, differences = d.what, differences+1
		}
	}
	if differences != 1 {
		return ""
	}
	return what
}

// String is how much longer B takes than A: "-3.1 % [-4.0, -2.2]", "no difference [-1.0, +0.8] %", "too few rounds".
func (c *Contrast) String() string {
	percent := func(ratio float64) float64 { return 100 * (ratio - 1) }
	switch {
	case !c.Told:
		return "too few rounds"
	case c.Differ():
		return fmt.Sprintf("%+.1f %% [%+.1f, %+.1f]", percent(c.Ratio.Value), percent(c.Ratio.Lo), percent(c.Ratio.Hi))
	}
	return fmt.Sprintf("no difference [%+.1f, %+.1f] %%", percent(c.Ratio.Lo), percent(c.Ratio.Hi))
}
