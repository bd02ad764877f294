package main

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"busbar/cudart"
	"busbar/internal/bench"
	"busbar/internal/bench/benchtest"
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/mpi"
)

func TestCheckMPI(t *testing.T) {
	info := mpi.Info{Name: "Open MPI 4.1.4", LibMPIPath: "/lib/libmpi.so", ThreadLevel: mpi.ThreadMultiple}
	srun := mpi.Launch{Name: "srun"}
	expect(t, "good", []row{checkMPI(info, srun, 4)}, want{passed, "Open MPI 4.1.4 (/lib/libmpi.so), thread level multiple; launcher: srun"})
	expect(t, "one rank of srun", []row{checkMPI(info, srun, 1)}, want{passed, "srun"})
	expect(t, "alone", []row{checkMPI(info, mpi.Launch{}, 1)}, want{caution, "launcher: none"})
	info.ThreadLevel = mpi.ThreadFunneled
	expect(t, "threads", []row{checkMPI(info, srun, 4)}, want{caution, "thread level funneled"})
	ranks := ranksOf(2, "a", "b")
	expect(t, "ranks", []row{checkAlikeRanks(ranks, mpi.Launch{Size: 4})}, want{passed, "4 ranks of one build"})
	expect(t, "unknown launcher", []row{checkAlikeRanks(ranks, mpi.Launch{Size: -1})}, want{passed, "4 ranks"})
	expect(t, "several programs", []row{checkAlikeRanks(ranks, mpi.Launch{Size: 8})}, want{caution, "started 8 processes, the world has 4 ranks"})
}

func TestSideChannelRow(t *testing.T) {
	ranks := ranksOf(2, "a", "b")
	expect(t, "open", []row{sideChannel(nil, true, ranks)}, want{passed, "every rank"})
	expect(t, "alone", []row{sideChannel(nil, false, ranks[:1])}, want{passed, "one rank"})
	expect(t, "deaf", []row{sideChannel(nil, false, ranks)}, want{caution, "rank 0 on a cannot listen"})
	firewall := mergeRows([]row{sideChannel([]int{2, 3}, true, ranks)}, ranks)
	expect(t, "firewall", firewall, want{caution, "2 ranks of 4 cannot open"})
	if len(firewall[0].Where) != 1 || firewall[0].Where[0] != "b" {
		t.Errorf("%v", firewall[0].Where)
	}
}

func TestJudgeClocks(t *testing.T) {
	const day = 1_700_000_000e9
	clocks := func(uncertainty float64, apart int64) []clockView {
		// The second host was started 1000 s later: its raw clock is behind, and further from the time of day.
		return []clockView{{Wall: day, Uncertainty: uncertainty}, {Offset: -1000, Wall: day + 1000e9 + apart, Uncertainty: uncertainty}}
	}
	for name, c := range map[string]struct {
		clocks []clockView
		nodes  int
		wants  []want
	}{
		"one host": {clocks(0, 0), 1, []want{{passed, "a reading takes 21 ns"}}},
		"good":     {clocks(1.5e-6, 2e6), 2, []want{{passed, "compared to 1.5 us"}, {passed, "within 0.002 s"}}},
		"slow":     {clocks(300e-6, 0), 2, []want{{caution, "compared to 300 us only"}, {passed, "within 0.000 s"}}},
		"ahead":    {clocks(1e-6, 3e9), 2, []want{{passed, ""}, {caution, "3.0 s apart"}}},
		"behind":   {clocks(1e-6, -3e9), 2, []want{{passed, ""}, {caution, "3.0 s apart"}}},
	} {
		expect(t, name, judgeClocks(c.clocks, c.nodes, 21e-9), c.wants...)
	}
	if a, b := timeOfDay(), timeOfDay(); a == 0 || b-a > 1e9 || a-b > 1e9 {
		t.Errorf("the time of day moved against the raw clock: %d, %d", a, b)
	}
}

// What is tried must hold in worlds of any size, and find what is wrong.
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
	fine := want{passed, "every element is right on"}
	for name, c := range map[string]struct {
		script benchtest.Script
		sizes  []int
		wants  [3]want
	}{
		"good":    {benchtest.Script{}, []int{1, 2, 3, 8}, [3]want{fine, fine, fine}},
		"corrupt": {benchtest.Script{Corrupt: corrupt}, []int{2}, [3]want{fine, fine, {problem, "rank 1"}}},
		"memory":  {benchtest.Script{Refuse: refuse}, []int{3}, [3]want{{problem, "no room"}, {problem, "rank 1"}, {problem, "oom"}}},
		"lacking": {benchtest.Script{Refuse: lacks}, []int{2}, [3]want{{problem, "it has none"}, fine, fine}},
	} {
		for _, n := range c.sizes {
			for r, err := range benchtest.Run(n, func(w bench.World) error {
				for i, k := range trials(n) {
					got, err := tryCase(w, &benchtest.Fake{World: w, Script: &c.script}, k, bench.Options{Precision: 1, Iterations: 1, Check: 1, Average: bench.Max})
					if err != nil {
						return err
					}
					if w.Rank == 0 {
						expect(t, name+" "+k.String(), []row{got}, c.wants[i])
						if !strings.Contains(got.Found, k.Point()) {
							t.Errorf("%s: no case in %q", name, got.Found)
						}
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

// Ranks on several hosts come to the right ones, in the order of the checks.
func TestCheckSetups(t *testing.T) {
	ranks := ranksOf(2, "node1", "node2")
	all := make([]setup, len(ranks))
	for i := range all {
		all[i] = setup{who: ranks[i], Limits: limits{Files: 1024, Locked: unlimited, Shared: volume{tib, tib}}, Node: node{CPUs: 8}}
		all[i].who.CPUs = "0-7"
	}
	all[2].Limits.Files = 10 // rank 2, on node2
	all[2].Limits.Shared, all[3].Limits.Shared = volume{gib, mib}, volume{gib, mib}
	rows := mergeRows(checkSetups(all), ranks)
	where := func(check string, v verdict) string {
		for _, r := range rows {
			if r.Check == check && r.Verdict == v {
				return strings.Join(r.Where, " ")
			}
		}
		return ""
	}
	for _, c := range []struct {
		check string
		v     verdict
		want  string
	}{
		{"CPUs", passed, "node1 node2"}, {"open files", problem, "rank 2 on node2"}, {"open files", passed, "node1 rank 3 on node2"},
		{"shared memory", problem, "node2"}, {"shared memory", passed, "node1"}, {"locked memory", passed, "node1 node2"}, {"hosts", passed, "node1 node2"},
	} {
		if got := where(c.check, c.v); got != c.want {
			t.Errorf("%s is %s on %q, want %q", c.check, c.v, got, c.want)
		}
	}
	if rows[0].Check != "hosts" || rows[1].Check != "CPUs" {
		t.Errorf("the rows begin with %s, %s", rows[0].Check, rows[1].Check)
	}
}

// Containers of one machine share its processors, and each has a /dev/shm of its own.
func TestCheckContainers(t *testing.T) {
	ranks := ranksOf(2, "pod1", "pod2")
	all := make([]setup, len(ranks))
	for i := range all {
		ranks[i].Machine, ranks[i].CPUs = "boot", "0-2"
		all[i] = setup{who: ranks[i], Limits: limits{Shared: volume{gib, 300 * mib}}, Node: node{CPUs: 3}}
	}
	rows := mergeRows(checkSetups(all), ranks)
	expect(t, "CPUs", only("CPUs", rows), want{caution, "4 ranks share 3 cores"})
	expect(t, "shared memory", only("shared memory", rows), want{passed, "300 MiB free of 1 GiB for 2 ranks"})
}

// What a rank sees comes to rank 0 as it is.
func TestSetupTravels(t *testing.T) {
	sent := setup{
		Limits: limits{Shared: volume{1, 2}, Locked: unlimited, Exempt: true, Files: unknown, Bounds: []memoryBound{{"a", 1, true}}},
		Node:   node{Machine: result.Machine{CPU: "x", Load1: 1.5}, CPUs: 2, NUMA: []string{"0-1"}, Balancing: unknown, HugePages: "never", Virtual: true},
		Fabric: fabric{Ports: []rdmaPort{{"a", "b", "c", "d", "e", true, true}},
			pcie:    pcie{GPUs: []string{"a"}, Driver: "1", Units: 2, Translated: []string{"b"}, Bridges: 3, Redirect: []string{"c"}, Hidden: true},
			Peermem: true, Plugin: "p"},
		GPU: &gpuView{Problem: "a", Driver: "b", CUDA: 1, Missing: "c", Library: "d", Path: "e", BuiltFor: "f", Unserved: "g", Near: []int{1},
			Devices: []gpu{{"a", "b", "c", 1, 2, 3, 4, &cudart.Health{ECC: "on", Throttle: []string{"x"}}}}, Peer: [][]bool{{true}}, Shared: true, Rehearsed: true},
	}
	b, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	var got setup
	if err := json.Unmarshal(b, &got); err != nil || !reflect.DeepEqual(got, sent) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, sent)
	}
}
