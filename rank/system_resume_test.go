package main

import (
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/result"
)

// campaignArgs are a plan of about a second.
func campaignArgs(out string, more ...string) []string {
	return append([]string{"--collective", "all_reduce,broadcast", "-b", "64", "-e", "32K", "-f", "2", "--mode", "both",
		"--budget", "100ms", "-w", "1", "--out", out}, more...)
}

// cut ends rank 0 of a run by a signal in its midst, when at least n records are there: a rank that is stopped keeps it
// from going on. (The launcher would wake that one first.)
func (r *running) cut(dir string, n int, s syscall.Signal) {
	r.t.Helper()
	r.pid(1)
	r.awaitPoints(dir, n)
	r.signal(1, syscall.SIGSTOP)
	r.awaitStandstill(dir)
	r.signal(0, s)
	r.wait()
}

// A run that was interrupted, continued, lost its rank 0, and was continued again has the points of an undisturbed one,
// none of them twice.
func TestResume(t *testing.T) {
	t.Parallel()
	for _, mpirun := range []string{openMPI, mpich} {
		t.Run(mpirun, func(t *testing.T) {
			parallelOn(t, mpirun)
			whole, out := t.TempDir(), t.TempDir()
			begin := func(more ...string) *running {
				return rankRun{mpirun: mpirun, np: 2, args: campaignArgs(out, more...)}.start(t)
			}
			rankRun{mpirun: mpirun, np: 2, args: campaignArgs(whole)}.mustRun(t)
			want := merged(t, whole)

			begin().cut(out, 3, syscall.SIGTERM)
			first := readOne(t, out)
			checkEnd(t, first, result.Interrupted, 143)
			if n := len(first.Records); first.End.Left != len(want)-n {
				t.Errorf("the end says that %d points are left; %d of %d are measured", first.End.Left, n, len(want))
			}

			begin("--resume").cut(out, len(first.Records)+3, syscall.SIGKILL)
			if n := len(merged(t, out)); n >= len(want) {
				t.Fatalf("all %d points were measured before the run was killed", n)
			}

			o := begin("--resume").wait()
			if o.code != 0 || !strings.Contains(o.stdout, "continues run "+first.Run.ID) {
				t.Errorf("the second continuation: %s", o)
			}
			if got := merged(t, out); !maps.Equal(got, want) {
				t.Errorf("merged: %v\nwant %v", got, want)
			}
			checkChain(t, read(t, out), len(want))

			// Nothing is left, and to say so is no failure.
			o = begin("--resume").wait()
			if o.code != 0 || !strings.Contains(o.stdout, "nothing left to measure") {
				t.Errorf("a continuation of what is complete: %s", o)
			}
			if got := merged(t, out); !maps.Equal(got, want) {
				t.Errorf("merged: %v\nwant %v", got, want)
			}
		})
	}
}

// checkChain looks at how the files of a campaign hang together.
func checkChain(t *testing.T, files []*result.File, points int) {
	t.Helper()
	if len(files) != 3 {
		t.Fatalf("%d files, want 3", len(files))
	}
	var before []string
	ok := 0
	for i, f := range files {
		if !slices.Equal(f.Run.Resumes, before) {
			t.Errorf("file %d continues %v, want %v", i, f.Run.Resumes, before)
		}
		if f.Run.Campaign != files[0].Run.Campaign {
			t.Errorf("file %d is of campaign %s, the first of %s", i, f.Run.Campaign, files[0].Run.Campaign)
		}
		if i > 0 && f.Run.Launch == files[i-1].Run.Launch {
			t.Errorf("files %d and %d are of one launch", i-1, i)
		}
		if f.Run.Sweep.Points != points-ok {
			t.Errorf("file %d plans %d points, want %d", i, f.Run.Sweep.Points, points-ok)
		}
		before = append(before, f.Run.ID)
		ok += len(f.Records)
	}
	checkWhole(t, files[2], result.OK)
	checkEnd(t, files[2], result.Complete, 0)
}

// What another MPI, another world or another plan has measured does not count.
func TestResumeMeasuresWhatDiffers(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 2, args: small(out)}.mustRun(t)
	one := len(merged(t, out))
	for i, l := range []rankRun{
		{mpirun: mpich, np: 2, args: small(out, "--resume")},
		{mpirun: openMPI, np: 3, args: small(out, "--resume")},
		{mpirun: openMPI, np: 2, args: small(out, "--resume", "--mode", "latency")},
		{mpirun: openMPI, np: 2, args: small(out, "--resume", "--datatype", "int32")},
		{mpirun: openMPI, np: 2, args: small(out, "--resume", "--variant", "tuned")},
	} {
		l.mustRun(t)
		files := read(t, out)
		last := files[len(files)-1]
		if len(files) != i+2 || len(last.Records) != one {
			t.Errorf("%v: %d files, %d records, want %d and %d", l.args, len(files), len(last.Records), i+2, one)
		}
		checkWhole(t, last, result.OK)
	}
	// All of it is there now.
	rankRun{mpirun: openMPI, np: 2, args: small(out, "--resume", "--mode", "both", "--datatype",
		"float32,int32")}.mustRun(t)
	files := read(t, out)
	if n := len(files[len(files)-1].Records); n != one {
		t.Errorf("%d records, want the %d of int32 latency", n, one)
	}
}

// With cycles it is the cycle as well that a point is known by.
func TestResumeCycles(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 2, args: campaignArgs(out, "-N", "2", "-e", "256")}.start(t).cut(out, 3,
		syscall.SIGTERM)
	rankRun{mpirun: openMPI, np: 2, args: campaignArgs(out, "-N", "2", "-e", "256", "--resume")}.mustRun(t)
	cycles := map[int]int{}
	for p, n := range merged(t, out) {
		if n != 1 {
			t.Errorf("%v is there %d times", p, n)
		}
		cycles[p.Cycle]++
	}
	const points = 2 * 3 * 2 // collectives, sizes, modes
	if cycles[1] != points || cycles[2] != points || len(cycles) != 2 {
		t.Errorf("points by cycle: %v, want %d in 1 and 2", cycles, points)
	}
}

// A folder without results has nothing to continue; everything is measured.
func TestResumeNothing(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	o := rankRun{mpirun: openMPI, np: 2, args: small(out, "--resume")}.mustRun(t)
	checkWhole(t, readOne(t, out), result.OK)
	if !strings.Contains(o.stderr, "nothing to resume in "+out) {
		t.Error(o)
	}
}
