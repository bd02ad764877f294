package step

import (
	"fmt"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"

	"github.com/shoenig/test"
)

// overlapping are rounds of 100 ms of computing and 10 ms of communication, of which the overlapped steps take so long.
func overlapping(seconds ...float64) (all []Round) {
	for _, s := range seconds {
		all = append(all, Round{Compute: 0.1, Comm: 0.01, Sequential: 0.11, Overlapped: s, ComputeAlone: 0.1,
			ComputeBusy: 0.11, CommAlone: 0.01, CommBusy: 0.01, Hidden: 0.009})
	}
	return all
}

func TestFindPoint(t *testing.T) {
	p := Point{Strategy: DDP, Bucket: 25 << 20, Type: coll.Float32, Progress: Thread}
	edited := func(rounds []Round, edit func(*Round)) []Round {
		for i := range rounds {
			edit(&rounds[i])
		}
		return rounds
	}
	even := func() []Round { return overlapping(0.1, 0.1, 0.1, 0.1, 0.1, 0.1) }
	costly := func() []Round { return overlapping(0.118, 0.119, 0.12, 0.121, 0.122, 0.123) }
	for name, k := range map[string]struct {
		rounds []Round
		want   string // codes
	}{
		"a world of one": {edited(even(), func(r *Round) { r.CommAlone, r.CommBusy = 0, 0 }), "communication-local"},
		"next to nothing": {edited(even(), func(r *Round) { r.Comm = 5e-5 }),
			"communication-negligible"},
		"nothing exposed": {overlapping(0.0999, 0.1, 0.1, 0.1, 0.1, 0.1001),
			"no-exposed-communication step-interference"},
		"one after the other": {edited(overlapping(0.101, 0.102, 0.103, 0.104, 0.105, 0.106), func(r *Round) {
			r.CommBusy, r.Hidden = 0.02, 0.0001
		}), "exposed-communication"},
		"slower than in turn": {costly(), "exposed-communication step-interference"},
		"too few rounds":      {costly()[:2], "exposed-communication step-interference"},
	} {
		f := FiguresOf(k.rounds)
		var codes []string
		for _, n := range FindPoint(p, &f) {
			codes = append(codes, string(n.Code()))
			if n.Code() == "step-interference" && (n.Severity == notice.Warning) != f.HasIntervals() {
				t.Errorf("%s: severity %v", name, n.Severity)
			}
		}
		test.EqOp(t, k.want, strings.Join(codes, " "), test.Sprint(name))
	}
	f := FiguresOf(costly())
	fact := FindPoint(p, &f)[0].Fact.(notice.ExposedCommunication)
	got := fmt.Sprintf("%s %.3f %.2f %.2f to %.2f", fact.Bucket, fact.Exposed.Value, fact.Overlap.Value,
		fact.Overlap.Lo, fact.Overlap.Hi)
	if got != "25 MiB 0.020 -1.05 -1.26 to -0.84" || fact.OverlapNote != notice.OverlapNegative {
		t.Error(got, fact.OverlapNote)
	}
}

func TestFindBucket(t *testing.T) {
	points := buckets(5<<20, 25<<20)
	steps := func(n int, overlapped float64) (all []Round) {
		for i := range n {
			all = append(all, made(overlapped+1e-4*float64(i%3)))
		}
		return all
	}
	for name, k := range map[string]struct {
		rounds [][]Round
		want   string // standing, bucket, and how many are the same, slower, have too few rounds
	}{
		"different": {[][]Round{steps(10, 0.13), steps(10, 0.12)}, fmt.Sprint(notice.FastestBucket, " 25 MiB 0 1 0")},
		"alike":     {[][]Round{steps(10, 0.12), steps(10, 0.12)}, fmt.Sprint(notice.SameBuckets, " 5 MiB 1 0 0")},
		"too few":   {[][]Round{steps(3, 0.13), steps(3, 0.12)}, fmt.Sprint(notice.SmallestMedian, " 25 MiB 0 0 1")},
		"one only":  {[][]Round{steps(8, 0.12)}, fmt.Sprint(notice.OnlyBucket, " 5 MiB 0 0 0")},
	} {
		points := points[:len(k.rounds)]
		best := LeastMedian(k.rounds)
		figures := FiguresOf(k.rounds[best])
		fact := FindBucket(points, Standings(points, k.rounds), best, &figures).Fact.(notice.BestBucket)
		got := fmt.Sprintf("%s %s %d %d %d", fact.Standing, fact.Bucket, len(fact.Same), len(fact.Slower),
			len(fact.TooFew))
		if got != k.want || (fact.Needed == 6) != (name == "too few") {
			t.Errorf("%s: %s, want %s", name, got, k.want)
		}
	}
}
