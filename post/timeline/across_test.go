package timeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
)

func isNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6*max(1, math.Abs(want)) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// Rank 2 computes 3 ms more before each call: the others wait for it, and its own kernels are the shortest.
func late(rank, step, call int) int64 {
	if rank == 2 {
		return 8 * msec
	}
	return 5 * msec
}

func TestPureTimeAndWaitingAreToldApart(t *testing.T) {
	a := compared(job{ranks: 4, steps: 5, sizes: mib(25, 25, 10), pure: msec, work: late}.ranksOf()...).Across
	if a.Matched != 15 || a.Alone != 0 || a.Uneven != 15 {
		t.Errorf("%d matched, %d alone, %d uneven, want 15, 0, 15", a.Matched, a.Alone, a.Uneven)
	}
	isNear(t, "pure time of a rank", a.Pure, 15)
	isNear(t, "waiting, the mean over ranks", a.Waiting, 3*15*3/4.)
	for i, r := range a.Ranks {
		wait, last := 45.0, 0
		if i == 2 {
			wait, last = 0, 15
		}
		isNear(t, fmt.Sprint("waiting of rank ", i), r.Waiting, wait)
		if r.Last != last {
			t.Errorf("rank %d was the last %d times, want %d", i, r.Last, last)
		}
	}
	if s := a.Straggler; s == nil || s.Device != 2 || s.Share != 100 {
		t.Fatalf("the rank that others wait for is %+v, want rank 2", s)
	}
	isNear(t, "its cost", a.Straggler.Cost, 45)
	if want := (notice.StragglerCauses{{Cause: notice.SlowCompute, Own: 0.12, Others: 0.075}}); !slices.Equal(
		a.Straggler.Found.Causes, want) {
		t.Errorf("causes %v, want %v", a.Straggler.Found.Causes, want)
	}
	if len(a.Imbalance) != 5 || a.Imbalance[0].Slowest != 2 {
		t.Fatalf("imbalance by step: %+v", a.Imbalance)
	}
	isNear(t, "imbalance", a.Imbalance[0].Spread, 100*(24/17.25-1))
	isNear(t, "waiting in a step", a.Imbalance[0].Waiting, 9*3/4.)
	if len(a.Matches) != 2 || a.Matches[0].Calls != 10 || *a.Matches[0].Bytes != 25<<20 {
		t.Fatalf("matched collectives: %+v", a.Matches)
	}
	isNear(t, "pure time of 25 MiB", a.Matches[0].Pure, 1)
	isNear(t, "its waiting", a.Matches[0].Waiting, 3*3/4.)
	isNear(t, "its pure bus bandwidth", *a.Matches[0].PureBusbw, 25*1024*1024*1.5/1e-3/1e9)
}

// Waiting for the first call, before there are steps, is none of a step's.
func TestWaitingOutsideStepsIsOfNone(t *testing.T) {
	d := job{ranks: 4, steps: 5, sizes: mib(25), pure: msec, work: late, numbered: true}.ranksOf()
	for i := range d {
		d[i].seen[0].step = -1
		if i != 2 {
			d[i].seen[0].start -= 1000 * msec
		}
	}
	tl := compared(d...)
	isNear(t, "waiting", tl.Across.Waiting, (1000+5*3)*3/4.)
	isNear(t, "waiting in steps", tl.Across.waitingInSteps, 4*3*3/4.)
	isNear(t, "cost", tl.Across.Straggler.Cost, 1000+5*3)
	isNear(t, "cost in steps", tl.Across.Straggler.costInSteps, 4*3)
	isNear(t, "what a step gains", tl.Advice[0].Gain, 4*3/5.)
}

func TestClocksDoNotMatterAndAreFound(t *testing.T) {
	clock := func(rank int) int64 { return int64(rank) * 7 * msec }
	for _, noSteps := range []bool{true, false} {
		a := compared(job{ranks: 3, steps: 4, sizes: mib(1, 2, 3), pure: msec, work: late, clock: clock,
			noSteps: noSteps}.ranksOf()...).Across
		if a.Matched != 12 {
			t.Errorf("%d matched, want 12: %s", a.Matched, a.How)
		}
		isNear(t, "pure", a.Pure, 12)
		for i, r := range a.Ranks {
			isNear(t, fmt.Sprint("offset of rank ", i), *r.Offset, float64(-7*i))
		}
	}
}

func TestTracesThatBeginAtDifferentCalls(t *testing.T) {
	sizes := mib(1, 2, 3, 4, 5)
	for _, c := range []struct {
		name    string
		job     job
		cut     int
		matched int
		how     string
	}{
		{"numbered", job{numbered: true}, 7, 23, "the number"},
		{"by the order of sizes", job{noSteps: true}, 4, 26, "their order in a communicator"},
		{"by steps", job{}, 7, 20, "their order in a step"}, // the step that is cut has fewer calls
		{"a whole step less: two shifts fit, and one clock tells", job{noSteps: true, host: "a", origin: 1000}, 5, 25,
			"their order in a communicator"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := c.job
			j.ranks, j.steps, j.sizes, j.pure, j.work = 2, 6, sizes, msec, equal(3)
			d := j.ranksOf()
			cutFront(&d[1], c.cut)
			a := compared(d...).Across
			if a.Matched != c.matched || !strings.Contains(a.How.String(), c.how) {
				t.Errorf("%d matched, %s; want %d %s", a.Matched, a.How, c.matched, c.how)
			}
			if a.Alone != 60-c.cut-2*c.matched {
				t.Errorf("%d alone", a.Alone)
			}
			isNear(t, "pure", a.Pure, float64(c.matched))
		})
	}
}

// Numbers of calls that are not alike are not those of one communicator.
func TestNumbersThatDisagreeAreNotBelieved(t *testing.T) {
	d := job{ranks: 2, steps: 6, sizes: mib(1, 2, 3), pure: msec, work: late, numbered: true}.ranksOf()
	for n := range d[1].seen {
		d[1].seen[n].seq++
	}
	if a := compared(d...).Across; a.Matched != 18 || a.How[0].How != notice.ByStep {
		t.Errorf("%d matched by %s", a.Matched, a.How)
	}
}

func TestWhatFitsSeveralWaysIsNotMatched(t *testing.T) {
	d := job{ranks: 2, steps: 6, sizes: mib(1, 2), pure: msec, work: late, noSteps: true}.ranksOf()
	cutFront(&d[1], 2)
	tl := compared(d...)
	if a := tl.Across; a.Matched != 0 || a.Alone != 22 || a.How != nil || len(tl.Notes) != 1 ||
		tl.Notes[0].Fact != (notice.CallsUnmatched{Calls: 22}) {
		t.Errorf("%d matched, %d alone: %s, %+v", a.Matched, a.Alone, a.How, tl.Notes)
	}
}

// Two pairs of ranks whose communicators have one name: each has its own late rank, and a mixture would have another
// pure time.
func TestGroupsOfOneNameAndOtherRanksAreNotMixed(t *testing.T) {
	pair := func(members []int, more int64) []Device {
		d := job{ranks: 2, steps: 3, sizes: mib(4, 8), pure: msec, work: func(r, _, _ int) int64 {
			return more * int64(1+r)
		}}.ranksOf()
		for i := range d {
			r := members[i]
			d[i].Rank, d[i].World, d[i].Groups[0].Members = &r, 4, members
		}
		return d
	}
	devices := slices.Concat(pair([]int{0, 1}, msec), pair([]int{2, 3}, 5*msec))
	a := compared(devices...).Across
	if a.Matched != 12 {
		t.Errorf("%d matched, want 12", a.Matched)
	}
	isNear(t, "pure", a.Pure, 6)
	isNear(t, "waiting of rank 0", a.Ranks[0].Waiting, 6)
	isNear(t, "waiting of rank 2", a.Ranks[2].Waiting, 30)

	for i := range devices {
		devices[i].Groups[0].Members = nil
	}
	tl := compared(devices...)
	if tl.Across.Matched != 0 || tl.Across.Alone != 24 || len(tl.Notes) == 0 ||
		tl.Notes[0].Code() != "communicator-unclear" {
		t.Errorf("without their ranks: %+v, %+v", tl.Across, tl.Notes)
	}
}

func TestWithoutCommunicatorsCallsOfAKindAreMatched(t *testing.T) {
	d := job{ranks: 2, steps: 3, sizes: mib(4, 8), pure: msec, work: late, noSteps: true}.ranksOf()
	for i := range d {
		d[i].Groups[0] = Group{}
	}
	// Two that run at once change places on one rank.
	d[1].seen[2], d[1].seen[3] = d[1].seen[3], d[1].seen[2]
	a := compared(d...).Across
	if a.Matched != 6 || !strings.Contains(a.How.String(), "the traces name no communicator") {
		t.Errorf("%d matched: %s", a.Matched, a.How)
	}
}

func TestSendsMeetReceives(t *testing.T) {
	d := job{ranks: 2, steps: 20, sizes: mib(4), pure: msec, work: func(rank, _, _ int) int64 {
		return int64(5+rank) * msec
	}}.ranksOf()
	for i := range d {
		d[i].Groups[0].Members = []int{0, 1}
		d[i].Collectives[0].Name = []string{"send", "recv"}[i]
		for n := range d[i].seen {
			d[i].seen[n].peer = int32(1 - i)
		}
	}
	a := compared(d...).Across
	if a.Matched != 20 || !strings.Contains(a.How.String(), "sender, receiver and order") || a.Uneven != 0 ||
		a.Straggler != nil {
		t.Errorf("%+v", a)
	}
	for n := range d[1].seen {
		d[1].seen[n].peer = -1
	}
	if a := compared(d...).Across; a.Matched != 0 || a.Alone != 40 {
		t.Errorf("without peers: %d matched, %d alone", a.Matched, a.Alone)
	}
}

// Kernels that send and receive are between two ranks where there are but two; among more nobody knows between which.
func TestExchangesAmongManyAreLeftOut(t *testing.T) {
	for ranks, matched := range map[int]int{2: 4, 3: 2} {
		d := job{ranks: ranks, steps: 2, sizes: mib(4, 8), pure: msec, work: late}.ranksOf()
		for i := range d {
			d[i].Collectives[1].Name = "ncclDevKernel_SendRecv"
		}
		if a := compared(d...).Across; a.Matched != matched || a.Alone != (4-matched)*ranks {
			t.Errorf("%d ranks: %d matched, %d alone", ranks, a.Matched, a.Alone)
		}
	}
}

func TestDevicesWithoutARankMatchToo(t *testing.T) {
	d := job{ranks: 2, steps: 3, sizes: mib(4), pure: msec, work: late}.ranksOf()
	for i := range d {
		d[i].Rank, d[i].World, d[i].ID = nil, 0, i
	}
	if a := compared(d...).Across; a == nil || a.Matched != 3 || len(a.Ranks) != 2 {
		t.Errorf("%+v", a)
	}
}

// Each rank was recorded twice: recordings are matched with each other in the order they were made.
func TestARankThatWasRecordedTwice(t *testing.T) {
	first := job{ranks: 2, steps: 2, sizes: mib(4), pure: msec, work: late, host: "a", origin: 1000}.ranksOf()
	slower := func(rank, _, _ int) int64 { return int64(5+3*rank) * msec }
	other := func(rank int) int64 { return int64(rank) * 7 * msec }
	second := job{ranks: 2, steps: 2, sizes: mib(4), pure: 2 * msec, work: slower, clock: other, host: "a",
		origin: 900000000}.ranksOf()
	a := compared(second[0], first[1], first[0], second[1]).Across
	if a.Matched != 4 || len(a.Ranks) != 2 {
		t.Fatalf("%+v", a)
	}
	isNear(t, "pure", a.Pure, 2+4)
	isNear(t, "waiting", a.Waiting, 2*3/2.)
	if len(a.Imbalance) != 4 {
		t.Fatalf("%d steps, want two of each recording", len(a.Imbalance))
	}
	sum := 0.0
	for _, s := range a.Imbalance {
		sum += s.Waiting
		if s.Waiting > 0 != (s.Spread > 0) {
			t.Errorf("the waiting of one recording is told of another: %+v", s)
		}
	}
	isNear(t, "waiting in steps", sum, 2*3/2.)
	isNear(t, "offset, by the first recordings", *a.Ranks[1].Offset, 0)
}

func TestStepsThatAreNotWholeAreNotCompared(t *testing.T) {
	d := job{ranks: 3, steps: 3, sizes: mib(4), pure: msec, work: late}.ranksOf()
	d[2].Steps[1].Partial = &notice.PartialStep{}
	a := compared(d...).Across
	if len(a.Imbalance) != 3 || a.Imbalance[0].Slowest != 2 || a.Imbalance[1].Slowest == 2 {
		t.Errorf("%+v", a.Imbalance)
	}
	isNear(t, "computation of the steps that all have whole", a.Ranks[0].Compute, 10)
}

func TestOneRankAloneIsNotCompared(t *testing.T) {
	if a := compared(job{ranks: 2, steps: 2, sizes: mib(4), pure: msec, work: late}.ranksOf()[0]).Across; a != nil {
		t.Errorf("%+v", a)
	}
}

// Computing, as a union and as a sum of kernels, is of the same steps where recordings differ in length.
func TestTimeOfKernelsIsOfTheStepsThatAllRanksHave(t *testing.T) {
	devices := job{ranks: 2, steps: 4, sizes: mib(16), pure: msec, work: late}.ranksOf()
	d := &devices[1]
	d.Steps[0].Name = "one that the other does not have"
	d.Busy += 1000 // outside steps
	a := compared(devices...).Across
	if a.Steps != 3 {
		t.Errorf("%d steps in common, want 3", a.Steps)
	}
	for _, r := range a.Ranks {
		if r.Kernels <= 0 || !near(r.Kernels, r.Compute) {
			t.Errorf("rank %d: kernels of %g ms, computing of %g", r.Device, r.Kernels, r.Compute)
		}
	}
}
