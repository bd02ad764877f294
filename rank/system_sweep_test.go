package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/backend"
)

// Every collective, placement, mode and a few types in one launch: all of it measured, checked, and consistent.
func TestSweep(t *testing.T) {
	t.Parallel()
	for _, l := range []rankRun{{mpirun: openMPI, np: 2}, {mpirun: openMPI, np: 4}, {mpirun: mpich, np: 2}} {
		t.Run(fmt.Sprint(l.mpirun, " ", l.np), func(t *testing.T) {
			parallelOn(t, l.mpirun)
			out := t.TempDir()
			l.args = []string{"--collective", "all", "-b", "1K", "-e", "4K", "-f", "4", "-d", "float32,bfloat16,int32",
				"--placement", "both",
				"--mode", "both", "-n", "5", "-w", "1", "-r", "1", "--out", out}
			l.mustRun(t)
			f := readOne(t, out)
			checkWhole(t, f, result.OK, result.Unsupported)
			checkEnd(t, f, result.Complete, 0)
			if f.Run.World != l.np || f.Run.Backend.Name != "mpi" || len(f.Ranks) != l.np {
				t.Errorf("the header says %+v with %d ranks", f.Run, len(f.Ranks))
			}
			seen := map[coll.Collective]int{}
			for _, r := range f.Records {
				if r.Status != result.OK {
					// see mpi.quirk
					if l.mpirun != mpich || r.Collective != coll.Reduce || r.Placement != coll.InPlace {
						t.Errorf("%s: %s: %s", r.Case, r.Status, r.Reason)
					}
					continue
				}
				seen[r.Collective]++
				if r.Check.Result != "ok" || r.Check.Elements == 0 || r.Time.Seconds <= 0 || r.Time.Iterations != 5 {
					t.Errorf("%s: %+v %+v", r.Case, r.Check, r.Time)
				}
			}
			for _, c := range coll.Collectives() {
				if want := 2 * 3 * 2 * len(backend.MPIPlaces(c)); seen[c] != want &&
					(l.mpirun != mpich || c != coll.Reduce) {
					t.Errorf("%s %d: %d points of %s, want %d", l.mpirun, l.np, seen[c], c, want)
				}
			}
			text, err := filepath.Glob(filepath.Join(out, "profile_mpi_world*.txt"))
			if err != nil || len(text) != 1 {
				t.Errorf("text views: %v %v", text, err)
			}
		})
	}
}

// What the flags say of the method stands in the file, and what is measured is right with each of them.
func TestMethod(t *testing.T) {
	parallel(t)
	for _, c := range []struct {
		args string
		ok   func(m result.Method) bool
	}{
		{"-m 4", func(m result.Method) bool { return m.Aggregate == 4 }},
		{"--rotate 64K", func(m result.Method) bool { return m.Rotate == 64<<10 }},
		{"--rotate 64K -m 3 --mode both", func(m result.Method) bool { return m.Rotate == 64<<10 && m.Aggregate == 3 }},
		{"-a 0", func(m result.Method) bool { return m.Average == "rank 0" }},
		{"-a 1", func(m result.Method) bool { return strings.HasPrefix(m.Average, "mean") }},
		{"-a 2", func(m result.Method) bool { return strings.HasPrefix(m.Average, "min") }},
		{"-a 3", func(m result.Method) bool { return strings.HasPrefix(m.Average, "max") }},
		{"--deadline 90s", func(m result.Method) bool { return m.Deadline == 90 }},
		{"-T 80", func(m result.Method) bool { return m.Deadline == 80 }},
		{"-c 3", func(m result.Method) bool { return m.CheckRounds == 3 }},
	} {
		out := t.TempDir()
		args := append([]string{"--collective", "all_reduce,reduce,gather,sendrecv", "-b", "32", "--placement", "both"},
			strings.Fields(c.args)...)
		rankRun{mpirun: openMPI, np: 2, args: small(out, args...)}.mustRun(t)
		f := readOne(t, out)
		checkWhole(t, f, result.OK)
		if !c.ok(f.Run.Method) {
			t.Errorf("%s: the file says %+v", c.args, f.Run.Method)
		}
		for _, r := range f.Records {
			if r.Check.Result != "ok" {
				t.Errorf("%s: %s was not checked: %+v", c.args, r.Case, r.Check)
			}
			if r.Mode == coll.Throughput && !strings.Contains(r.Time.Summary, f.Run.Method.Average) {
				t.Errorf("%s: %s is summarised as %q", c.args, r.Case, r.Time.Summary)
			}
		}
	}
}

// Without checks nothing claims that the data was right.
func TestUnchecked(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 2, args: small(out, "-c", "0")}.mustRun(t)
	for _, r := range readOne(t, out).Records {
		if r.Status != result.OK || r.Check.Result != "off" || r.Check.Elements != 0 {
			t.Errorf("%s: %s, %+v", r.Case, r.Status, r.Check)
		}
	}
}

// Cycles measure each point again, and modes each point twice.
func TestCyclesAndModes(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 2, args: small(out, "-N", "2", "--mode", "both")}.mustRun(t)
	f := readOne(t, out)
	checkWhole(t, f, result.OK)
	count := map[coll.Case][]int{}
	for _, r := range f.Records {
		count[r.Case] = append(count[r.Case], r.Cycle)
	}
	modes := map[coll.Mode]int{}
	for c, cycles := range count {
		modes[c.Mode]++
		if !slices.Equal(cycles, []int{1, 2}) {
			t.Errorf("%s was measured in cycles %v", c, cycles)
		}
	}
	if len(count) != 8 || modes[coll.Latency] != 4 || modes[coll.Throughput] != 4 || f.Run.Sweep.Points != 16 {
		t.Errorf("%d points, %v; planned %d", len(count), modes, f.Run.Sweep.Points)
	}
}

// Sub-worlds have a file each; one that is too large is said, and all others are measured.
func TestWorlds(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	o := rankRun{mpirun: openMPI, np: 4, args: small(out, "--worlds", "2,4,6,1")}.mustRun(t)
	for _, n := range []int{1, 2, 4, 6} {
		paths, err := filepath.Glob(filepath.Join(out, fmt.Sprintf("profile_mpi_world%d_*.jsonl", n)))
		if err != nil || len(paths) != 1 {
			t.Fatalf("files of world %d: %v %v\n%s", n, paths, err, o)
		}
		f, err := result.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		want := map[int]result.Status{1: result.OK, 2: result.OK, 4: result.OK, 6: result.Skipped}[n]
		checkWhole(t, f, want)
		checkEnd(t, f, result.Complete, 0)
		if f.Run.World != n || len(f.Records) != 4 || n < 6 && len(f.Ranks) != n {
			t.Errorf("world %d: world %d in the file, %d records, %d ranks", n, f.Run.World, len(f.Records),
				len(f.Ranks))
		}
		for _, r := range f.Records {
			if r.World != n || want == result.Skipped && r.Cause.Code() != "world-unfit" {
				t.Errorf("world %d: %s: %q", n, r.Case, r.Reason)
			}
		}
	}
	files := read(t, out)
	for _, f := range files {
		if f.Run.Launch != files[0].Run.Launch || f.Run.Campaign != files[0].Run.Campaign {
			t.Errorf("%s is of another launch or campaign", f.Path)
		}
	}
}

// More than there is room for is left out, with what it would have taken, and that is no failure.
func TestMemoryIsNotEnough(t *testing.T) {
	parallel(t)
	for _, l := range []rankRun{{mpirun: openMPI, np: 2}, {mpirun: alone}} {
		out := t.TempDir()
		l.args = []string{"--collective", "all_reduce", "--elements", "16,1T", "-n", "5", "--out", out}
		o := l.mustRun(t)
		f := readOne(t, out)
		checkWhole(t, f, result.OK, result.Skipped)
		checkEnd(t, f, result.Complete, 0)
		if len(f.Records) != 2 || f.Records[0].Status != result.OK || f.Records[1].Status != result.Skipped {
			t.Fatalf("%+v\n%s", f.Records, o)
		}
		r := f.Records[1]
		cause, _ := r.Cause.Fact.(notice.MemoryInsufficient)
		if r.Needed < 8<<40 || r.Needed > 8<<40+2*backend.PageBytes || cause.Limit.Host != hostName() || r.Time != nil {
			t.Errorf("needed %d (%+v)", r.Needed, r.Cause)
		}
		if !strings.Contains(o.stdout, "skipped") || !strings.Contains(o.stdout, "1 ok, 1 skipped") {
			t.Errorf("what was left out is not said: %s", o)
		}
	}
	// The flags of nccl-tests, and a size whose buffers have more bytes than a number holds.
	out, most := t.TempDir(), fmt.Sprint(math.MaxInt64)
	rankRun{mpirun: openMPI, np: 2, args: []string{"-b", "4T", "-e", "4T", "-n", "5", "--out", out}}.mustRun(t)
	rankRun{mpirun: openMPI, np: 2, args: []string{"-b", most, "-e", most, "-n", "5", "--out", out}}.mustRun(t)
	for _, f := range read(t, out) {
		if r := f.Records[0]; len(f.Records) != 1 || r.Status != result.Skipped || r.Needed < 1<<42 {
			t.Errorf("%s: %s, needed %d (%q)", r.Case, r.Status, r.Needed, r.Reason)
		}
	}
}

// A size that is too small for the world is left out with the reason.
func TestSizeIsTooSmall(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 2, args: []string{"--collective", "all_gather", "-b", "8", "-e", "64", "-f", "8", "-n",
		"5", "--out", out}}.mustRun(t)
	f := readOne(t, out)
	checkWhole(t, f, result.OK, result.Skipped)
	if len(f.Records) != 2 || f.Records[0].Status != result.Skipped || f.Records[0].Cause.Code() != "too-small" ||
		f.Records[1].Status != result.OK {
		t.Errorf("%+v", f.Records)
	}
}

// A size that does not fit the time limit is left out: a message, and no failure. The model makes the first size so
// slow that the estimate for the second one exceeds the limit on any machine.
func TestTimeLimit(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	args := rehearsed("--collective", "all_reduce", "-b", "8", "-e", "4M", "-f", "524288", "-n", "100", "-w", "1",
		"--placement", "out", "--mode", "throughput", "--time-limit", "2m", "--out", out)
	o := rankRun{mpirun: openMPI, np: 2, env: []string{"BUSBAR_REHEARSAL_MODEL=alpha=20ms,beta=10MB/s"},
		args: args}.mustRun(t)
	f := readOne(t, out)
	checkEnd(t, f, result.Complete, 0)
	if len(f.Records) != 2 || f.Records[0].Status != result.OK || f.Records[1].Status != result.Skipped {
		t.Fatalf("want the first of two points to be measured and the second skipped: %s", o)
	}
	if r := f.Records[1]; r.Cause.Code() != "time-limit-reached" || r.Needed != 0 {
		t.Errorf("%s: %+v", r.Case, r.Cause)
	}
	if !strings.Contains(o.stdout, "--time-limit") {
		t.Errorf("no message names what was left out: %s", o)
	}
}

// Without any flag there is the quick sweep, in ./results.
func TestNoFlags(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	o := rankRun{mpirun: openMPI, np: 2, dir: dir, args: []string{"--time-limit", "3s"}}.mustRun(t)
	f := readOne(t, filepath.Join(dir, "results"))
	checkWhole(t, f, result.OK, result.Skipped)
	if f.Run.Sweep.Name != "quick" || !strings.Contains(o.stdout, "post merge && post plot") {
		t.Errorf("sweep %q: %s", f.Run.Sweep.Name, o)
	}
}
