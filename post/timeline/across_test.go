package timeline

import (
	"fmt"
	"math"
	"slices"
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

func TestMatching(t *testing.T) {
	eachCall := func(d []Device, change func(rank int, n int, s *seen)) {
		for i := range d {
			for n := range d[i].seen {
				change(i, n, &d[i].seen[n])
			}
		}
	}
	named := func(names ...string) func([]Device) {
		return func(d []Device) {
			for i := range d {
				d[i].Collectives[1].Name = names[i%len(names)]
			}
		}
	}
	swap := func(d []Device) { d[1].seen[2], d[1].seen[3] = d[1].seen[3], d[1].seen[2] }
	cut := func(d []Device) { d[1].seen = d[1].seen[3:] }
	for name, c := range map[string]struct {
		job     job
		change  func([]Device)
		matched int
		how     notice.MatchMethod
	}{
		"numbers, of a trace that begins later": {job{numbered: true}, cut, 9, notice.ByNumber},
		"steps, of which one is not whole":      {job{}, cut, 8, notice.ByStep},
		"a recording without steps":             {job{noSteps: true}, nil, 12, notice.ByStep},
		"without steps and with other calls":    {job{noSteps: true}, cut, 0, ""},
		"an order that differs in a step":       {job{}, swap, 10, notice.ByStep},
		"no name of a communicator, another order": {job{}, func(d []Device) { swap(d); noGroups(d) }, 12,
			notice.ByStep},
		"steps of one name": {job{}, func(d []Device) { nameSteps(d, "step") }, 12,
			notice.ByStep},
		"sends and receives":                      {job{}, named("send", "recv"), 6, notice.ByStep},
		"kernels that send and receive, of two":   {job{}, named("ncclDevKernel_SendRecv"), 12, notice.ByStep},
		"kernels that send and receive, of three": {job{ranks: 3}, named("ncclDevKernel_SendRecv"), 6, notice.ByStep},
		"devices of unknown ranks":                {job{}, noRanks, 12, notice.ByStep},
		"numbers that are of different calls": {job{numbered: true}, func(d []Device) {
			eachCall(d, func(rank, _ int, s *seen) { s.seq += int64(rank) })
		}, 12, notice.ByStep},
		"steps of one name, of which one rank lacks": {job{}, func(d []Device) {
			nameSteps(d, "step")
			d[1].Steps, d[1].seen = d[1].Steps[:5], d[1].seen[:10]
		}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			j := c.job
			j.ranks, j.steps, j.sizes, j.pure, j.work = max(2, j.ranks), 6, mib(1, 2), msec, late
			d := j.ranksOf()
			calls := 0
			if c.change != nil {
				c.change(d)
			}
			for i := range d {
				calls += len(d[i].seen)
			}
			tl := compared(d...)
			a := tl.Across
			if a.Matched != c.matched || a.Alone != calls-j.ranks*c.matched || len(a.Ranks) != j.ranks {
				t.Errorf("%d matched, %d alone of %d ranks; want %d", a.Matched, a.Alone, len(a.Ranks), c.matched)
			}
			if c.matched > 0 && (len(a.How) != 1 || a.How[0].How != c.how) {
				t.Errorf("matched by %v, want %s", a.How, c.how)
			}
			if unmatched := slices.Contains(tl.Notes, Note{notice.CallsUnmatched{Calls: a.Alone},
				-1}); unmatched != (c.matched == 0) {
				t.Errorf("notes are %+v", tl.Notes)
			}
		})
	}
}

func noGroups(d []Device) {
	for i := range d {
		d[i].Groups[0] = Group{}
	}
}

func noRanks(d []Device) {
	for i := range d {
		d[i].Rank, d[i].World, d[i].ID = nil, 0, i
	}
}

func nameSteps(d []Device, name string) {
	for i := range d {
		for s := range d[i].Steps {
			d[i].Steps[s].Name = name
		}
	}
}

func TestRanksThatWereNotRead(t *testing.T) {
	d := job{ranks: 4, steps: 2, sizes: mib(1), pure: msec, work: late}.ranksOf()
	noGroups(d)
	for read, want := range map[int][]Note{
		1: {{notice.RanksMissing{Read: 1, World: 4}, -1}},
		2: {{notice.RanksMissing{Read: 2, World: 4}, -1}, {notice.CommunicatorsUnknown{}, -1}},
		4: nil,
	} {
		if tl := compared(d[:read]...); !slices.Equal(tl.Notes, want) || (tl.Across == nil) != (read < 2) {
			t.Errorf("%d of four: %+v, want %+v", read, tl.Notes, want)
		}
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

// Each rank was recorded twice: recordings are matched with each other in the order they were made.
func TestARankThatWasRecordedTwice(t *testing.T) {
	first := job{ranks: 2, steps: 2, sizes: mib(4), pure: msec, work: late, origin: 1000}.ranksOf()
	slower := func(rank, _, _ int) int64 { return int64(5+3*rank) * msec }
	other := func(rank int) int64 { return int64(rank) * 7 * msec }
	second := job{ranks: 2, steps: 2, sizes: mib(4), pure: 2 * msec, work: slower, clock: other,
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
