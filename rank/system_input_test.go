package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/rank/exit"
)

// What is wrong with the command line or the sweep is said once, with what would be right, and nothing is written.
func TestBadInput(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"key.yaml":   "collectives: [all_reduce]\nsizes:\n  begin: 8\n  edn: 64K\n",
		"word.yaml":  "collectives: [all_reduce]\ntypes: [flaot32]\nsizes: [8]\n",
		"range.yaml": "collectives: [all_reduce]\nsizes: {begin: 64K, end: 8, factor: 2}\n",
		"tab.yaml":   "collectives:\n\t- all_reduce\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	mpirun := openMPI // two ranks, one message
	for i, c := range []struct {
		args  string
		words []string
	}{
		{"--minbyte 8", []string{"minbyte", "--minbytes"}},
		{"--sweep " + in("key.yaml"), []string{in("key.yaml") + ":4:3:", "edn", "end"}},
		{"--sweep " + in("word.yaml"), []string{in("word.yaml") + ":2:", "flaot32", "float32"}},
		{"--sweep " + in("range.yaml"), []string{in("range.yaml") + ":2:", "64K", "8"}},
		{"--sweep " + in("tab.yaml"), []string{in("tab.yaml") + ":2:"}},
		{"--sweep " + in("none.yaml"), []string{in("none.yaml"), "no such file"}},
		{"--sweep profil", []string{"profil", "profile"}},
		{"-b 64K -e 8", []string{"64K", "8"}},
		{"-r 7 --collective broadcast -b 8", []string{"7"}},
		{"--backend mpi --cudagraph 1", []string{"--cudagraph", "belongs to NCCL"}},
		{"--rehearse -G 1 --mode latency", []string{"-G", "no latency"}},
	} {
		out := t.TempDir()
		o := rankRun{mpirun: mpirun, np: 2, args: append(strings.Fields(c.args), "--out", out),
			env: []string{killAtOnce}}.run(t)
		if i > 0 {
			mpirun = alone // each is found as one of these two: by all ranks, or by rank 0 for all
		}
		said := o.messages()
		if o.code != exit.Usage || len(said) != 1 || o.stdout != "" {
			t.Errorf("rank %s: want exit code %d and one message: %s", c.args, exit.Usage, o)
			continue
		}
		for _, w := range c.words {
			if !strings.Contains(strings.TrimPrefix(o.stderr, "rank: "), w) {
				t.Errorf("rank %s: no %q in %q", c.args, w, o.stderr)
			}
		}
		checkNothing(t, out)
	}
}

// What is asked about the program is answered by one rank, without MPI, and writes nothing.
func TestQuestions(t *testing.T) {
	parallel(t)
	noMPI := []string{"BUSBAR_LIB=/nonexistent"}
	program := filepath.Join(t.TempDir(), "rank") // with no lib beside it
	if err := os.Link(compiled(t).rank, program); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args  string
		words []string
	}{
		{"--help", []string{"--minbytes", "--resume", "Exit codes", "Examples"}},
		{"--version", []string{"rank of busbar "}},
		{"--list", []string{"# plan: quick on mpi, 2 ranks", "all_reduce", "alltoall", "expected"}},
		{"--list --sweep baseline", []string{"# plan: baseline", "8589934592", "memory"}},
		{"--list -b 8 -e 1K -f 2 --worlds 2,4", []string{"# world 2", "# world 4: skipped", " 1024 "}},
	} {
		dir := t.TempDir()
		o := rankRun{mpirun: openMPI, np: 2, program: program, args: strings.Fields(c.args), env: noMPI,
			dir: dir}.mustRun(t)
		if o.stderr != "" {
			t.Errorf("rank %s: stderr %s", c.args, o.stderr)
		}
		for _, w := range c.words {
			if !strings.Contains(o.stdout, w) {
				t.Errorf("rank %s: no %q in %s", c.args, w, o.stdout)
			}
		}
		if first, _, _ := strings.Cut(o.stdout, "\n"); strings.Count(o.stdout, first) != 1 {
			t.Errorf("rank %s: said by more than one rank: %s", c.args, o.stdout)
		}
		checkNothing(t, dir)
		if one := (rankRun{mpirun: alone, program: program, args: strings.Fields(c.args), env: noMPI,
			dir: dir}).run(t); one.code != 0 {
			t.Errorf("rank %s without a launcher: %s", c.args, one)
		}
	}
}
