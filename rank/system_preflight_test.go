package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/rank/exit"
	"busbar/rank/preflight"
)

// checked is a row of the JSON report with its notice.
type checked struct {
	preflight.ReportedRow
	reportedNotice
}

// reportedPreflight is the JSON of a report.
type reportedPreflight struct {
	Schema  int
	Kind    string
	Verdict preflight.Verdict
	Rows    []preflight.ReportedRow
	Notices []reportedNotice
}

// reportedNotice is a notice of a report.
type reportedNotice struct {
	Code       notice.Code
	Severity   notice.Severity
	Message    string
	Location   *notice.Location
	Parameters map[string]any
	Count      int
}

// decoded is the report of --preflight --json, which must be all of stdout: of each check the first row, or its first
// finding.
func decoded(t *testing.T, o outcome) (v preflight.Verdict, rows map[string]checked) {
	t.Helper()
	var report reportedPreflight
	d := json.NewDecoder(strings.NewReader(o.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&report); err != nil || d.More() {
		t.Fatalf("not one JSON object: %v: %s", err, o)
	}
	if len(report.Notices) != len(report.Rows) {
		t.Fatalf("%d notices of %d rows", len(report.Notices), len(report.Rows))
	}
	rows = map[string]checked{}
	for i, r := range report.Rows {
		if r.Found == "" || r.Where == nil || (r.Verdict == preflight.Passed) != (r.Advice == "") ||
			r.Code != report.Notices[i].Code {
			t.Errorf("not a whole row: %+v", r)
		}
		if before, seen := rows[r.Check]; !seen || before.Verdict == preflight.Passed {
			rows[r.Check] = checked{r, report.Notices[i]}
		}
	}
	return report.Verdict, rows
}

// reports compares a row with a verdict, a code, and words of a parameter ("" for none).
func (c checked) reports(t *testing.T, name string, v preflight.Verdict, code notice.Code, parameter, words string) {
	t.Helper()
	got := fmt.Sprint(c.Parameters[parameter])
	if c.Verdict != v || c.ReportedRow.Code != code || parameter != "" && !strings.Contains(got, words) {
		t.Errorf("%s: %+v, want %s, %s with %s %q", name, c, v, code, parameter, words)
	}
}

// Whether a machine under test is loaded, or has enough cores, is not asked here: either verdict but problem will do.
func TestPreflight(t *testing.T) {
	t.Parallel()
	for _, mpirun := range []string{openMPI, mpich} {
		t.Run(mpirun, func(t *testing.T) {
			parallelOn(t, mpirun)
			out := filepath.Join(t.TempDir(), "not", "there", "yet")
			o := rankRun{mpirun: mpirun, np: 2,
				args: []string{"--preflight", "--json", "--backend", "mpi", "--out", out}}.mustRun(t)
			v, rows := decoded(t, o)
			if v == preflight.Problem || o.stderr != "" {
				t.Errorf("verdict %s: %s", v, o)
			}
			for check, want := range map[string][3]string{ // code, parameter, words
				"MPI": {"mpi-in-use", "library", "MPI"}, "hosts": {"one-host",
					"host",
					hostName()},
				"host memory": {"host-memory", "ranks", ""}, "shared memory": {"shared-memory", "ranks", "2"},
				"locked memory": {"locked-memory", "limit", ""}, "open files": {"open-files", "limit",
					""}, "output": {"output-folder", "folder", out},
				"side channel": {"side-channel", "state", "open"}, "clocks": {"one-clock", "reading_s", ""},
				"all_gather": {"collective-correct", "ranks", "2"}, "all_reduce": {"collective-correct", "ranks", "2"},
			} {
				rows[check].reports(t, mpirun+", "+check, preflight.Passed, notice.Code(want[0]), want[1], want[2])
				if len(rows[check].Where) != 1 {
					t.Errorf("%s, %s: %v", mpirun, check, rows[check].Where)
				}
			}
			if r := rows["CPUs"]; r.Parameters["ranks"] != 2.0 || len(r.Where) != 1 {
				t.Errorf("%+v", r)
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
	o := rankRun{mpirun: openMPI, np: 2, args: []string{"--preflight", "--backend", "mpi", "--out", out}}.run(t)
	if o.code != exit.Environment || len(o.messages()) > 0 {
		t.Errorf("%s", o)
	}
	for _, words := range []string{"Preflight of 2 ranks on 1 host: mpi\n", "\nok       all_reduce",
		"\nPROBLEM  output",
		" [output-unusable]\n", "\n           advice        name another with --out\n", "\nNot ready: 1 problem, "} {
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
	for words, l := range map[string]rankRun{
		"no MPI shim": {mpirun: openMPI, np: 2, args: []string{"--mpi", "/nonexistent.so", "--preflight", "--json"}},
		// Ranks that are not told the same might wait for each other for ever.
		"different command lines": {mpirun: openMPI, np: 1, args: []string{"--preflight", "--json"}, more: second},
		"sees a world of 1":       {mpirun: mpich, np: 2, args: []string{"--mpi", "openmpi", "--preflight", "--json"}},
	} {
		o := l.run(t)
		// A rank without MPI gives its own code, and a launcher what it likes.
		if o.code != exit.Environment && words != "no MPI shim" {
			t.Errorf("%s: %s", words, o)
		}
		v, rows := decoded(t, o)
		rows["MPI"].reports(t, words, preflight.Problem, "mpi-unusable", "problem", words)
		if r := rows["MPI"]; v != preflight.Problem || r.Advice != r.Parameters["remedy"] {
			t.Errorf("%s: %+v", words, rows)
		}
	}
}

// A rehearsal is looked at as GPUs would be, and tried.
func TestPreflightOfRehearsal(t *testing.T) {
	parallel(t)
	args := []string{"--preflight", "--json", "--rehearse", "--backend", "nccl", "--out", t.TempDir()}
	v, rows := decoded(t, rankRun{mpirun: openMPI, np: 2, args: args}.mustRun(t))
	if v != preflight.Caution { // it says itself that it is none
		t.Errorf("verdict %s", v)
	}
	rows["GPUs"].reports(t, "GPUs", preflight.Caution, "gpus-simulated", "models", "gpus:")
	rows["NCCL"].reports(t, "NCCL", preflight.Passed, "nccl-in-use", "library", "rehearsal")
	rows["GPU of each rank"].reports(t, "GPUs", preflight.Passed, "own-gpus", "", "")
	rows["peer access"].reports(t, "peers", preflight.Passed, "peer-access", "gpus", "")
	rows["all_reduce"].reports(t, "all_reduce", preflight.Passed, "collective-correct", "ranks", "2")
	for name, c := range map[string]struct {
		env   []string
		more  []string
		code  int
		check string
		v     preflight.Verdict
		want  [3]string // code, parameter, words
	}{
		"one GPU": {[]string{"CUDA_VISIBLE_DEVICES=0"}, nil, exit.Environment, "GPU of each rank", preflight.Problem,
			[3]string{"shared-gpu", "ranks", "2"}},
		"untried": {[]string{"CUDA_VISIBLE_DEVICES=0"}, nil, exit.Environment, "backend", preflight.Problem,
			[3]string{"backend-not-tried", "backends", "nccl"}},
		"allowed": {[]string{"CUDA_VISIBLE_DEVICES=0"}, []string{"--allow-shared-gpu"}, exit.OK, "GPU of each rank",
			preflight.Caution, [3]string{"shared-gpu", "allowed", "true"}},
		"wrong": {[]string{"BUSBAR_REHEARSAL_FAULT=wrong@rank=1,collective=all_reduce"}, nil, exit.Environment,
			"all_reduce", preflight.Problem, [3]string{"collective-wrong", "cause", "point-wrong"}},
		"memory": {[]string{"BUSBAR_REHEARSAL_FAULT=oom@collective=all_reduce"}, nil, exit.Environment, "all_reduce",
			preflight.Problem, [3]string{"collective-failed", "cause", "rank-failed"}},
		"buffers of the run": {nil, []string{"--rotate", "64T"}, exit.Environment, "backend", preflight.Problem,
			[3]string{"backend-unavailable", "problem", "OUT_OF_MEMORY"}},
		"hang": {[]string{"BUSBAR_REHEARSAL_FAULT=hang@rank=1"}, []string{"--deadline", "2s"}, exit.Hang,
			"communication", preflight.Problem, [3]string{"preflight-stopped", "cause", "rank 1 on"}},
		"no start": {[]string{"BUSBAR_REHEARSAL_FAULT=init-hang"}, []string{"--deadline", "2s"}, exit.Hang,
			"communication",
			preflight.Problem, [3]string{"preflight-stopped", "cause", "NCCL init"}},
	} {
		o := rankRun{mpirun: openMPI, np: 2, args: append(args, c.more...), env: c.env}.run(t)
		_, rows := decoded(t, o)
		if o.code != c.code {
			t.Errorf("%s: want code %d: %s", name, c.code, o)
		}
		rows[c.check].reports(t, name, c.v, notice.Code(c.want[0]), c.want[1], c.want[2])
	}
}

// Without driver and library both are asked for, each in its row.
func TestPreflightWithoutGPU(t *testing.T) {
	parallel(t)
	none := filepath.Join(t.TempDir(), "none")
	o := rankRun{mpirun: openMPI, np: 2,
		args: []string{"--preflight", "--json", "--backend", "nccl", "--cuda", none, "--nccl", none}}.run(t)
	v, rows := decoded(t, o)
	if o.code != exit.Environment || v != preflight.Problem || len(o.messages()) > 0 {
		t.Errorf("%s", o)
	}
	rows["GPUs"].reports(t, "GPUs", preflight.Problem, "gpu-driver-unusable", "tried", none)
	rows["NCCL"].reports(t, "NCCL", preflight.Problem, "nccl-unusable", "tried", none)
}
