package main

import (
	"slices"
	"testing"

	"busbar/internal/result"
	"busbar/rank/backend"
)

// Backends of one launch take turns case by case; each has a file of its own, and the files know of each other.
func TestInterleaved(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	rankRun{mpirun: openMPI, np: 2, args: []string{"--rehearse", "--backend", "mpi,nccl", "--collective",
		"all_reduce,all_gather", "-b", "1K", "-e", "4K",
		"-f", "2", "-n", "5", "-w", "1", "--out", out}}.mustRun(t)
	files := map[string]*result.File{}
	for _, f := range read(t, out) {
		checkWhole(t, f, result.OK)
		checkEnd(t, f, result.Complete, 0)
		files[f.Run.Backend.Name] = f
		if !slices.Equal(f.Run.Interleaved, []string{"mpi", backend.Simulation}) {
			t.Errorf("%s: interleaved %q", f.Run.Backend.Name, f.Run.Interleaved)
		}
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

// Backends and worlds that a continued run measures for the first time are of the campaign that it continues.
func TestResumeKeepsTheCampaign(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	args := []string{"--rehearse", "--collective", "all_reduce", "-b", "1K", "-e", "1K", "-n", "5", "-w", "1", "--out",
		out, "--resume", "--backend"}
	rankRun{mpirun: openMPI, np: 3, args: append(args, "nccl", "--worlds", "2")}.mustRun(t)
	rankRun{mpirun: openMPI, np: 3, args: append(args, "mpi,nccl", "--worlds", "2,3")}.mustRun(t)
	files := read(t, out)
	if len(files) != 5 {
		t.Fatalf("%d files, want one and then four", len(files))
	}
	for _, f := range files {
		if f.Run.Campaign != files[0].Run.Campaign {
			t.Errorf("%s is of campaign %s, and %s of %s", f.Path, f.Run.Campaign, files[0].Path, files[0].Run.Campaign)
		}
	}
}
