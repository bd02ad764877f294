package tune

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"busbar/internal/coll"
	"busbar/internal/result"
)

// campaign is a made-up campaign: all_reduce from 1 KiB to 16 MiB on 2 nodes with 16 ranks.
type campaign struct {
	seed    uint64
	blocks  int
	backend string
	noise   func(*rand.Rand) float64                 // of the logarithm of a time
	effect  func(variant string, size int64) float64 // factor of the time
	edit    func(*result.Run, *result.Record)
}

// settings are the variants.
var settings = map[string]map[string]string{
	"own": {"NCCL_DEBUG": "WARN"}, "ring": {"NCCL_ALGO": "Ring", "NCCL_PROTO": "LL128"}, "pat": {"NCCL_ALGO": "PAT"},
	"tree": {"NCCL_ALGO": "Tree", "NCCL_PROTO": "LL", "NCCL_MIN_NCHANNELS": "2", "NCCL_MAX_NCHANNELS": "2"},
}

func gaussian(r *rand.Rand) float64 { return 0.02 * r.NormFloat64() }

// rows are the records, by launch.
func (c campaign) rows() (launches [][]result.Row) {
	r := rand.New(rand.NewPCG(c.seed, 7))
	for b := range c.blocks {
		pace := math.Exp(0.3 * r.NormFloat64()) // blocks differ by more than variants
		for _, v := range []string{"own", "pat", "ring", "tree"} {
			run := &result.Run{Kind: result.KindRun, Schema: result.Schema, ID: fmt.Sprint(v, b), Launch: fmt.Sprint(v, b),
				Campaign: "c", Block: fmt.Sprint("nodes2/launch", b), Variant: v, World: 16, Nodes: 2, RanksPerNode: 8,
				Backend: result.Backend{Name: c.backend}, Device: "H100", Environment: settings[v]}
			var rows []result.Row
			for size := int64(1 << 10); size <= 16<<20; size *= 2 {
				one := &result.Record{Kind: result.KindCase, N: len(rows) + 1, Status: result.OK, Case: coll.Case{
					Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, Root: -1, World: 16,
					Placement: coll.OutOfPlace, Mode: coll.Throughput}.WithSize(size)}
				one.Time = &result.Time{Seconds: pace * (1e-5 + float64(size)/1e11) * math.Exp(c.noise(r))}
				if c.effect != nil {
					one.Time.Seconds *= c.effect(v, size)
				}
				if v == "ring" && c.backend == "nccl" { // what the library reports comes first
					one.Path = &result.Path{Algorithm: "NVLS_TREE", Protocol: "SIMPLE", Channels: 16}
				}
				if c.edit != nil {
					c.edit(run, one)
				}
				rows = append(rows, result.Row{Run: run, Record: one})
			}
			launches = append(launches, rows)
		}
	}
	return launches
}

// judged is what the campaign gives, without files.
func (c campaign) judged(o Options) (*Tuned, error) {
	launches := c.rows()
	var runs []*result.Run
	for _, rows := range launches {
		runs = append(runs, rows[0].Run)
	}
	s, err := newSweep(runs)
	for _, rows := range launches {
		for i := 0; err == nil && i < len(rows); i++ {
			err = s.add(rows[i].Run, rows[i].Record)
		}
	}
	if err != nil {
		return nil, err
	}
	return s.judge(o)
}

// row is one row of a tuner file as its readers see it.
type row struct {
	name     string
	min, max int64 // NCCLX: per rank
	Choice
	nodes, ranks int // NCCLX: ranks per node
}

// load reads a tuner file by the published rules. NVIDIA's example plugin and RCCL: lines of less than 256 bytes, of
// which those that begin with # are skipped, and 8 to 10 fields. NCCLX: 7 to 10, with sizes in brackets. The plugin
// replaces unknown words by its own, which this reader does not.
func load(t *testing.T, path string, ncclx bool) (rows []row) {
	text, err := os.ReadFile(path)
	must.NoError(t, err)
	form := `^(broadcast|reduce|allgather|reducescatter|allreduce),(\d+),(\d+),` +
		`(tree|ring|collnet_direct|collnet_chain|nvls|nvls_tree|pat),(ll|ll128|simple),(\d+),(\d+),(\d+)(,-1){0,2}$`
	if ncclx {
		form = strings.Replace(form, `,(\d+),(\d+),`, `,\[(\d+),(\d+)\],`, 1)
	}
	for line := range strings.Lines(string(text)) {
		must.Less(t, 256, len(line))
		if line = strings.TrimSuffix(line, "\n"); line == "" || line[0] == '#' {
			continue
		}
		f := regexp.MustCompile(form).FindStringSubmatch(line)
		must.SliceNotEmpty(t, f, must.Sprint(line))
		n := func(i int) int { v, _ := strconv.Atoi(f[i]); return v }
		rows = append(rows, row{f[1], int64(n(2)), int64(n(3)), Choice{f[4], f[5], n(6)}, n(7), n(8)})
	}
	return rows
}

// Rows are found exactly where an optimum exists, and tuners read them.
func TestOptimaAreFound(t *testing.T) {
	best := func(variant string, size int64) float64 {
		switch {
		case variant == "tree" && size <= 4<<10:
			return 0.8
		case variant == "ring" && size >= 64<<10 && size <= 1<<20:
			return 0.88
		case variant == "pat" && size == 64<<10: // its channels are unknown
			return 0.5
		}
		return 1
	}
	found := 0
	const n = 100
	for seed := range uint64(n) {
		c := campaign{seed: seed, blocks: 8, backend: "nccl", noise: gaussian, effect: best}
		got, err := c.judged(Options{Margin: 0.03})
		must.NoError(t, err)
		if len(got.Rows) == 2 && got.Rows[0].Max == 6<<10 && got.Rows[1].Min == 48<<10+1 && got.Rows[1].Max == 3<<19 {
			found++
			test.Between(t, 0.85, got.Rows[1].Ratio, 0.91)
		}
	}
	t.Logf("%d of %d", found, n)
	test.GreaterEq(t, n*95/100, found)

	for _, backend := range []string{"nccl", "ncclx"} {
		dir := t.TempDir()
		for i, rows := range (campaign{blocks: 8, backend: backend, noise: gaussian, effect: best}).rows() {
			f, err := os.Create(filepath.Join(dir, fmt.Sprintf("profile_%d.jsonl", i)))
			must.NoError(t, err)
			must.NoError(t, json.NewEncoder(f).Encode(rows[0].Run))
			for _, r := range rows {
				must.NoError(t, json.NewEncoder(f).Encode(r.Record))
			}
			must.NoError(t, f.Close())
		}
		got, err := Read(t.Context(), []string{dir}, Options{Margin: 0.03})
		must.NoError(t, err)
		path := filepath.Join(dir, "tuner.csv")
		must.NoError(t, got.Save(t.Context(), path, func(string) {}))
		tree, want := Choice{"tree", "ll", 2}, []row(nil)
		if backend == "nccl" {
			want = []row{{"allreduce", 1 << 10, 6 << 10, tree, 2, 16},
				{"allreduce", 48<<10 + 1, 3 << 19, Choice{"nvls_tree", "simple", 16}, 2, 16}}
		} else { // ring does not force its channels
			want = []row{{"allreduce", 64, 384, tree, 2, 8}}
		}
		test.Eq(t, fmt.Sprint(want), fmt.Sprint(load(t, path, backend == "ncclx")))
	}
}

// Of campaigns without any difference at most 5 % have a row, whatever the noise.
func TestFalseRows(t *testing.T) {
	for name, noise := range map[string]func(*rand.Rand) float64{
		"gaussian": gaussian,
		"skewed":   func(r *rand.Rand) float64 { return 0.02 * r.ExpFloat64() },
		"outliers": func(r *rand.Rand) float64 {
			if r.IntN(10) == 0 {
				return 0.3
			}
			return gaussian(r)
		},
	} {
		const n = 200
		files := 0
		for seed := range uint64(n) {
			got, err := campaign{seed: seed, blocks: 8, backend: "nccl", noise: noise}.judged(Options{Margin: 1e-9})
			must.NoError(t, err)
			if len(got.Rows) > 0 {
				files++
			}
		}
		t.Logf("%s: %d of %d", name, files, n)
		test.LessEq(t, n*5/100+9, files) // and three standard deviations
	}
}

// Results that make no tuner file are refused, with the reason.
func TestResultsThatMakeNoFile(t *testing.T) {
	for want, edit := range map[string]func(*result.Run, *result.Record){
		"no variant sets":  func(run *result.Run, _ *result.Record) { run.Environment = nil },
		"no default":       func(run *result.Run, _ *result.Record) { run.Environment = settings["ring"] },
		"several defaults": func(run *result.Run, _ *result.Record) { run.Environment = settings[strings.Trim(run.Variant, "pat")] },
		"values of device": func(run *result.Run, _ *result.Record) { run.Device = run.Variant },
		"of NCCL_BUFFSIZE": func(run *result.Run, _ *result.Record) {
			if run.Variant == "tree" {
				run.Environment = map[string]string{"NCCL_BUFFSIZE": "1"}
			}
		},
		"has two settings": func(run *result.Run, _ *result.Record) { run.Variant = "one" },
		"in-place": func(_ *result.Run, r *result.Record) {
			if r.N == 3 {
				r.Placement = coll.InPlace
			}
		},
		"no block has": func(run *result.Run, r *result.Record) {
			if run.Variant == "own" {
				run.World, r.World = 8, 8
			}
		},
	} {
		_, err := campaign{blocks: 1, noise: gaussian, edit: edit}.judged(Options{})
		must.ErrorContains(t, err, want)
	}
	few, err := campaign{blocks: 5, noise: gaussian}.judged(Options{Margin: 0.03})
	must.NoError(t, err)
	test.Eq(t, "too-few-launches", few.notices[0].Code())
}
