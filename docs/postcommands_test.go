package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/result"

	"github.com/shoenig/test/must"
)

// postCommand is a line of a shell that runs post.
var postCommand = regexp.MustCompile(`(^|[\s/])post [a-z]`)

// postCommands returns the lines that run post in blocks not marked console, with their numbers. Console blocks run
// with their output. post needs no MPI, GPU or Slurm, so all lines run; a page's commands for rank, sbatch or a cloud
// need that machine and are tested there.
func postCommands(page string) map[int]string {
	found, inside := map[int]string{}, false
	for i, line := range strings.Split(page, "\n") {
		switch kind, fence := strings.CutPrefix(line, "```"); {
		case fence:
			inside = kind == "sh" || kind == "bash"
		case inside && postCommand.MatchString(line):
			found[i+1] = line
		}
	}
	return found
}

// TestPostCommands runs them in order, a page at a time, in a folder that has everything that pages speak of.
func TestPostCommands(t *testing.T) {
	home, made := install(t), madeUpRuns(t)
	ran := 0
	for _, page := range pages(t) {
		commands := postCommands(read(t, page))
		if len(commands) == 0 {
			continue
		}
		t.Run(page, func(t *testing.T) {
			dir := postWorkspace(t, home, made)
			environment := append(os.Environ(), "PATH="+filepath.Join(home, "bin")+":"+os.Getenv("PATH"), "NO_COLOR=1",
				"night=nights/tonight")
			for n := range len(strings.Split(read(t, page), "\n")) {
				if text := commands[n]; text != "" {
					ran++
					t.Run(fmt.Sprintf("line %d", n),
						func(t *testing.T) { command{text: text}.check(t, dir, environment) })
				}
			}
		})
	}
	if ran < 15 {
		t.Errorf("only %d commands of post were found", ran)
	}
}

func TestFindPostCommands(t *testing.T) {
	got := postCommands("post merge\n```sh\nfor i in 1; do\n  ./post merge && x  # why\ndone\nrank " +
		"--postpone\nbin/post show a\n```\n```console\n$ post show\n```\n```yaml\npost merge\n```\n")
	if len(got) != 2 || got[4] != "  ./post merge && x  # why" || got[7] != "bin/post show a" {
		t.Errorf("%v", got)
	}
}

// madeUpRuns are the texts of eight run files with 48 points each, with figures of a model.
func madeUpRuns(t *testing.T) (texts []string) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 8 {
		var b bytes.Buffer
		lines := json.NewEncoder(&b)
		id := func(kind int) string { return fmt.Sprintf("0190a000-%04x-7000-8000-%012x", kind, i) }
		start := time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC)
		must.NoError(t, lines.Encode(result.Run{Kind: result.KindRun, Schema: result.Schema, ID: id(1), Launch: id(2),
			Campaign: "0190a000-0003-7000-8000-000000000000", Start: start, Tool: "busbar points", Rehearse: true,
			Backend: result.Backend{Name: "nccl-rehearsal", Library: "NCCL 2.27.7", Version: "2.27.7"},
			World:   8, Nodes: 1, RanksPerNode: 8, Device: "Synthetic GPU",
			Machine: result.Machine{Host: fmt.Sprint("node", i)}}))
		for n := range 48 {
			must.NoError(t, lines.Encode(madeUpPoint(n, random)))
		}
		must.NoError(t, lines.Encode(result.End{Kind: result.KindEnd, At: start.Add(time.Hour),
			Outcome: result.Complete, Points: map[result.Status]int{result.OK: 48}}))
		texts = append(texts, b.String())
	}
	return texts
}

// madeUpPoint is the n-th point of an all-reduce over sizes and modes.
func madeUpPoint(n int, random *rand.Rand) *result.Record {
	c := coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1, World: 8,
		Placement: coll.OutOfPlace, Mode: coll.Mode(1 + n/24)}.WithSize(128 << (n % 24))
	s := (5e-6 + float64(c.SizeBytes)/300e9) * (1 + 0.02*random.NormFloat64())
	return &result.Record{Kind: result.KindCase, N: n + 1, At: "2026-01-01T00:00:00.000Z", Case: c, Status: result.OK,
		Time: &result.Time{Seconds: s, Lo: s * 0.99, Hi: s * 1.01, Min: s * 0.95, P90: s * 1.05, P99: s * 1.1,
			Max: s * 1.3, Mean: s, Samples: 200, Iterations: 200, Stop: "precision", Sync: "barrier",
			Summary: "max over ranks"},
		Check: result.Check{Result: "ok", Rounds: 1, Elements: c.Count * 8}}
}

// postWorkspace makes the folders and files that commands of the manual name.
func postWorkspace(t *testing.T, home string, made []string) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	for i, folder := range []struct{ name, backend string }{
		{"results", "nccl"}, {"results/nccl-228", "nccl"}, {"results/jobN", "nccl"}, {"runs", "nccl"},
		{"before", "nccl"}, {"after", "nccl"},
		{"baseline", "nccl"}, {"nights/tonight", "nccl"}, {"laptop/results/benchmark", "gloo"},
		{"gpu-host/results/benchmark", "nccl"}, {"results/tune", "nccl"},
	} {
		for j, text := range made {
			variant := []string{"2.27", "2.28"}[j%2]
			text = strings.NewReplacer("0190a000-", fmt.Sprintf("0190a0%02d-", i), `"rehearsed":true,`,
				fmt.Sprintf(`"variant":%q,`, variant), "nccl-rehearsal", folder.backend).Replace(text)
			if folder.name == "results/tune" { // a default and a forced choice, in blocks
				text = strings.NewReplacer(`"2.27",`, fmt.Sprintf(`"nccl","block":"%d",`, j/2), `"2.28",`,
					fmt.Sprintf(`"ring","block":"%d","environment":{"NCCL_ALGO":"Ring"},`, j/2)).Replace(text)
			}
			write(fmt.Sprintf("%s/profile_%s_world8_%d.jsonl", folder.name, folder.backend, j), text)
		}
	}
	const log = "# Collective test starting: all_reduce_perf\n# size count type redop root time algbw busbw #wrong " +
		"time algbw busbw #wrong\n" +
		"1048576 262144 float sum -1 100.0 10.49 19.66 0 100.0 10.49 19.66 0\n# Out of bounds values : 0 OK\n"
	ranks := "# Using devices\n"
	for r := range 16 {
		ranks += fmt.Sprintf("#  Rank %d Group  0 Pid 1 on n%d device %d [0000:0%d:00] NVIDIA H100 80GB HBM3\n",
			r, r/8, r%8, r%8)
	}
	write("all_reduce.log", ranks+log)
	write("logs/old.log", strings.ReplaceAll(log, "100.0", "110.0"))
	write(
		"logs/rows.json",
		`[{"numCycle":0,"name":"AllReduce","ranks":4,"size":1024,"type":"float","redop":"sum","inPlace":0,"time":50.`+
			`5,"wrong":"0"}]`,
	)
	const messages = "n1:1:1 [0] NCCL INFO NCCL version 2.27.7+cuda12.8\nn1:1:1 [0] NCCL INFO Using network IB\n"
	for _, name := range []string{"all.log", "healthy.log", "slow.log", "logs/nccl.n1.1"} {
		write(name, messages)
	}
	write("osu_allgather.txt",
		"# OSU MPI Allgather Latency Test v7.4\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n16               "+
			"       2.50\n")
	_, limits, _ := strings.Cut(read(t, "docs/compare.md"), "```yaml\n")
	limits, _, _ = strings.Cut(limits, "```")
	write("limits.yaml", limits)
	linkExamples(t, dir)
	write("mine.yaml", read(t, "slurm/campaign.yaml"))
	// pages name the program as bin/post, as ./post from there, and as post
	for _, name := range []string{"bin", "bin/post"} {
		must.NoError(t, os.Symlink(filepath.Join(home, name), filepath.Join(dir, filepath.Base(name))))
	}
	return dir
}
