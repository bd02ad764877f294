package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/backend"

	"github.com/shoenig/test"
)

// Every collective, placement, mode and a few types in one launch: measured, checked and consistent.
func TestSweep(t *testing.T) {
	t.Parallel()
	for _, l := range []rankRun{{np: 2}, {np: 4}, {mpirun: mpich, np: 2}} {
		t.Run(fmt.Sprint(l.mpirun, " ", l.np), func(t *testing.T) {
			parallelOn(t, l.mpirun)
			out := t.TempDir()
			l.args = flags("--collective all -b 1K -e 4K -f 4 -d float32,bfloat16,int32 --placement both",
				"--mode both -n 5 -w 1 -r 1 --out", out)
			l.mustRun(t)
			f := readOne(t, out)
			checkWhole(t, f, result.OK, result.Unsupported)
			checkEnd(t, f, result.Complete, 0)
			if f.Run.World != l.np || f.Run.Backend.Name != "mpi" || len(f.Ranks) != l.np {
				t.Errorf("the header is %+v with %d ranks", f.Run, len(f.Ranks))
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

// The file records the method of the flags, and the data is correct with each.
func TestMethod(t *testing.T) {
	t.Parallel()
	for args, ok := range map[string]func(m result.Method) bool{
		"-m 4":                          func(m result.Method) bool { return m.Aggregate == 4 },
		"--rotate 64K":                  func(m result.Method) bool { return m.Rotate == 64<<10 },
		"--rotate 64K -m 3 --mode both": func(m result.Method) bool { return m.Rotate == 64<<10 && m.Aggregate == 3 },
		"-a 0":                          func(m result.Method) bool { return m.Average == "rank 0" },
		"-a 1":                          func(m result.Method) bool { return strings.HasPrefix(m.Average, "mean") },
		"-T 80":                         func(m result.Method) bool { return m.Deadline == 80 },
		"-c 3":                          func(m result.Method) bool { return m.CheckRounds == 3 },
		"-c 0":                          func(m result.Method) bool { return m.CheckRounds == 0 },
	} {
		f, _ := rankRun{args: slices.Concat(few, flags("--collective all_reduce,reduce,gather,sendrecv -b 32",
			"--placement both"), flags(args))}.measured(t)
		checkWhole(t, f, result.OK)
		if !ok(f.Run.Method) {
			t.Errorf("%s: %+v", args, f.Run.Method)
		}
		for _, r := range f.Records {
			if r.Check.Result != map[bool]string{true: "ok", false: "off"}[args != "-c 0"] ||
				r.Mode == coll.Throughput && !strings.Contains(r.Time.Summary, f.Run.Method.Average) {
				t.Errorf("%s: %s: %+v, summarised as %q", args, r.Case, r.Check, r.Time.Summary)
			}
		}
	}
}

// Cycles measure each point again, and modes each point twice.
func TestCyclesAndModes(t *testing.T) {
	t.Parallel()
	f, _ := rankRun{args: append(flags("-N 2 --mode both"), few...)}.measured(t)
	checkWhole(t, f, result.OK)
	count := map[coll.Case]int{}
	for _, r := range f.Records {
		count[r.Case] += 10*r.Cycle + 1
	}
	for c, n := range count {
		if n != 10+20+2 {
			t.Errorf("%s: cycles are not 1 and 2", c)
		}
	}
	if len(count) != 8 || f.Run.Sweep.Points != 16 {
		t.Errorf("%d points of 8; planned %d", len(count), f.Run.Sweep.Points)
	}
}

// A point that does not fit the memory, the world or the time limit is a record with its reason, and no failure. The
// model makes the first size so slow that the second exceeds the limit on any machine.
func TestSkippedPoints(t *testing.T) {
	t.Parallel()
	slow := "--simulate --collective all_reduce -b 8 -e 4M -f 524288 -n 100 -w 1 --mode throughput --time-limit 2m"
	for line, k := range map[string]struct {
		code   notice.Code
		needed int64
	}{
		"--elements 16,1T":                        {"memory-insufficient", 8 << 40},
		"--collective all_gather -b 8 -e 64 -f 8": {"too-small", 0},
		fmt.Sprintf("--elements 16,%d", 1<<60):    {"memory-insufficient", 1 << 61},
		slow + " --placement out":                 {"time-limit-reached", 0},
	} {
		f, o := rankRun{args: append([]string{"-n", "5"}, flags(line)...),
			env: []string{"BUSBAR_REHEARSAL_MODEL=alpha=20ms,beta=10MB/s"}}.measured(t)
		checkEnd(t, f, result.Complete, 0)
		count := 0
		for _, r := range f.Records {
			if r.Status != result.Skipped {
				continue
			}
			if count++; r.Cause.Code() != k.code || r.Needed < k.needed || r.Time != nil {
				t.Errorf("%s: %+v, needed %d", line, r.Cause, r.Needed)
			}
		}
		if count != len(f.Records)/2 {
			t.Errorf("%s: %d of %d points are skipped", line, count, len(f.Records))
		}
		has(t, o.stdout, fmt.Sprintf("%d skipped", count))
	}
}

// Without flags rank runs the quick sweep into ./results.
func TestNoFlags(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rankRun{dir: dir, args: []string{"--time-limit", "3s"}}.mustRun(t)
	f := readOne(t, filepath.Join(dir, "results"))
	checkWhole(t, f, result.OK, result.Skipped)
	test.EqOp(t, "quick", f.Run.Sweep.Name)
}
