package preflight

import (
	"errors"
	"strings"
	"testing"

	"busbar/internal/bench"
	"busbar/internal/bench/benchtest"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/mpi"
	"busbar/rank/launch"

	"github.com/shoenig/test"
)

func TestCheckMPI(t *testing.T) {
	info := launch.Library{Name: "Open MPI 4.1.4",
		Facts: result.MPI{Path: "/lib/libmpi.so", ThreadLevel: mpi.ThreadMultiple.String()}}
	srun := launch.Started{Launcher: "srun"}
	used := preflights.MPIInUse{Library: "Open MPI 4.1.4", Path: "/lib/libmpi.so", ThreadLevel: "multiple",
		Launcher: "srun"}
	expect(t, "good", []Row{CheckMPI(info, srun, 4)}, used)
	expect(t, "one rank of srun", []Row{CheckMPI(info, srun, 1)}, used)
	alone, funneled := used, used
	alone.Launcher, funneled.ThreadLevel = "none", "funneled"
	expect(
		t,
		"alone",
		[]Row{CheckMPI(info, launch.Started{}, 1)},
		preflights.OneRankLaunch{MPIInUse: alone},
	)
	expect(t, "TCP", []Row{CheckMPI(launch.Library{Name: "TCP"}, srun, 4)},
		preflights.TCPInUse{Launcher: "srun"})
	info.Facts.ThreadLevel = mpi.ThreadFunneled.String()
	expect(t, "threads", []Row{CheckMPI(info, srun, 4)}, preflights.ThreadLevel{MPIInUse: funneled})
}

func TestSideChannelRow(t *testing.T) {
	ranks := ranksOf(2, "a", "b")
	expect(t, "open", []Row{SideChannelRow(nil, true, ranks)},
		preflights.SideChannel{State: preflights.ChannelOpen})
	expect(t, "alone", []Row{SideChannelRow(nil, false, ranks[:1])},
		preflights.SideChannel{State: preflights.ChannelUnneeded})
	expect(t, "deaf", []Row{SideChannelRow(nil, false, ranks)}, preflights.SideChannelClosed{Host: "a"})
	firewall := mergeRows([]Row{SideChannelRow([]int{2, 3}, true, ranks)}, ranks)
	expect(t, "firewall", firewall, preflights.SideChannelIncomplete{Ranks: 2, Of: 4, Host: "a"})
	test.SliceEqOp(t, []string{"b"}, firewall[0].where(ranks))
}

func TestJudgeClocks(t *testing.T) {
	compared := func(s units.Seconds) preflights.ClocksCompared {
		return preflights.ClocksCompared{Hosts: 2, Uncertainty: s}
	}
	for name, c := range map[string]struct {
		uncertainty float64
		nodes       int
		want        want
	}{
		"one host": {0, 1, preflights.OneClock{Reading: 21e-9}},
		"good":     {1.5e-6, 2, compared(1.5e-6)},
		"slow":     {300e-6, 2, preflights.ClocksUncertain{ClocksCompared: compared(300e-6)}},
	} {
		expect(t, name, []Row{JudgeClocks(c.uncertainty, c.nodes, 21e-9)}, c.want)
	}
}

// Trials are valid in worlds of any size, and detect errors.
func TestTryCase(t *testing.T) {
	corrupt := func(c coll.Case, rank int, out []byte) {
		if c.SizeBytes >= 1<<20 && rank == 1 {
			out[len(out)-1] ^= 1
		}
	}
	refuse := func(c coll.Case, rank int) error {
		if rank == 1 {
			return &bench.MemoryError{Needed: 1, Err: errors.New("no room")}
		}
		return nil
	}
	lacks := func(c coll.Case, _ int) error {
		if c.Collective == coll.AllGather {
			return &bench.UnsupportedError{Cause: notice.LibraryLacks{Problem: "it has none"}}
		}
		return nil
	}
	fine, failed := coded("collective-correct"), coded("collective-failed")
	for name, c := range map[string]struct {
		script benchtest.Script
		sizes  []int
		wants  [3]want
		status string // of a failed one
	}{
		"good": {benchtest.Script{}, []int{1, 2, 3, 8}, [3]want{fine, fine, fine}, ""},
		"corrupt": {benchtest.Script{Corrupt: corrupt}, []int{2},
			[3]want{fine, fine, coded("collective-wrong")},
			""},
		"memory":  {benchtest.Script{Refuse: refuse}, []int{3}, [3]want{failed, failed, failed}, "oom"},
		"lacking": {benchtest.Script{Refuse: lacks}, []int{2}, [3]want{failed, fine, fine}, "unsupported"},
	} {
		for _, n := range c.sizes {
			for r, err := range benchtest.Run(n, func(w bench.World) error {
				for i, k := range Trials(n) {
					got, err := Try(w, &benchtest.Fake{World: w, Script: &c.script}, k,
						bench.Options{Precision: 1, Iterations: 1, Check: 1, Average: bench.Max})
					if err != nil {
						return err
					}
					if w.Rank == 0 {
						var want want
						switch f := got.Fact.(type) {
						case preflights.CollectiveCorrect:
							want = preflights.CollectiveCorrect{Case: k.Point(), Ranks: n}
						case preflights.CollectiveWrong:
							want = preflights.CollectiveWrong{Case: k.Point(),
								Cause: notice.Kept{Fact: f.Cause.Fact.(notice.DataWrong)}}
						case preflights.CollectiveFailed:
							want = preflights.CollectiveFailed{Case: k.Point(), Status: c.status, Cause: f.Cause}
						}
						test.EqOp(t, notice.CodeOf(c.wants[i]), got.Code(), test.Sprint(name, k))
						expect(t, name+" "+k.String(), []Row{got}, want)
					}
				}
				return nil
			}) {
				if err != nil {
					t.Errorf("%s, world of %d, rank %d: %v", name, n, r, err)
				}
			}
		}
	}
}

// Rows of several hosts have the correct ranks, in the order of the checks.
func TestCheckSetups(t *testing.T) {
	ranks := ranksOf(2, "node1", "node2")
	all := make([]Setup, len(ranks))
	for i := range all {
		all[i] = Setup{who: ranks[i], Limits: limits{Files: 1024, Locked: unlimited, Shared: volume{tib, tib}},
			Node: node{CPUs: 8}}
		all[i].who.CPUs = "0-7"
	}
	all[2].Limits.Files = 10 // rank 2, on node2
	all[2].Limits.Shared, all[3].Limits.Shared = volume{gib, mib}, volume{gib, mib}
	rows := mergeRows(CheckSetups(all, 0.5), ranks)
	where := func(check string, v Verdict) string {
		for _, r := range rows {
			if r.Check == check && verdicts[r.Severity] == v {
				return strings.Join(r.where(ranks), " ")
			}
		}
		return ""
	}
	for _, c := range []struct {
		check string
		v     Verdict
		want  string
	}{
		{"CPUs", Passed, "node1 node2"}, {"open files", Problem, "rank 2 on node2"},
		{"open files", Passed, "node1 rank 3 on node2"},
		{"shared memory", Problem, "node2"}, {"shared memory", Passed, "node1"},
		{"locked memory", Passed, "node1 node2"}, {"hosts", Passed, "node1 node2"},
	} {
		test.EqOp(t, c.want, where(c.check, c.v), test.Sprint(c.check, c.v))
	}
	if rows[0].Check != "hosts" || rows[1].Check != "CPUs" {
		t.Errorf("the rows begin with %s, %s", rows[0].Check, rows[1].Check)
	}
}

// Containers of one machine share its processors, and each has its own /dev/shm.
func TestCheckContainers(t *testing.T) {
	ranks := ranksOf(2, "pod1", "pod2")
	all := make([]Setup, len(ranks))
	for i := range all {
		ranks[i].Machine, ranks[i].CPUs = "boot", "0-2"
		all[i] = Setup{who: ranks[i], Limits: limits{Shared: volume{gib, 300 * mib}}, Node: node{CPUs: 3}}
	}
	rows := mergeRows(CheckSetups(all, 0.5), ranks)
	expect(t, "CPUs", only("CPUs", rows), coded("oversubscribed"))
	expect(t, "shared memory", only("shared memory", rows),
		preflights.SharedMemory{Free: 300 * mib, Total: gib,
			Ranks: 2})
}
