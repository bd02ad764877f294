package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/result"
	"busbar/post/steps/stepstest"
	"github.com/shoenig/test/must"
)

// snapshots are commands over the corpus of saveCorpus: their output, exit codes and written text files are kept in
// testdata/snapshots, one file per line here.
var snapshots = map[string]string{
	"show-examples":     "show cpu-quick h100-two-nodes step-cpu",
	"show-peak":         "show --peak 450GB/s h100-two-nodes",
	"show-fixtures":     "show fixtures",
	"show-damaged":      "show damaged",
	"show-simulated":    "show simulated",
	"show-steps":        "show steps",
	"merge-damaged":     "merge -o out damaged",
	"merge-all":         "merge -o out --include-rehearsed fixtures/h100 simulated",
	"report-example":    "report -o out cpu-quick",
	"report-imported":   "report -o out h100-two-nodes",
	"report-peak":       "report -o out --peak 400GB/s findings/drop",
	"report-fixtures":   "report -o out fixtures",
	"report-simulated":  "report -o out simulated",
	"report-steps":      "report -o out steps/mpi steps/gloo steps/cut-off",
	"report-comparison": "report --layout comparison -o out fixtures/mpi-4 fixtures/gloo-4",
	"compare-text":      "compare fixtures/mpi-4 fixtures/gloo-4",
	"compare-launches":  "compare --by launch before",
	"compare-json":      "compare --format json before after",
	"compare-markdown":  "compare --format md before after",
	"compare-steps":     "compare steps/mpi steps/mpi-again",
	"compare-no-pair":   "compare steps/mpi steps/gloo",
	"timeline-example":  "timeline ddp-timeline",
	"timeline-results":  "timeline --results cpu-quick ddp-timeline",
	"timeline-markdown": "timeline --format markdown ddp-timeline",
	"timeline-step":     "timeline step-cpu/step_mpi_world2_20261122T143445370Z_trace",
	"log-good":          "log logs/good.log",
	"log-bad":           "log --format markdown logs/bad.log",
	"log-json":          "log --format json logs/bad.log",
	"log-against":       "log logs/good.log --against logs/bad.log",
	"log-ranks":         "log logs/ranks",
	"log-hostile":       "log logs/hostile.log",
	"plot-nothing":      "plot findings/empty",
	"import-nothing":    "import -o out damaged",
	"export":            "export --format nccl-tests -o out fixtures/mpi-2",
}

// TestSnapshots shows every change of what commands print; -update writes the files anew.
func TestSnapshots(t *testing.T) {
	corpus := t.TempDir()
	saveCorpus(t, corpus)
	kept, err := filepath.Abs(filepath.Join("testdata", "snapshots"))
	must.NoError(t, err)
	t.Chdir(corpus)
	for _, name := range slices.Sorted(maps.Keys(snapshots)) {
		golden.Text(t, filepath.Join(kept, name+".txt"), snapshot(t, corpus, snapshots[name]))
	}
}

// snapshot runs a command and returns its output and files.
func snapshot(t *testing.T, corpus, command string) string {
	t.Helper()
	var stdout, stderr, all bytes.Buffer
	code := exitCode(run(t.Context(), strings.Fields(command), &stdout, &stderr), &stderr)
	fmt.Fprintf(&all, "$ post %s\n%s", command, &stdout)
	if stderr.Len() > 0 {
		fmt.Fprintf(&all, "--- stderr\n%s", &stderr)
	}
	fmt.Fprintf(&all, "--- exit %d\n", code)
	err := filepath.WalkDir("out", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".md", ".csv", ".txt", ".prom"}, filepath.Ext(path)) {
			return nil
		}
		if strings.HasPrefix(command, "report ") && (d.Name() == "merged.csv" || d.Name() == "steps.csv") {
			return nil // merge has snapshots of its own
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&all, "--- %s\n%s", path, text)
		return err
	})
	must.NoError(t, err)
	must.NoError(t, os.RemoveAll("out"))
	// A folder of this run, and the program's own version, differ from machine to machine.
	text := strings.ReplaceAll(all.String(), corpus, "CORPUS")
	return regexp.MustCompile(`post, busbar .*`).ReplaceAllString(text, "post, busbar VERSION")
}

// saveCorpus writes made-up results of every kind, and copies the examples and the logs of log.txtar.
func saveCorpus(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"cpu-quick", "h100-two-nodes", "step-cpu", "ddp-timeline"} {
		must.NoError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join("..", "examples", name))))
	}
	for name, in := range map[string]string{
		"quick": "fixtures/mpi-4", "world2": "fixtures/mpi-2", "problems": "fixtures/problems",
		"interrupted": "fixtures/interrupted", "h100": "fixtures/h100", "twonodes": "fixtures/twonodes",
		"gloo4": "fixtures/gloo-4", "gloo2": "fixtures/gloo-2",
		"rehearsed": "simulated", "rehearsed2": "simulated", "empty": "findings/empty", "tiny": "damaged",
	} {
		fixtures[name].save(t, filepath.Join(dir, in))
	}
	for _, name := range []string{"mpi", "mpi-again", "gloo", "cut-off", "rehearsed"} {
		stepstest.Save(t, filepath.Join(dir, "steps", name), stepRuns[name]().File())
	}
	launches{first: 0, step: 2, n: 5, factor: 1, noise: 0.01}.save(t, filepath.Join(dir, "before"))
	launches{first: 1, step: 2, n: 5, factor: 1.2, noise: 0.01}.save(t, filepath.Join(dir, "after"))
	for name, text := range damaged(t) {
		write(t, filepath.Join(dir, "damaged", name), text)
	}
	archive, err := txtar.ParseFile(filepath.Join("testdata", "script", "log.txtar"))
	must.NoError(t, err)
	for _, f := range archive.Files {
		write(t, filepath.Join(dir, "logs", f.Name), f.Data)
	}
	saveDrop(t, filepath.Join(dir, "findings", "drop"))
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.NoError(t, os.WriteFile(path, text, 0o644))
}

// damaged are files that no program wrote whole.
func damaged(t *testing.T) map[string][]byte {
	text := fixtures["quick"].lines(t)
	return map[string][]byte{
		"torn.jsonl":    text[:len(text)*9/10],
		"empty.jsonl":   nil,
		"foreign.jsonl": []byte("{\"a\": 1}\n"),
		"newer.jsonl":   []byte("{\"kind\":\"run\",\"schema\":99}\n"),
		"half.jsonl":    text[:80],
	}
}

// saveDrop writes a sweep from 8 B to 1 GiB of 16 ranks on two nodes, with less bandwidth from 1 to 4 MiB.
func saveDrop(t *testing.T, dir string) {
	t.Helper()
	start := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	run := &result.Run{
		Kind: result.KindRun, Schema: result.Schema, ID: "drop0", Launch: "launch-0", Start: start,
		Tool: "busbar 0.1.0", Backend: result.Backend{Name: "nccl", Library: "NCCL 2.27.7"}, World: 16, Nodes: 2,
		RanksPerNode: 8, Device: "NVIDIA H100 80GB HBM3", Variant: "drop", Machine: result.Machine{Host: "node17"},
		Method:   result.Method{Warmup: 5, Average: "max over ranks"},
		Hardware: &result.Hardware{Ports: []result.Port{{Name: "mlx5_0/1", Link: "InfiniBand", Rate: 400}}},
	}
	var records []*result.Record
	for _, mode := range []coll.Mode{coll.Throughput, coll.Latency} {
		for k := 3; k <= 30; k++ {
			at := coll.Case{
				Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1, Placement: coll.OutOfPlace,
				Mode: mode, World: 16,
			}.WithSize(1 << k)
			s := (20e-6 + float64(at.SizeBytes)/100e9) * (1 + 0.004*math.Sin(float64(7*k+int(coll.OutOfPlace))))
			r := &result.Record{
				Kind: result.KindCase, N: len(records) + 1, Case: at, Status: result.OK,
				Check: result.Check{Result: "ok", Rounds: 1},
				Time: &result.Time{
					Seconds: s, Lo: 0.99 * s, Hi: 1.01 * s, Min: 0.9 * s, P90: 1.1 * s, P99: 1.2 * s, Max: 1.3 * s,
					Samples: 50, Iterations: 1000, Stop: "precision", Sync: "barrier", Summary: "max over ranks",
				},
			}
			if at.SizeBytes >= 1<<20 && at.SizeBytes <= 4<<20 {
				r.Time.Seconds, r.Time.Lo, r.Time.Hi = 1.5*s, 1.5*r.Time.Lo, 1.5*r.Time.Hi
			}
			records = append(records, r)
		}
	}
	end := &result.End{Kind: result.KindEnd, At: start.Add(time.Minute), Outcome: result.Complete}
	write(t, filepath.Join(dir, "profile_drop_0.jsonl"), encode(t, run, nil, records, end))
}
