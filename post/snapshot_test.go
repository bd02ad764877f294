package main

import (
	"bytes"
	"encoding/json"
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
)

// snapshots are commands over the corpus of saveCorpus: what they print on both streams, their exit codes, and the text
// files that they write are kept in testdata/snapshots, one file per line here.
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
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(corpus)
	commands := maps.Clone(snapshots)
	for name := range oddities {
		commands["report-"+name] = "report -o out findings/" + name
	}
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		got := snapshot(t, corpus, commands[name])
		golden.Text(t, filepath.Join(kept, name+".txt"), got)
		lost(t, filepath.Join(kept, "numbers", name+".txt"), got)
	}
}

// snapshot runs a command and returns what it printed and wrote.
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
		text, err := os.ReadFile(path)
		fmt.Fprintf(&all, "--- %s\n%s", path, text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll("out"); err != nil {
		t.Fatal(err)
	}
	// A folder of this run, and the program's own version, differ from machine to machine.
	text := strings.ReplaceAll(all.String(), corpus, "CORPUS")
	return regexp.MustCompile(`post, busbar .*`).ReplaceAllString(text, "post, busbar VERSION")
}

var numbers = regexp.MustCompile(`\d+(?:[.,]\d+)*`)

// lost reports the numbers that a snapshot had when it was first taken and that its command no longer prints: no fact
// may get lost when messages are reworded. A number that went on purpose is deleted from the file, with the reason in
// the commit.
func lost(t *testing.T, path, got string) {
	t.Helper()
	have := map[string]bool{}
	for _, n := range numbers.FindAllString(got, -1) {
		have[trimmed(n)] = true
	}
	old, err := os.ReadFile(path)
	if os.IsNotExist(err) && golden.Update() {
		old = []byte(strings.Join(slices.Sorted(maps.Keys(have)), " ") + "\n")
		if err := os.WriteFile(path, old, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if err != nil {
		t.Fatal(err)
	}
	gone := slices.DeleteFunc(strings.Fields(string(old)), func(n string) bool { return have[trimmed(n)] })
	if len(gone) > 0 {
		t.Errorf("%s: numbers that are lost: %v", path, gone)
	}
}

// trimmed is a number without trailing zeros.
func trimmed(n string) string {
	if strings.Contains(n, ".") {
		return strings.TrimSuffix(strings.TrimRight(n, "0"), ".")
	}
	return n
}

// saveCorpus writes made-up results of every kind, and copies the examples and the logs of log.txtar.
func saveCorpus(t *testing.T, dir string) {
	t.Helper()
	for _, name := range []string{"cpu-quick", "h100-two-nodes", "step-cpu", "ddp-timeline"} {
		if err := os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join("..", "examples", name))); err != nil {
			t.Fatal(err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		write(t, filepath.Join(dir, "logs", f.Name), f.Data)
	}
	for name, edit := range oddities {
		for launch := range map[string]int{"launches": 5, "scaling": 1}[name] + 1 {
			saveOddity(t, filepath.Join(dir, "findings", name), launch, edit)
		}
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
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

// oddities are what a curve of a sound sweep is made into, each for one kind of finding.
var oddities = map[string]func(launch int, run *result.Run, r *result.Record){
	"drop":     slowAt(1<<20, 4<<20, 1.5),
	"spike":    slowAt(1<<20, 2<<20, 0.6),
	"step":     slowAt(64<<10, 1<<40, 1.4),
	"decline":  slowAt(256<<20, 1<<40, 2),
	"in-place": func(_ int, run *result.Run, r *result.Record) { slowIn(r, coll.InPlace, 1.5) },
	"scaling": func(launch int, run *result.Run, r *result.Record) {
		if launch == 1 {
			run.World, run.Nodes, r.World = 32, 4, 32
			slowAt(0, 1<<40, 1.6)(0, nil, r)
		}
	},
	"late-rank": func(_ int, _ *result.Run, r *result.Record) { r.Ranks = ranksOf(r, 3, 0.4) },
	"warned": func(_ int, _ *result.Run, r *result.Record) {
		r.Older = []string{"drift within the case: the last third of the samples is +12.3 % from the first",
			"two modes: 12.5 us (60 % of samples) and 25 us (40 %); the median stands for one of them at most"}
	},
	"launches": func(launch int, _ *result.Run, r *result.Record) {
		if launch == 2 {
			r.Time.Seconds, r.Time.Lo, r.Time.Hi = 1.8*r.Time.Seconds, 1.8*r.Time.Lo, 1.8*r.Time.Hi
		}
	},
	"crowded": func(_ int, run *result.Run, _ *result.Record) {
		run.Older = []string{"oversubscribed: 16 ranks share 2 cores on node17: figures say nothing about speed"}
	},
}

func slowAt(from, to int64, factor float64) func(int, *result.Run, *result.Record) {
	return func(_ int, _ *result.Run, r *result.Record) {
		if r.SizeBytes >= from && r.SizeBytes <= to {
			r.Time.Seconds, r.Time.Lo, r.Time.Hi = factor*r.Time.Seconds, factor*r.Time.Lo, factor*r.Time.Hi
		}
	}
}

// slowIn makes one placement slower.
func slowIn(r *result.Record, p coll.Placement, factor float64) {
	if r.Placement == p {
		slowAt(1<<20, 1<<40, factor)(0, nil, r)
	}
}

// ranksOf are times of ranks of which one issues last.
func ranksOf(r *result.Record, late int, share float64) *result.Ranks {
	ranks := &result.Ranks{
		Slowest:     0,
		SlowestHost: "node17",
		SlowestS:    1.3 * r.Time.Seconds,
		Latest:      late,
		LatestHost:  "node18",
		Lateness:    share * r.Time.Seconds,
		Uncertainty: 1e-7,
	}
	for i := range r.World {
		ranks.Median, ranks.Late = append(
			ranks.Median,
			r.Time.Seconds,
		), append(
			ranks.Late,
			share*r.Time.Seconds*float64(i)/float64(r.World),
		)
	}
	ranks.Median[0] *= 1.3
	return ranks
}

// saveOddity writes a sweep from 8 B to 1 GiB of 16 ranks on two nodes.
func saveOddity(t *testing.T, dir string, launch int, edit func(int, *result.Run, *result.Record)) {
	t.Helper()
	start := time.Date(2026, 3, 2, 12, launch, 0, 0, time.UTC)
	name := filepath.Base(dir)
	run := &result.Run{
		Kind:   result.KindRun,
		Schema: result.Schema,
		ID:     fmt.Sprint(name, launch),
		Launch: fmt.Sprint("launch-", launch),
		Start:  start,
		Tool:   "busbar 0.1.0",
		Backend: result.Backend{
			Name:    "nccl",
			Library: "NCCL 2.27.7",
		},
		World:        16,
		Nodes:        2,
		RanksPerNode: 8,
		Device:       "NVIDIA H100 80GB HBM3",
		Variant:      name,
		Machine:      result.Machine{Host: "node17"},
		Method:       result.Method{Warmup: 5, Average: "max over ranks"},
		Hardware:     &result.Hardware{Ports: []result.Port{{Name: "mlx5_0/1", Link: "InfiniBand", Rate: 400}}},
	}
	var records []*result.Record
	for _, mode := range []coll.Mode{coll.Throughput, coll.Latency} {
		for _, placement := range map[bool][]coll.Placement{true: both, false: out}[name == "in-place"] {
			for k := 3; k <= 30; k++ {
				at := coll.Case{
					Collective: coll.AllReduce,
					Type:       coll.Float32,
					Op:         coll.Sum,
					Root:       -1,
					Placement:  placement,
					Mode:       mode,
					World:      16,
				}.WithSize(
					1 << k,
				)
				if at.Count == 0 {
					continue
				}
				s := (20e-6 + float64(at.SizeBytes)/100e9) * (1 + 0.004*math.Sin(float64(7*k+int(placement)+31*launch)))
				r := &result.Record{
					Kind:   result.KindCase,
					N:      len(records) + 1,
					Case:   at,
					Status: result.OK,
					Check:  result.Check{Result: "ok", Rounds: 1},
					Time: &result.Time{
						Seconds:    s,
						Lo:         0.99 * s,
						Hi:         1.01 * s,
						Min:        0.9 * s,
						P90:        1.1 * s,
						P99:        1.2 * s,
						Max:        1.3 * s,
						Samples:    50,
						Iterations: 1000,
						Stop:       "precision",
						Sync:       "barrier",
						Summary:    "max over ranks",
					},
				}
				edit(launch, run, r)
				records = append(records, r)
			}
		}
	}
	text := encode(
		t,
		run,
		nil,
		records,
		&result.End{Kind: result.KindEnd, At: start.Add(time.Minute), Outcome: result.Complete},
	)
	if !json.Valid(text[:bytes.IndexByte(text, '\n')]) {
		t.Fatal("no run")
	}
	write(t, filepath.Join(dir, fmt.Sprintf("profile_%s_%d.jsonl", name, launch)), text)
}
