package hang_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/hangs"
	"busbar/post/hang"

	"github.com/shoenig/test/must"
)

// unusual are situations with evidence that is hostile, partial or of several processes.
var unusual = []situation{
	{name: "RAS counts more ranks than any job has", verdict: "insufficient-evidence []",
		make: func(f *Folder) {
			f.File("ras.txt", strings.NewReplacer(
				"32        32   RUNNING", "60000     60000   RUNNING", "30 ranks have", "59998 ranks have",
				" 32\n", " 60000\n",
			).Replace(rasText))
		}},
	{name: "RAS lists no rank of two counts", verdict: "insufficient-evidence []",
		lists: "ras-count-of-unlisted",
		make: func(f *Folder) {
			text, _, _ := strings.Cut(rasText, "  Rank 12")
			f.File("ras.txt", text)
		}},
	{name: "RAS counts two collectives the other way round",
		verdict: "collective-mismatch [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 " +
			"29 30 31]",
		make: file("ras.txt", rasOfTwo())},
	{name: "RAS misses a rank and names it", verdict: "rank-died [21]",
		make: func(f *Folder) {
			text, _, _ := strings.Cut(rasText, "Warnings\n")
			f.File("ras.txt", text+"DEAD\n  1 job process is considered dead (unreachable via the RAS network)\n"+
				"  Process 3487984 on node 172.16.64.213 managing GPU 5\n\n#0-0 (cf264af53edbe986) INCOMPLETE\n"+
				"  Missing communicator data from 1 rank\n"+
				"  Rank 21 -- GPU 5 managed by process 3487984 on node 172.16.64.213\n\nWarnings\n========\n\n")
		}},
	{name: "RAS considers a rank of one communicator of several dead", verdict: "insufficient-evidence []",
		lists: "ras-rank-lost",
		make: func(f *Folder) {
			f.File("ras.json", strings.Replace(rasOfPair(2, 2, 3), `"collective_counts": {"AllReduce": 39}`,
				`"status": {"considered_dead": true}`, 1))
		}},
	{name: "RAS considers a rank of the job and of a communicator dead", verdict: "rank-died [3]",
		make: func(f *Folder) {
			f.File("ras.json", strings.Replace(rasOfPair(4, 2, 3), `"collective_counts": {"AllReduce": 39}`,
				`"status": {"considered_dead": true}`, 1))
		}},
	{name: "RAS counts in a communicator of two ranks", verdict: "rank-missing [3] likely",
		make: func(f *Folder) {
			f.File("ras1.json", rasOfPair(4, 2, 3)).File("ras2.json", rasOfPair(4, 2, 3))
		}},
	{name: "RAS counts in a communicator of two ranks of unknown GPUs", verdict: "insufficient-evidence []",
		lists: "ras-operation-count",
		make: func(f *Folder) {
			f.File("ras1.json", rasOfPair(2, 2, 3)).File("ras2.json", rasOfPair(2, 2, 3))
		}},
	{name: "complete dumps and an error of NCCL", verdict: "no-hang [] unclear",
		make: func(f *Folder) {
			f.Dumps(job(2).All(reduce(), 6).Run())
			f.File("nccl.log", "node1:10:20 [0] transport/net_ib.cc:94 NCCL WARN NET/IB : Got completion from peer "+
				"10.0.0.2<1> with error 12, opcode 0, len 0, vendor err 129\n")
		}},
	{name: "a barrier and an all_reduce in dumps", verdict: "collective-mismatch [0] certain",
		make: func(f *Folder) {
			barrier := Call{Op: "all_reduce_barrier", In: 1, Out: 1}
			f.Dumps(job(4).All(reduce(), 6).Except(reduce(), 0).All(barrier, 1, 0).Run())
		}},
	{name: "a barrier in dumps, and in a watchdog's line", verdict: "all-waiting []",
		make: func(f *Folder) {
			j := &Job{World: 4, Stuck: true}
			barrier := Call{Op: "all_reduce_barrier", In: 1, Out: 1}
			f.Dumps(j.All(reduce(), 4).All(barrier, 1).Run(), 1)
			f.Log(1, strings.ReplaceAll(strings.Join(watchdog(1, 5, 5), "\n"), "1024", "1"))
		}},
	{name: "one log of one rank", verdict: "insufficient-evidence []",
		lists: "group-members-unknown",
		make:  func(f *Folder) { f.Log(0, watchdog(0, 7, 7)...) }},
	{name: "dumps of two hosts by local rank", verdict: "insufficient-evidence []",
		lists: "rank-of-two-processes",
		make: func(f *Folder) {
			for i, d := range stops(job(4), 3) {
				f.File(fmt.Sprintf("node%d/trace_%d", i/2, i%2), string(d.Pickle()))
			}
		}},
	{name: "all entered at times further apart than the timeout", verdict: "all-waiting [] unclear",
		make: func(f *Folder) {
			dumps := (&Job{World: 4, Stuck: true}).All(reduce(), 6).Run()
			for i := range dumps[1].Entries {
				dumps[1].Entries[i].Created -= 603e9
			}
			f.Dumps(dumps)
		}},
	{name: "rings that lost the first sends and receives", verdict: "insufficient-evidence []",
		lists: "ring-overwritten",
		make: func(f *Folder) {
			dumps := job(2).All(Call{Op: "send", Peer: 1}, 9, 0).All(Call{Op: "recv"}, 9, 1).Run()
			last := &dumps[1].Entries[8] // the message that was sent does not arrive
			last.Done, last.Retired = false, false
			dumps[0].Keep(2)
			dumps[1].Keep(4)
			f.Dumps(dumps)
		}},
}

// rasOfTwo is an answer of RAS in which some ranks called less of one collective, and the others of another one.
func rasOfTwo() string {
	_, counts, _ := strings.Cut(rasText, "MISMATCH\n  Comm")
	return rasText + "#0-0 (cf264af53edbe986) MISMATCH\n  Comm" + strings.NewReplacer(
		"AllGather", "AllReduce", "640", "100", "641", "99").Replace(counts)
}

// rasOfPair is an answer of RAS about a communicator of the first ranks, and one of two ranks, the second of which
// called less.
func rasOfPair(world, first, second int) string {
	of := func(rank, global, calls int) string {
		return fmt.Sprintf(`{"rank": %d, "host": "h", "pid": %d, "cuda_dev": %d,
			"collective_counts": {"AllReduce": %d}}`, rank, 100+global, global, calls)
	}
	var all []string
	for rank := range world {
		all = append(all, of(rank, rank, 50))
	}
	return fmt.Sprintf(`{"nccl_version": "2.28.7", "communicators": [{"hash": "0xa", "size": %d, "ranks": [%s]},
		{"hash": "0xb", "size": 2, "ranks": [%s, %s]}], "ras": {}}`,
		world, strings.Join(all, ", "), of(0, first, 40), of(1, second, 39))
}

// A pickle whose few bytes refer to the same values very often is refused.
func TestReadRefusesSharedValues(t *testing.T) {
	const times = 2000
	many := func(p []byte, op ...byte) []byte { // a list of the same value
		p = append(p, ']', '(')
		for range times {
			p = append(p, op...)
		}
		return append(p, 'e')
	}
	text := func(p []byte, s string) []byte {
		return append(binary.LittleEndian.AppendUint32(append(p, 'X'), uint32(len(s))), s...)
	}
	p := append(text(append([]byte{0x80, 2}, "}("...), "entries"), "](}("...)
	p = text(text(p, "profiling_name"), "nccl:all_reduce")
	p = many(text(p, "input_sizes"), ')')
	p = append(p, "uq\x00"...) // the entry is remembered
	for range times {
		p = append(p, 'h', 0)
	}
	p = append(p, "eu."...)
	f := NewFolder(t).File("trace_0", string(p))
	_, notes, err := hang.Read(t.Context(), []string{f.Path})
	if nothing := (*hang.NothingError)(nil); !errors.As(err, &nothing) || len(notes) != 1 ||
		!strings.Contains(notes[0].Sentence(), "too often") {
		t.Error(notes, err)
	}
}

// The host of a verdict is that of its rank, and not that of the first rank of the run's diagnosis.
func TestHostOfOwnRun(t *testing.T) {
	found := hang.Analyze(hang.Evidence{Own: []hang.Own{{File: "run.jsonl", Cause: notice.RunHung{
		Ranks: []notice.HungRank{
			{PlacedRank: notice.PlacedRank{Rank: 1, Host: "a"}, Standing: notice.StandingBehind},
			{PlacedRank: notice.PlacedRank{Rank: 3, Host: "b"}, Standing: notice.StandingGone},
		},
	}}}})
	if died, is := found.Cause.(hangs.RankDied); !is || died.Host != "b" {
		t.Errorf("%+v", found.Cause)
	}
}

// ofFolder is the finding about what a test wrote.
func ofFolder(t *testing.T, f *Folder) *hang.Finding {
	t.Helper()
	of, _ := read(t, f)
	return hang.Analyze(*of)
}

// Ranks that all receive are shown as such, and not as if their peers had called.
func TestDeadlockOfReceives(t *testing.T) {
	j := job(3)
	for rank := range 3 {
		j.All(Call{Op: "recv", Peer: (rank + 1) % 3}, 1, rank)
	}
	found := ofFolder(t, NewFolder(t).Dumps(j.Run()))
	differ, is := found.Cause.(hangs.CollectiveMismatch)
	if !is || len(differ.Sides) != 3 || found.Verdict.Collective != "recv" {
		t.Fatalf("%+v", found.Cause)
	}
	for _, s := range differ.Sides {
		if s.Call.Operation != "recv" {
			t.Errorf("%v", s)
		}
	}
}

// What Gloo retired last may have failed, and is not shown as completed.
func TestColumnsOfRetired(t *testing.T) {
	dumps := stops(gloo(4), 2)
	for _, rank := range []int{0, 3} {
		dumps[rank].Fail()
	}
	calls := ofFolder(t, NewFolder(t).Dumps(dumps)).Calls
	last := calls[len(calls)-1].Ranks
	if !slices.Equal(last[hang.Ended], hangs.Ranks{0, 3}) || len(last[hang.Done]) > 0 {
		t.Errorf("%v", last)
	}
}

// A link in place of the folder, and links in place of dumps, are read as what they name.
func TestReadFollowsLinks(t *testing.T) {
	from, to := NewFolder(t).Dumps(stops(job(4), 1)), t.TempDir()
	link := func(path, of string) {
		must.NoError(t, os.Symlink(of, path))
	}
	for rank := range 4 {
		name := fmt.Sprintf("trace_%d", rank)
		link(filepath.Join(to, name), filepath.Join(from.Path, name))
	}
	outside := filepath.Join(t.TempDir(), "latest")
	link(outside, from.Path)
	for _, folder := range []string{to, outside} {
		if v := ofFolder(t, &Folder{t, folder}).Verdict; !slices.Equal(v.Ranks, []int{1}) {
			t.Error(folder, v)
		}
	}
}

// Each collective of which ranks called less has its side.
func TestSidesOfCounts(t *testing.T) {
	found := ofFolder(t, NewFolder(t).File("ras.txt", rasOfTwo()))
	differ, _ := found.Cause.(hangs.CollectiveMismatch)
	if of := differ.Sides; len(of) != 2 || len(of[0].Ranks) != 30 || !slices.Equal(of[1].Ranks, hangs.Ranks{12, 13}) {
		t.Errorf("%+v", found.Cause)
	}
}
