package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// decoded is the report of --preflight --json, which must be all of stdout.
func decoded(t *testing.T, o outcome) (v verdict, rows map[string]row) {
	t.Helper()
	var report struct {
		Verdict verdict
		Rows    []row
	}
	d := json.NewDecoder(strings.NewReader(o.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&report); err != nil || d.More() {
		t.Fatalf("not one JSON object: %v: %s", err, o)
	}
	rows = map[string]row{}
	for _, r := range report.Rows {
		if r.Found == "" || r.Where == nil || (r.Verdict == passed) != (r.Advice == "") {
			t.Errorf("not a whole row: %+v", r)
		}
		if before, seen := rows[r.Check]; !seen || before.Verdict == passed {
			rows[r.Check] = r
		}
	}
	return report.Verdict, rows
}

// Whether a machine under test is loaded, or has enough cores, is not asked here: either verdict but problem will do.
func TestPreflight(t *testing.T) {
	t.Parallel()
	for _, mpirun := range []string{openMPI, mpich} {
		t.Run(mpirun, func(t *testing.T) {
			parallelOn(t, mpirun)
			out := filepath.Join(t.TempDir(), "not", "there", "yet")
			o := launch{mpirun: mpirun, np: 2, args: []string{"--preflight", "--json", "--backend", "mpi", "--out", out}}.mustRun(t)
			v, rows := decoded(t, o)
			if v == problem || o.stderr != "" {
				t.Errorf("verdict %s: %s", v, o)
			}
			for check, words := range map[string]string{
				"MPI": "MPI", "ranks": "2 ranks", "hosts": hostName(), "CPUs": "2 ranks on", "host memory": "of buffers a rank", "shared memory": "for 2 ranks",
				"locked memory": "ulimit -l", "open files": "ulimit -n", "output": out, "side channel": "every rank is connected",
				"clocks": "one host", "all_gather": "every element is right on 2 ranks", "all_reduce": "every element is right on 2 ranks",
			} {
				r := rows[check]
				if !strings.Contains(r.Found, words) || check != "CPUs" && r.Verdict != passed || len(r.Where) != 1 {
					t.Errorf("%s, %s: %+v, want %q", mpirun, check, r, words)
				}
			}
			if _, err := os.Stat(out); err == nil {
				t.Errorf("%s was made", out)
			}
		})
	}
}

func TestPreflightForPeople(t *testing.T) {
	parallel(t)
	out := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(out, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	o := launch{mpirun: openMPI, np: 2, args: []string{"--preflight", "--backend", "mpi", "--out", out}}.run(t)
	if o.code != exitEnvironment || len(o.messages()) > 0 {
		t.Errorf("%s", o)
	}
	for _, words := range []string{"Preflight of 2 ranks on 1 host: mpi\n", "\nok       all_reduce", "\nPROBLEM  output", "-> name another with --out", "\n1 problem, "} {
		if !strings.Contains(o.stdout, words) {
			t.Errorf("no %q: %s", words, o.stdout)
		}
	}
	for line := range strings.Lines(o.stdout) {
		if len(line) > 81 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
}

// What keeps the ranks from coming together is in the report too.
func TestPreflightWithoutWorld(t *testing.T) {
	parallel(t)
	second := []string{":", "-np", "1", compiled(t).rank, "--preflight", "--json", "-c", "0"}
	for name, l := range map[string]launch{
		"MPI": {mpirun: openMPI, np: 2, args: []string{"--mpi", "/nonexistent.so", "--preflight", "--json"}},
		// Ranks that are not told the same might wait for each other for ever.
		"MPI: different command lines": {mpirun: openMPI, np: 1, args: []string{"--preflight", "--json"}, more: second},
		"MPI: sees a world of 1":       {mpirun: mpich, np: 2, args: []string{"--mpi", "openmpi", "--preflight", "--json"}},
	} {
		o := l.run(t)
		if o.code != exitEnvironment && name != "MPI" { // a rank without MPI gives its own code, and a launcher what it likes
			t.Errorf("%s: %s", name, o)
		}
		v, rows := decoded(t, o)
		_, words, _ := strings.Cut(name, ": ")
		if r := rows["MPI"]; v != problem || r.Verdict != problem || !strings.Contains(r.Found, words) {
			t.Errorf("%s: %+v", name, rows)
		}
	}
}

// A rehearsal is looked at as GPUs would be, and tried.
func TestPreflightOfRehearsal(t *testing.T) {
	parallel(t)
	args := []string{"--preflight", "--json", "--rehearse", "--backend", "nccl", "--out", t.TempDir()}
	v, rows := decoded(t, launch{mpirun: openMPI, np: 2, args: args}.mustRun(t))
	if v != caution { // it says itself that it is none
		t.Errorf("verdict %s", v)
	}
	for check, w := range map[string]want{"GPUs": {caution, "stand-ins"}, "NCCL": {passed, "rehearsal"}, "GPU of each rank": {passed, "each its own"},
		"peer access": {passed, "all"}, "all_reduce": {passed, "every element is right on 2 ranks"}} {
		expect(t, check, []row{rows[check]}, w)
	}
	for name, c := range map[string]struct {
		env   []string
		more  []string
		code  int
		check string
		want  want
	}{
		"one GPU":  {[]string{"CUDA_VISIBLE_DEVICES=0"}, nil, exitEnvironment, "GPU of each rank", want{problem, "2 ranks take one GPU"}},
		"untried":  {[]string{"CUDA_VISIBLE_DEVICES=0"}, nil, exitEnvironment, "backend", want{problem, "no collective was tried"}},
		"allowed":  {[]string{"CUDA_VISIBLE_DEVICES=0"}, []string{"--allow-shared-gpu"}, exitOK, "GPU of each rank", want{caution, "2 ranks take one GPU"}},
		"wrong":    {[]string{"BUSBAR_REHEARSAL_FAULT=wrong@rank=1,collective=all_reduce"}, nil, exitEnvironment, "all_reduce", want{problem, "wrong data"}},
		"memory":   {[]string{"BUSBAR_REHEARSAL_FAULT=oom@collective=all_reduce"}, nil, exitEnvironment, "all_reduce", want{problem, "Failed to CUDA malloc"}},
		"hang":     {[]string{"BUSBAR_REHEARSAL_FAULT=hang@rank=1"}, []string{"--deadline", "2s"}, exitHang, "communication", want{problem, "rank 1 on"}},
		"no start": {[]string{"BUSBAR_REHEARSAL_FAULT=init-hang"}, []string{"--deadline", "2s"}, exitHang, "communication", want{problem, "NCCL init"}},
	} {
		o := launch{mpirun: openMPI, np: 2, args: append(args, c.more...), env: c.env}.run(t)
		_, rows := decoded(t, o)
		if o.code != c.code {
			t.Errorf("%s: want code %d: %s", name, c.code, o)
		}
		expect(t, name, []row{rows[c.check]}, c.want)
	}
}

// Without driver and library both are asked for, each in its row.
func TestPreflightWithoutGPU(t *testing.T) {
	parallel(t)
	none := filepath.Join(t.TempDir(), "none")
	o := launch{mpirun: openMPI, np: 2, args: []string{"--preflight", "--json", "--backend", "nccl", "--cuda", none, "--nccl", none}}.run(t)
	v, rows := decoded(t, o)
	if o.code != exitEnvironment || v != problem || len(o.messages()) > 0 {
		t.Errorf("%s", o)
	}
	expect(t, "GPUs", []row{rows["GPUs"]}, want{problem, none})
	expect(t, "NCCL", []row{rows["NCCL"]}, want{problem, none})
}
