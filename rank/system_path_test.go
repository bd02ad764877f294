package main

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/exit"
)

// pathLaunch is a rehearsal of a small and a large all_reduce and alltoall that asks for their paths.
func pathLaunch(out string, env []string, args ...string) rankRun {
	return rankRun{mpirun: openMPI, np: 3, env: env,
		args: append([]string{"--rehearse", "--path", "--collective", "all_reduce,alltoall", "-b", "1K", "-e", "1M",
			"-f", "1024", "-n", "10", "--deadline", "20s", "--out", out}, args...)}
}

// Every version of NCCL's profiler interface tells the path, from the library to the table.
func TestPathByEveryInterface(t *testing.T) {
	t.Parallel()
	for _, k := range []struct {
		nccl            string
		version         string // of the interface, in the header's notes
		atMost, peerToo bool   // channels are the most that may be used; sends and receives have some
		args            []string
		note            string
	}{
		{nccl: "22304", version: "version 1", atMost: true},
		{nccl: "22501", version: "version 2", atMost: true},
		{nccl: "22606", version: "version 3", atMost: true},
		{nccl: "22707", version: "version 4", peerToo: true},
		{nccl: "22809", version: "version 5", peerToo: true, args: []string{"-m", "4", "-c", "0"}},
		{nccl: "23007", version: "version 6", peerToo: true, args: []string{"-G", "2"}, note: "outside the graph"},
		{nccl: "23007", version: "version 6", peerToo: true,
			args: []string{"--placement", "both", "--mode", "latency"}},
	} {
		t.Run(k.nccl+strings.Join(k.args, ""), func(t *testing.T) {
			parallel(t)
			out := t.TempDir()
			pathLaunch(out, []string{"BUSBAR_REHEARSAL_VERSION=" + k.nccl}, k.args...).mustRun(t)
			f := readOne(t, out)
			if !slices.ContainsFunc(f.Run.Backend.Notes,
				func(n string) bool { return strings.Contains(n, "profiler interface, "+k.version+" ") }) {
				t.Errorf("notes %q", f.Run.Backend.Notes)
			}
			for _, r := range f.Records {
				want := &result.Path{Algorithm: "TREE", Protocol: "LL", Channels: 2, AtMost: k.atMost}
				if r.SizeBytes > 64<<10 {
					want = &result.Path{Algorithm: "RING", Protocol: "SIMPLE", Channels: 16, AtMost: k.atMost}
				}
				if r.Collective == coll.AllToAll {
					want.Algorithm, want.Protocol = "", ""
					if r.SizeBytes < 1<<20 && want.Channels == 16 {
						want.Channels = 8 // a whole number of shares is a little less
					}
				}
				if r.Collective == coll.AllToAll && !k.peerToo {
					want = nil
				}
				if (r.Path == nil) != (want == nil) || want != nil && *r.Path != *want ||
					len(r.Warnings) > 0 && r.Warnings[0].Code() == (notice.PathDiffers{}).Code() {
					t.Errorf("%s: path %v, wanted %v; warnings %q", r.Case, r.Path, want, r.Warnings)
				}
				if k.note != "" && !strings.Contains(strings.Join(r.Notes, "\n"), k.note) {
					t.Errorf("%s: notes %q", r.Case, r.Notes)
				}
			}
			if rows := mergedRows(t, out); rows[0]["algorithm"] == "" || rows[0]["protocol"] == "" ||
				rows[0]["channels"] == "" {
				t.Errorf("merged: %v", rows[0])
			}
		})
	}
}

// Where nothing can be told the columns are empty, the header says why, and all else is as ever.
func TestPathOfAnOldLibrary(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	pathLaunch(out, []string{"BUSBAR_REHEARSAL_VERSION=22105"}).mustRun(t)
	f := readOne(t, out)
	if !strings.Contains(strings.Join(f.Run.Backend.Notes, "\n"), "path: unknown") {
		t.Errorf("notes %q", f.Run.Backend.Notes)
	}
	for _, row := range mergedRows(t, out) {
		if row["algorithm"]+row["protocol"]+row["channels"] != "" || row["status"] != "ok" {
			t.Errorf("%v", row)
		}
	}
}

// NCCL is told of no plugin unless that is asked for, and a plugin of the user's is never put aside.
func TestPathIsAskedFor(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	l := pathLaunch(out, nil)
	l.args = slices.DeleteFunc(l.args, func(a string) bool { return a == "--path" })
	l.mustRun(t)
	f := readOne(t, out)
	if f.Records[0].Path != nil || strings.Contains(strings.Join(f.Run.Backend.Notes, "\n"), "path:") ||
		f.Run.Environment["NCCL_PROFILER_PLUGIN"] != "" {
		t.Errorf("unasked: path %v, notes %q, environment %v", f.Records[0].Path, f.Run.Backend.Notes,
			f.Run.Environment)
	}
	out = t.TempDir()
	o := pathLaunch(out, []string{"NCCL_PROFILER_PLUGIN=/opt/theirs.so"}).run(t)
	if words := "it is set to /opt/theirs.so: unset it, or leave --path out"; o.code != exit.Environment ||
		!strings.Contains(o.stderr, words) {
		t.Errorf("want exit code %d and %q: %s", exit.Environment, words, o)
	}
	if names, _ := filepath.Glob(out + "/*"); len(names) > 0 {
		t.Errorf("there are files: %v", names)
	}
}

// NCCL cuts a long path, so the run does not start without paths that were asked for.
func TestPathOfPluginTooLong(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 250))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const plugin = "busbar-nccl-profiler.so"
	data, err := os.ReadFile(filepath.Join(compiled(t).lib, plugin))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, plugin), data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	o := pathLaunch(t.TempDir(), []string{"BUSBAR_LIB=" + dir + ":" + compiled(t).lib}).run(t)
	if o.code != exit.Environment || !strings.Contains(o.stderr, "at most 254") {
		t.Errorf("want exit code %d and the length: %s", exit.Environment, o)
	}
}

// What fails in the operation that is watched costs its point as any other does.
func TestFaultWhileWatched(t *testing.T) {
	parallel(t)
	out := t.TempDir()
	o := pathLaunch(out,
		[]string{"BUSBAR_REHEARSAL_FAULT=oom@rank=1,collective=all_reduce,size=1024,phase=path"}).run(t)
	f := readOne(t, out)
	if o.code != exit.Points || f.Records[0].Status != result.OOM || f.Records[0].Path != nil {
		t.Fatalf("%s, path %v: %s", f.Records[0].Status, f.Records[0].Path, o)
	}
	for _, r := range f.Records[1:] {
		if r.Status != result.OK || r.Path == nil {
			t.Errorf("after it %s is %s, path %v", r.Case, r.Status, r.Path)
		}
	}
}

// mergedRows is what post merge makes of a folder, by the names of the columns.
func mergedRows(t *testing.T, dir string) (rows []map[string]string) {
	t.Helper()
	to := t.TempDir()
	if said, err := exec.Command(compiled(t).post, "merge", "-o", to, dir).CombinedOutput(); err != nil {
		t.Fatalf("post merge: %v\n%s", err, said)
	}
	f, err := os.Open(filepath.Join(to, "merged.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil || len(all) < 2 {
		t.Fatalf("%d lines, %v", len(all), err)
	}
	for _, fields := range all[1:] {
		row := map[string]string{}
		for i, name := range all[0] {
			row[name] = fields[i]
		}
		rows = append(rows, row)
	}
	return rows
}
