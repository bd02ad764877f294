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
	"busbar/mpi"
	"busbar/rank/launch"

	"github.com/shoenig/test"
)

func TestCheckMPI(t *testing.T) {
	info := launch.Library{Name: "Open MPI 4.1.4",
		Facts: result.MPI{Path: "/lib/libmpi.so", ThreadLevel: mpi.ThreadMultiple.String()}}
	srun := launch.Started{Launcher: "srun"}
	expect(t, "good", []Row{CheckMPI(info, srun, 4)})
	expect(t, "one rank of srun", []Row{CheckMPI(info, srun, 1)})
	expect(t, "alone", []Row{CheckMPI(info, launch.Started{}, 1)})
	expect(t, "TCP", []Row{CheckMPI(launch.Library{Name: "TCP"}, srun, 4)})
	info.Facts.ThreadLevel = mpi.ThreadFunneled.String()
	expect(t, "threads", []Row{CheckMPI(info, srun, 4)})
}

func TestSideChannelRow(t *testing.T) {
	ranks := ranksOf(2, "a", "b")
	expect(t, "open", []Row{SideChannelRow(nil, true, ranks)})
	expect(t, "alone", []Row{SideChannelRow(nil, false, ranks[:1])})
	expect(t, "deaf", []Row{SideChannelRow(nil, false, ranks)})
	firewall := mergeRows([]Row{SideChannelRow([]int{2, 3}, true, ranks)}, ranks)
	expect(t, "firewall", firewall)
	test.SliceEqOp(t, []string{"b"}, firewall[0].where(ranks))
}

func TestJudgeClocks(t *testing.T) {
	expect(t, "one host", []Row{JudgeClocks(0, 1, 21e-9)})
	expect(t, "good", []Row{JudgeClocks(1.5e-6, 2, 21e-9)})
	expect(t, "slow", []Row{JudgeClocks(300e-6, 2, 21e-9)})
}

// fake does all_gather and all_reduce of a rank, in 1 ms each.
type fake struct {
	bench.World
	script
}

// script is what is wrong with the fakes: the error of Prepare, and the change of an output.
type script struct {
	refuse  func(c coll.Case, rank int) error
	corrupt func(c coll.Case, rank int, out []byte)
}

func (f fake) Prepare(c coll.Case) (bench.Operation, error) {
	if f.refuse != nil {
		if err := f.refuse(c, f.Rank); err != nil {
			return nil, err
		}
	}
	size := int64(c.Type.Size())
	return &operation{f, c, bench.Buffers{Send: make(bench.Host, c.SendCount(f.Rank)*size),
		Recv: make(bench.Host, c.RecvCount(f.Rank)*size)}, 0}, nil
}

type operation struct {
	fake
	c   coll.Case
	b   bench.Buffers
	now int64 // ns
}

func (o *operation) Buffers() []bench.Buffers { return []bench.Buffers{o.b} }

func (o *operation) Close() error { return nil }

// Run gathers as a sum over ranks of which each is zero in the places of the others.
func (o *operation) Run(batches, n int) (s bench.Stamps, err error) {
	size, in, out := o.c.Type.Size(), o.b.Send.(bench.Host), o.b.Recv.(bench.Host)
	x := make([]float64, len(out)/size)
	first := 0
	if o.c.Collective == coll.AllGather {
		first = o.Rank * int(o.c.Count)
	}
	for i := range len(in) / size {
		x[first+i] = bench.Decode(o.c.Type, in[i*size:(i+1)*size])
	}
	if err := o.Sum(x); err != nil {
		return s, err
	}
	for i, v := range x {
		bench.Encode(o.c.Type, v, out[i*size:(i+1)*size])
	}
	if o.corrupt != nil {
		o.corrupt(o.c, o.Rank, out)
	}
	for range batches {
		s.Start, s.Issued = append(s.Start, o.now), append(s.Issued, o.now)
		o.now += int64(n) * 1e6
		s.End = append(s.End, o.now)
	}
	return s, nil
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
	const fine, failed = notice.Code("collective-correct"), notice.Code("collective-failed")
	for name, c := range map[string]struct {
		script script
		sizes  []int
		wants  [3]notice.Code
		status string // of a failed one
	}{
		"good": {script{}, []int{1, 2, 3, 8}, [3]notice.Code{fine, fine, fine}, ""},
		"corrupt": {script{corrupt: corrupt}, []int{2}, [3]notice.Code{fine, fine, "collective-wrong"},
			""},
		"memory":  {script{refuse: refuse}, []int{3}, [3]notice.Code{failed, failed, failed}, "oom"},
		"lacking": {script{refuse: lacks}, []int{2}, [3]notice.Code{failed, fine, fine}, "unsupported"},
	} {
		for _, n := range c.sizes {
			for r, err := range benchtest.Run(n, func(w bench.World) error {
				for i, k := range Trials(n) {
					got, err := Try(w, fake{w, c.script}, k,
						bench.Options{Precision: 1, Iterations: 1, Check: 1, Average: bench.Max})
					if err != nil {
						return err
					}
					if w.Rank == 0 {
						var want notice.Fact
						switch f := got.Fact.(type) {
						case preflights.CollectiveCorrect:
							want = preflights.CollectiveCorrect{Case: k.Point(), Ranks: n}
						case preflights.CollectiveWrong:
							want = preflights.CollectiveWrong{Case: k.Point(),
								Cause: notice.Kept{Fact: f.Cause.Fact.(notice.DataWrong)}}
						case preflights.CollectiveFailed:
							want = preflights.CollectiveFailed{Case: k.Point(), Status: c.status, Cause: f.Cause}
						}
						test.EqOp(t, c.wants[i], got.Code(), test.Sprint(name, k))
						test.Eq(t, want, got.Fact, test.Sprint(name, k))
					}
				}
				return nil
			}) {
				test.NoError(t, err, test.Sprint(name, n, r))
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
	expect(t, "CPUs", only("CPUs", rows))
	expect(t, "shared memory", only("shared memory", rows))
}
