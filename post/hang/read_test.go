package hang_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/hangs"
	"busbar/post/hang"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func read(t *testing.T, f *Folder) (*hang.Evidence, []notice.Notice) {
	t.Helper()
	of, notes, err := hang.Read(context.Background(), []string{f.Path})
	must.NoError(t, err)
	return of, notes
}

// ranksOf are the files that are used, and codes those of notices.
func ranksOf(of *hang.Evidence) (all []int) {
	for _, d := range of.Dumps {
		all = append(all, d.Rank)
	}
	return all
}

func codes(notes []notice.Notice) (all []notice.Code) {
	for _, n := range notes {
		all = append(all, n.Code())
	}
	slices.Sort(all)
	return all
}

// The pickle and the JSON of one process are one dump: the one with stacks.
func TestReadJoinsFormsOfOneProcess(t *testing.T) {
	f := NewFolder(t)
	for _, d := range job(2).All(reduce(), 3).Run() {
		f.Dumps([]*Dump{d}).File(fmt.Sprintf("trace_%d.json", d.Rank), string(d.JSON()))
	}
	of, notes := read(t, f)
	if len(notes) > 0 || !slices.Equal(ranksOf(of), []int{0, 1}) || of.Dumps[0].JSON || of.Dumps[1].JSON {
		t.Error(ranksOf(of), notes)
	}
}

// Two processes with one rank number are reported and not merged: the newest counts.
func TestReadReportsDumpsOfOneRank(t *testing.T) {
	f := NewFolder(t)
	run, before := job(2).All(reduce(), 3).Run(), job(2).All(reduce(), 2).Run()
	for rank, by := range []int64{-10e9, 5e8} {
		for i := range before[rank].Entries {
			before[rank].Entries[i].Created += by
		}
	}
	for i := range run[1].Entries { // rank 1 starts after the other process ended
		run[1].Entries[i].Created += 2e9
	}
	f.Dumps(run)
	for _, d := range before {
		f.File(fmt.Sprintf("node2/trace_%d", d.Rank), string(d.Pickle()))
	}
	of, notes := read(t, f)
	if !slices.Equal(ranksOf(of), []int{0, 1}) || len(of.Dumps[1].Entries) != 3 ||
		!slices.Equal(codes(notes), []notice.Code{"dump-of-other-run", "dumps-of-one-rank"}) {
		t.Error(ranksOf(of), notes)
	}
}

// Another job in the folder has another world.
func TestReadReportsOtherJobs(t *testing.T) {
	f := NewFolder(t)
	f.Dumps(job(4).All(reduce(), 3).Run(), 3)
	other := job(8).All(reduce(), 3).Run()[7]
	other.Until(1)
	f.Dumps([]*Dump{other})
	of, notes := read(t, f)
	if !slices.Equal(ranksOf(of), []int{0, 1, 2}) || !slices.Equal(codes(notes), []notice.Code{"dump-of-other-run"}) {
		t.Error(ranksOf(of), notes)
	}
}

// Damaged and foreign files are reported with their names; the rest is read.
func TestReadReportsDamagedFiles(t *testing.T) {
	f := NewFolder(t)
	f.Dumps(job(2).All(reduce(), 3).Run())
	f.File("trace_9", "\x80\x02cos\nsystem\n.").File("trace", string(job(1).All(reduce(), 1).Run()[0].Pickle()))
	f.File("other_4.json", `{"entries": 5, "pg_config": {}}`).File("image.png", "\x89PNG\x00\x00").File("empty", "")
	// Traces of the profiler have the configuration of groups, too.
	f.File("kineto.json", `{"distributedInfo": {"pg_config": [{"pg_name": "0"}]}, "traceEvents": []}`)
	f.File("settings_5.json", `{"entries": [{"name": "pg_status"}]}`)
	of, notes := read(t, f)
	want := []notice.Code{"dump-without-rank", "file-unreadable", "file-unreadable"}
	if !slices.Equal(ranksOf(of), []int{0, 1}) || !slices.Equal(codes(notes), want) {
		t.Error(ranksOf(of), notes)
	}
	for _, n := range notes {
		if n.At.File == "" {
			t.Error("no file:", n)
		}
	}
}

// A number in a log's name is a rank only behind that word; torchrun's is local.
func TestReadRanksOfLogs(t *testing.T) {
	f := NewFolder(t)
	f.Dumps(job(2).All(reduce(), 3).Run())
	for _, name := range []string{"slurm-1.out", "node1.log", "train_4711.log"} {
		f.File(name, timedOut+"\n")
	}
	f.Log(1, timedOut).File("attempt_0/0/stderr.log", timedOut+"\n")
	f.File("local_rank_0.log", timedOut+"\n")
	f.File("attempt_0/1/stderr.log", "[rank1]: "+timedOut+"\n")
	of, _ := read(t, f)
	ranks := map[string]int{}
	for _, log := range of.Logs {
		ranks[log.File[len(f.Path)+1:]] = log.Rank
	}
	for name, want := range map[string]int{
		"slurm-1.out": -1, "node1.log": -1, "train_4711.log": -1, "rank1.log": 1,
		"local_rank_0.log": -1, "attempt_0/0/stderr.log": -1,
		"attempt_0/1/stderr.log": 1,
	} {
		test.EqOp(t, want, ranks[name], test.Sprint(name))
	}
}

// A folder without evidence is an error that names it.
func TestReadNothing(t *testing.T) {
	f := NewFolder(t)
	f.File("train.log", "step 1\nstep 2\n")
	_, _, err := hang.Read(context.Background(), []string{f.Path})
	var nothing *hang.NothingError
	if !errors.As(err, &nothing) || !slices.Equal(nothing.Paths, []string{f.Path}) {
		t.Error(err)
	}
}

// The stack of py-spy belongs to the rank of its file, or to that which NCCL's log gives the process.
func TestStacks(t *testing.T) {
	const spied = "Process 4711: python train.py\n\nThread 4711 (idle): \"MainThread\"\n" +
		"    sleep (/usr/lib/python3.11/threading.py:1)\n    load_batch (train.py:81)\n"
	for name, log := range map[string]string{
		"pyspy_rank2.txt": "",
		"pyspy.4711": "node7:4711:4711 [2] NCCL INFO ncclCommInitRankConfig comm 0x1 rank 2 nranks 4 cudaDev 2 " +
			"nvmlDev 2 busId 60 commId 0x43 - Init COMPLETE\n",
	} {
		f := NewFolder(t)
		f.Dumps(stops(job(4), 2)).File(name, spied)
		if log != "" {
			f.File("nccl.txt", log)
		}
		of, _ := read(t, f)
		found := hang.Analyze(*of)
		want := hangs.StackAt{Rank: 2, Function: "load_batch", Place: "train.py:81"}
		if !slices.ContainsFunc(found.Evidence, func(n notice.Notice) bool { return n.Fact == want }) ||
			len(found.Stacks) != 1 || found.Stacks[0].Calls {
			t.Errorf("%s: %v %+v", name, found.Evidence, found.Stacks)
		}
		host := found.Cause.(hangs.RankMissing).Host
		if log != "" && host != "node7" {
			t.Errorf("host %q", host)
		}
	}
}

// The evidence of two GPU processes of which rank 1 sleeps: dumps, watchdog lines, NCCL's log and RAS agree.
func TestExampleOfGPUs(t *testing.T) {
	of, notes, err := hang.Read(context.Background(), []string{"../../examples/gpu-h200/hang"})
	if err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	found := hang.Analyze(*of)
	v := found.Verdict
	if v.Code != "rank-missing" || !slices.Equal(v.Ranks, []int{1}) || v.Sequence != 7 ||
		v.Collective != "all_reduce" || v.Confidence != hangs.Certain {
		t.Errorf("%+v", v)
	}
	for _, want := range []notice.Code{"collective-entered", "last-collective", "group-progress",
		"collective-timed-out", "ras-operation-count"} {
		if !slices.Contains(codes(found.Evidence), want) {
			t.Errorf("no %s in %v", want, found.Evidence)
		}
	}
}
