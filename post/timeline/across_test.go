package timeline

import (
	"fmt"
	"slices"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
)

// Rank 2 computes 3 ms longer before each call: the others wait for it, and its own kernels are the shortest.
func late(rank, _, _ int) int64 {
	if rank == 2 {
		return 8 * msec
	}
	return 5 * msec
}

func TestPureTimeAndWaiting(t *testing.T) {
	a := compared(job{ranks: 4, steps: 5, sizes: mib(25, 25, 10), pure: msec, work: late}.ranksOf()...).Across
	must.Eq(t, []int{15, 0, 15}, []int{a.Matched, a.Alone, a.Uneven})
	isNear(t, "pure time of a rank", a.Pure, 15)
	isNear(t, "waiting, the mean over ranks", a.Waiting, 3*15*3/4.)
	for i, r := range a.Ranks {
		wait, last := 45.0, 0
		if i == 2 {
			wait, last = 0, 15
		}
		isNear(t, fmt.Sprint("waiting of rank ", i), r.Waiting, wait)
		must.EqOp(t, last, r.Last)
	}
	s := a.Straggler
	must.True(t, s != nil && s.Device == 2 && s.Share == 100)
	isNear(t, "its cost", s.Cost, 45)
	must.Eq(t, profiles.StragglerCauses{{Cause: profiles.SlowCompute, Own: 0.12, Others: 0.075}}, s.Found.Causes)
	must.Len(t, 5, a.Imbalance)
	must.EqOp(t, 2, a.Imbalance[0].Slowest)
	isNear(t, "imbalance", a.Imbalance[0].Spread, 100*(24/17.25-1))
	isNear(t, "waiting in a step", a.Imbalance[0].Waiting, 9*3/4.)
	must.Len(t, 2, a.Matches)
	m := a.Matches[0]
	must.True(t, m.Calls == 10 && *m.Bytes == 25<<20)
	isNear(t, "pure time of 25 MiB", m.Pure, 1)
	isNear(t, "its waiting", m.Waiting, 3*3/4.)
	isNear(t, "its pure bus bandwidth", *m.PureBusbw, 25*1024*1024*1.5/1e-3/1e9)
}

// Waiting before the first step belongs to no step.
func TestWaitingOutsideSteps(t *testing.T) {
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

func TestClockOffsets(t *testing.T) {
	for _, noSteps := range []bool{true, false} {
		a := compared(job{ranks: 3, steps: 4, sizes: mib(1, 2, 3), pure: msec, work: late, clock: 7 * msec,
			noSteps: noSteps}.ranksOf()...).Across
		must.EqOp(t, 12, a.Matched)
		isNear(t, "pure", a.Pure, 12)
		for i, r := range a.Ranks {
			isNear(t, fmt.Sprint("offset of rank ", i), *r.Offset, float64(-7*i))
		}
	}
}

func TestMatching(t *testing.T) {
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
		how     profiles.MatchMethod
	}{
		"numbers, of a trace that begins later": {job{numbered: true}, cut, 9, profiles.ByNumber},
		"steps, of which one is not whole":      {job{}, cut, 8, profiles.ByStep},
		"a recording without steps":             {job{noSteps: true}, nil, 12, profiles.ByStep},
		"without steps and with other calls":    {job{noSteps: true}, cut, 0, ""},
		"an order that differs in a step":       {job{}, swap, 10, profiles.ByStep},
		"unnamed communicator, another order": {job{}, func(d []Device) { swap(d); noGroups(d) }, 12,
			profiles.ByStep},
		"steps of one name":                       {job{}, nameSteps, 12, profiles.ByStep},
		"sends and receives":                      {job{}, named("send", "recv"), 6, profiles.ByStep},
		"kernels that send and receive, of two":   {job{}, named("ncclDevKernel_SendRecv"), 12, profiles.ByStep},
		"kernels that send and receive, of three": {job{ranks: 3}, named("ncclDevKernel_SendRecv"), 6, profiles.ByStep},
		"devices of unknown ranks": {job{}, func(d []Device) {
			for i := range d {
				d[i].Rank, d[i].World, d[i].ID = nil, 0, i
			}
		}, 12, profiles.ByStep},
		"numbers that are of different calls": {job{numbered: true}, func(d []Device) {
			for n := range d[1].seen {
				d[1].seen[n].seq++
			}
		}, 12, profiles.ByStep},
		"steps of one name, of which one rank lacks": {job{}, func(d []Device) {
			nameSteps(d)
			d[1].Steps, d[1].seen = d[1].Steps[:5], d[1].seen[:10]
		}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			j := c.job
			j.ranks, j.steps, j.sizes, j.pure, j.work = max(2, j.ranks), 6, mib(1, 2), msec, late
			d := j.ranksOf()
			if c.change != nil {
				c.change(d)
			}
			alone := -j.ranks * c.matched
			for i := range d {
				alone += len(d[i].seen)
			}
			tl := compared(d...)
			a := tl.Across
			must.Eq(t, []int{c.matched, alone, j.ranks}, []int{a.Matched, a.Alone, len(a.Ranks)})
			must.True(t, c.matched == 0 || len(a.How) == 1 && a.How[0].How == c.how, must.Sprint(a.How))
			unmatched := func(n notice.Notice) bool { return n.Fact == profiles.CallsUnmatched{Calls: alone} }
			must.EqOp(t, c.matched == 0, slices.ContainsFunc(tl.Notes, unmatched))
		})
	}
}

func noGroups(d []Device) {
	for i := range d {
		d[i].Groups[0] = Group{}
	}
}

func nameSteps(d []Device) {
	for i := range d {
		for s := range d[i].Steps {
			d[i].Steps[s].Name = "step"
		}
	}
}

func TestMissingRanks(t *testing.T) {
	d := job{ranks: 4, steps: 2, sizes: mib(1), pure: msec, work: late}.ranksOf()
	noGroups(d)
	for read, want := range map[int]string{1: "ranks-missing", 2: "ranks-missing communicators-unknown", 4: ""} {
		tl := compared(d[:read]...)
		must.EqOp(t, want, codesOf(tl.Notes))
		must.EqOp(t, read < 2, tl.Across == nil)
	}
}

// Two pairs of ranks with communicators of the same name: each has its own straggler, and a mixture would have another
// pure time.
func TestGroupsWithSameName(t *testing.T) {
	pair := func(members []int, more int64) []Device {
		d := job{ranks: 2, steps: 3, sizes: mib(4, 8), pure: msec, work: func(r, _, _ int) int64 {
			return more * int64(1+r)
		}}.ranksOf()
		for i := range d {
			d[i].Rank, d[i].World, d[i].Groups[0].Members = &members[i], 4, members
		}
		return d
	}
	devices := slices.Concat(pair([]int{0, 1}, msec), pair([]int{2, 3}, 5*msec))
	a := compared(devices...).Across
	must.EqOp(t, 12, a.Matched)
	isNear(t, "pure", a.Pure, 6)
	isNear(t, "waiting of rank 0", a.Ranks[0].Waiting, 6)
	isNear(t, "waiting of rank 2", a.Ranks[2].Waiting, 30)

	for i := range devices {
		devices[i].Groups[0].Members = nil
	}
	tl := compared(devices...)
	must.Eq(t, []int{0, 24}, []int{tl.Across.Matched, tl.Across.Alone})
	must.EqOp(t, "communicator-unclear calls-unmatched", codesOf(tl.Notes))
}

// Each rank was recorded twice: recordings are matched in chronological order.
func TestRankRecordedTwice(t *testing.T) {
	first := job{ranks: 2, steps: 2, sizes: mib(4), pure: msec, work: late, origin: 1000}.ranksOf()
	second := job{ranks: 2, steps: 2, sizes: mib(4), pure: 2 * msec, work: func(rank, _, _ int) int64 {
		return int64(5+3*rank) * msec
	}, clock: 7 * msec, origin: 900000000}.ranksOf()
	a := compared(second[0], first[1], first[0], second[1]).Across
	must.EqOp(t, 4, a.Matched)
	must.Len(t, 2, a.Ranks)
	isNear(t, "pure", a.Pure, 2+4)
	isNear(t, "waiting", a.Waiting, 2*3/2.)
	must.Len(t, 4, a.Imbalance)
	sum := 0.0
	for _, s := range a.Imbalance {
		sum += s.Waiting
		must.EqOp(t, s.Spread > 0, s.Waiting > 0)
	}
	isNear(t, "waiting in steps", sum, 2*3/2.)
	isNear(t, "offset, by the first recordings", *a.Ranks[1].Offset, 0)
}

func TestIncompleteStepsNotCompared(t *testing.T) {
	d := job{ranks: 3, steps: 3, sizes: mib(4), pure: msec, work: late}.ranksOf()
	d[2].Steps[1].Partial = &profiles.PartialStep{}
	a := compared(d...).Across
	must.Len(t, 3, a.Imbalance)
	must.True(t, a.Imbalance[0].Slowest == 2 && a.Imbalance[1].Slowest != 2)
	isNear(t, "computation of the steps that all have whole", a.Ranks[0].Compute, 10)
}
