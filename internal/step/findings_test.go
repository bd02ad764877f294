package step

import (
	"fmt"
	"slices"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
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
	alone := overlapping(0.1, 0.1, 0.1, 0.1, 0.1, 0.1)
	for i := range alone {
		alone[i].CommAlone, alone[i].CommBusy = 0, 0
	}
	little := overlapping(0.1, 0.1, 0.1, 0.1, 0.1, 0.1)
	for i := range little {
		little[i].Comm = 5e-5
	}
	apart := overlapping(0.101, 0.102, 0.103, 0.104, 0.105, 0.106)
	for i := range apart {
		apart[i].CommBusy, apart[i].Hidden = 0.02, 0.0001
	}
	inTurn := overlapping(0.118, 0.119, 0.12, 0.121, 0.122, 0.123)
	for i := range inTurn {
		inTurn[i].Sequential = inTurn[5-i].Overlapped
	}
	var (
		local, negligible   = notice.CommunicationLocal{}.Code(), notice.CommunicationNegligible{}.Code()
		exposed, none       = notice.ExposedCommunication{}.Code(), notice.NoExposedCommunication{}.Code()
		costs, interference = notice.OverlapCosts{}.Code(), notice.StepInterference{}.Code()
		speedup, noSpeedup  = notice.StepSpeedup{}.Code(), notice.NoStepSpeedup{}.Code()
	)
	costly := overlapping(0.118, 0.119, 0.12, 0.121, 0.122, 0.123)
	for name, k := range map[string]struct {
		rounds []Round
		want   []notice.Code
		loss   notice.OverlapLoss
		note   notice.OverlapNote
		parts  []notice.StepPartNote
	}{
		"a world of one":  {alone, []notice.Code{local}, "", "", nil},
		"next to nothing": {little, []notice.Code{negligible}, "", "", nil},
		"one after the other": {apart, []notice.Code{exposed, interference, interference, speedup}, "", "",
			[]notice.StepPartNote{notice.ApartComputation, notice.ApartCommunication}},
		"no slower than in turn": {
			inTurn, []notice.Code{costs, interference, noSpeedup}, "", notice.OverlapNegative, []notice.StepPartNote{""},
		},
		"slower than in turn": {
			costly, []notice.Code{costs, interference, speedup}, notice.OverlapLoses, notice.OverlapNegative,
			[]notice.StepPartNote{""},
		},
		"maybe slower": {overlapping(0.102, 0.104, 0.111, 0.112, 0.113, 0.114),
			[]notice.Code{exposed, interference, noSpeedup}, "", notice.OverlapNotSignificant, []notice.StepPartNote{""}},
		"maybe faster": {overlapping(0.102, 0.104, 0.105, 0.107, 0.111, 0.113),
			[]notice.Code{exposed, interference, noSpeedup}, "", notice.OverlapNotSignificant, []notice.StepPartNote{""}},
		"too few rounds": {costly[:2], []notice.Code{exposed, interference, speedup}, "", notice.OverlapNotSignificant,
			[]notice.StepPartNote{""}},
		"nothing exposed": {
			overlapping(0.0999, 0.1, 0.1, 0.1, 0.1, 0.1001), []notice.Code{none, interference, speedup}, "", "",
			[]notice.StepPartNote{""},
		},
	} {
		f := FiguresOf(k.rounds)
		var codes []notice.Code
		var parts []notice.StepPartNote
		for _, n := range FindPoint(p, &f) {
			codes = append(codes, n.Code())
			few := notice.FewRounds{}
			switch fact := n.Fact.(type) {
			case notice.ExposedCommunication:
				few = fact.FewRounds
				if fact.OverlapNote != k.note {
					t.Errorf("%s: overlap note %q, want %q", name, fact.OverlapNote, k.note)
				}
			case notice.OverlapCosts:
				few = fact.FewRounds
				if fact.OverlapNote != k.note || fact.Loss != k.loss {
					t.Errorf("%s: %+v", name, fact)
				}
			case notice.StepInterference:
				few, parts = fact.FewRounds, append(parts, fact.Note)
				if warned := n.Severity == notice.Warning; warned != f.HasIntervals() {
					t.Errorf("%s: severity %v", name, n.Severity)
				}
			default:
				continue
			}
			if (few.Rounds > 0) != (len(k.rounds) < few.Needed) {
				t.Errorf("%s: %+v of %d rounds", name, few, len(k.rounds))
			}
		}
		if !slices.Equal(codes, k.want) || !slices.Equal(parts, k.parts) {
			t.Errorf("%s: %v %q, want %v %q", name, codes, parts, k.want, k.parts)
		}
	}
	f := FiguresOf(costly)
	fact := FindPoint(p, &f)[0].Fact.(notice.OverlapCosts)
	if got := fmt.Sprintf("%s %.3f %.2f %.2f to %.2f", fact.Bucket, fact.Exposed.Value, fact.Overlap.Value,
		fact.Overlap.Lo, fact.Overlap.Hi); got != "25 MiB 0.020 -1.05 -1.26 to -0.84" {
		t.Error(got)
	}
}

func TestFindBucket(t *testing.T) {
	points := []Point{{Strategy: DDP, Bucket: 5 << 20, Type: coll.Float32},
		{Strategy: DDP, Bucket: 25 << 20, Type: coll.Float32}}
	rounds := func(n int, overlapped float64) (all []Round) {
		for i := range n {
			all = append(all, Round{Compute: 0.1, Comm: 0.05, Sequential: 0.15, Overlapped: overlapped + 1e-4*float64(i%3)})
		}
		return all
	}
	for name, k := range map[string]struct {
		rounds   [][]Round
		standing notice.BucketStanding
		bucket   notice.BucketSize
		lists    [4]int // same, slower, too few, not compared
	}{
		"different": {[][]Round{rounds(10, 0.13), rounds(10, 0.12)}, notice.FastestBucket, "25M", [4]int{0, 1}},
		"alike":     {[][]Round{rounds(10, 0.12), rounds(10, 0.12)}, notice.SameBuckets, "5M", [4]int{1}},
		"too few":   {[][]Round{rounds(3, 0.13), rounds(3, 0.12)}, notice.SmallestMedian, "25M", [4]int{2: 1}},
		"one only":  {[][]Round{rounds(8, 0.12)}, notice.OnlyBucket, "5M", [4]int{}},
	} {
		points := points[:len(k.rounds)]
		best := LeastMedian(k.rounds)
		figures := FiguresOf(k.rounds[best])
		fact := FindBucket(points, Standings(points, k.rounds), best, &figures).Fact.(notice.BestBucket)
		lists := [4]int{len(fact.Same), len(fact.Slower), len(fact.TooFew), len(fact.NotCompared)}
		if fact.Standing != k.standing || fact.Bucket != k.bucket || lists != k.lists {
			t.Errorf("%s: %+v", name, fact)
		}
		if name == "different" && (fact.Slower[0].Bucket != "5M" || fact.Slower[0].By.Lo <= 0 ||
			fact.Step.Hi <= fact.Step.Lo) {
			t.Errorf("%+v", fact)
		}
		if name == "too few" && (fact.Rounds != 3 || fact.Needed != 6) {
			t.Errorf("%+v", fact)
		}
	}
}
