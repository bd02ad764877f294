package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/result"
	"busbar/rank/backend"

	"github.com/shoenig/test"
)

// campaignArgs returns a plan of about a second.
func campaignArgs(out string, more ...string) []string {
	return append(flags("--collective all_reduce,broadcast -b 64 -e 32K -f 2 --mode both --budget 100ms -w 1",
		"--out", out), flags(more...)...)
}

// cut ends rank 0 of a run by a signal after at least n records. A stopped rank keeps the run from continuing.
// A signal to the launcher would wake the stopped rank.
func (r *running) cut(dir string, n int, s syscall.Signal) {
	r.t.Helper()
	r.pid(1)
	r.awaitPoints(dir, n)
	r.signal(1, syscall.SIGSTOP)
	r.awaitStandstill(dir)
	r.signal(0, s)
	r.wait()
}

// A run that was interrupted and resumed twice has the points of an uninterrupted run, each once per cycle.
func TestResume(t *testing.T) {
	t.Parallel()
	for mpirun, more := range map[string][]string{openMPI: nil, mpich: nil, "": {"-N", "2", "-e", "1K"}} {
		t.Run(mpirun, func(t *testing.T) {
			parallelOn(t, mpirun)
			whole, out := t.TempDir(), t.TempDir()
			begin := func(resume ...string) *running {
				return rankRun{mpirun: mpirun, args: campaignArgs(out, append(resume, more...)...)}.start(t)
			}
			rankRun{mpirun: mpirun, args: campaignArgs(whole, more...)}.mustRun(t)
			want := merged(t, whole)
			begin().cut(out, 3, syscall.SIGTERM)
			first := readOne(t, out)
			checkEnd(t, first, result.Interrupted, 143)
			if n := len(first.Records); first.End.Left != len(want)-n {
				t.Errorf("the end counts %d points left; %d of %d are measured", first.End.Left, n, len(want))
			}
			begin("--resume").cut(out, len(first.Records)+3, syscall.SIGKILL)
			for _, text := range []string{"continues run " + first.Run.ID, "all measured before"} {
				o := begin("--resume").wait()
				if got := merged(t, out); o.code != 0 || !strings.Contains(o.stdout, text) || !maps.Equal(got, want) {
					t.Errorf("want %q: %s\nmerged: %v\nwant %v", text, o, got, want)
				}
			}
			var before []string
			left := len(want)
			for i, f := range read(t, out) {
				if !slices.Equal(f.Run.Resumes, before) || f.Run.Campaign != first.Run.Campaign ||
					f.Run.Sweep.Points != left || i > 0 && f.Run.Launch == first.Run.Launch {
					t.Errorf("file %d, which continues %v, plans %d points, want %v and %d: %+v", i, f.Run.Resumes,
						f.Run.Sweep.Points, before, left, f.Run)
				}
				before, left = append(before, f.Run.ID), left-len(f.Records)
			}
		})
	}
}

// --resume starts a new run in a missing folder. It measures points of another world, plan or variant.
func TestResumeMeasuresDifferences(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "missing")
	o := rankRun{args: small(out, "--resume")}.mustRun(t)
	has(t, o.stderr, "nothing to resume in "+out+"; starting a new run")
	has(t, o.stdout, "# next: post report "+out)
	one := len(merged(t, out))
	for i, l := range []rankRun{
		{np: 3, args: small(out, "--resume")},
		{args: small(out, "--resume --mode latency")},
		{args: small(out, "--resume --datatype int32")},
		{args: small(out, "--resume --variant tuned")},
		{args: small(out, "--resume --mode both --datatype float32,int32")}, // all but int32 in latency
	} {
		l.mustRun(t)
		files := read(t, out)
		if len(files) != i+2 || len(files[i+1].Records) != one {
			t.Fatalf("%v: %d files, want %d, each with %d records", l.args, len(files), i+2, one)
		}
		checkWhole(t, files[i+1], result.OK)
	}
}

// A launch interleaves its backends case by case; each backend has its own file, which names the others.
func TestInterleaved(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	rankRun{args: flags("--rehearse --backend mpi,nccl --collective all_reduce,all_gather -b 1K -e 4K -f 2 -n 5",
		"-w 1 --out", out)}.mustRun(t)
	files := map[string]*result.File{}
	for _, f := range read(t, out) {
		checkWhole(t, f, result.OK)
		checkEnd(t, f, result.Complete, 0)
		files[f.Run.Backend.Name] = f
		test.SliceEqOp(t, []string{"mpi", backend.Simulation}, f.Run.Interleaved, test.Sprint(f.Run.Backend.Name))
	}
	a, b := files["mpi"], files[backend.Simulation]
	if len(files) != 2 || a == nil || b == nil || len(a.Records) != 6 || len(b.Records) != 6 {
		t.Fatalf("not two files of two backends with six points each: %v", files)
	}
	if a.Run.Launch != b.Run.Launch || a.Run.Campaign != b.Run.Campaign {
		t.Error("the files are of different launches or campaigns")
	}
	for i := range a.Records {
		if a.Records[i].Case != b.Records[i].Case || a.Records[i].At > b.Records[i].At ||
			i > 0 && b.Records[i-1].At > a.Records[i].At {
			t.Errorf("point %d: %s at %s, then %s at %s", i, a.Records[i].Case, a.Records[i].At, b.Records[i].Case,
				b.Records[i].At)
		}
	}
}

// New backends and worlds of a resumed run belong to its campaign.
func TestResumeKeepsCampaign(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	rankRun{np: 3, args: simulated(small(out, "--worlds 2")...)}.mustRun(t)
	rankRun{np: 3, args: small(out, "--simulate --resume --backend mpi,nccl --worlds 2,3")}.mustRun(t)
	files := read(t, out)
	for _, f := range files {
		if f.Run.Campaign != files[0].Run.Campaign || len(files) != 5 {
			t.Errorf("%d files; %s is of campaign %s", len(files), f.Path, f.Run.Campaign)
		}
	}
}
