package tune

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// settings are the variants.
var settings = map[string]map[string]string{
	"own": {"NCCL_DEBUG": "WARN"}, "ring": {"NCCL_ALGO": "Ring", "NCCL_PROTO": "LL128"}, "pat": {"NCCL_ALGO": "PAT"},
	"tree": {"NCCL_ALGO": "Tree", "NCCL_PROTO": "LL", "NCCL_MIN_NCHANNELS": "2", "NCCL_MAX_NCHANNELS": "2"},
}

// judged is what a made-up campaign gives: all_reduce from 1 KiB to 16 MiB on 2 nodes with 16 ranks. Times differ by
// 2 % of what noise draws.
func judged(seed uint64, blocks int, margin float64, noise func(*rand.Rand) float64,
	edit func(*result.Run, *result.Record),
) (*Tuned, error) {
	r := rand.New(rand.NewPCG(seed, 7))
	var runs []*result.Run
	var records []*result.Record
	for b := range blocks {
		pace := math.Exp(0.3 * r.NormFloat64()) // blocks differ by more than variants
		for _, v := range []string{"own", "pat", "ring", "tree"} {
			run := &result.Run{Block: fmt.Sprint(b), Variant: v, Nodes: 2, RanksPerNode: 8, Environment: settings[v]}
			for size := int64(1 << 10); size <= 16<<20; size *= 2 {
				s := pace * (1e-5 + float64(size)/1e11) * math.Exp(0.02*noise(r))
				one := &result.Record{Status: result.OK, Time: &result.Time{Seconds: s}, Case: coll.Case{
					Type: coll.Float32, Collective: coll.AllReduce, World: 16, Mode: coll.Throughput}.WithSize(size)}
				edit(run, one)
				runs, records = append(runs, run), append(records, one)
			}
		}
	}
	s, err := newSweep(runs)
	for i := 0; err == nil && i < len(runs); i++ {
		err = s.add(runs[i], records[i])
	}
	if err != nil {
		return nil, err
	}
	return s.judge(Options{Margin: margin})
}

// load reads a tuner file by the published rules and returns the fields of its rows. NVIDIA's example plugin and RCCL:
// lines of less than 256 bytes, of which those that begin with # are skipped, and 8 to 10 fields. NCCLX: 7 to 10, with
// sizes in brackets. The plugin replaces unknown words by its own, which this reader refuses.
func load(t *testing.T, path string, ncclx bool) (rows []string) {
	text, err := os.ReadFile(path)
	must.NoError(t, err)
	size := `(\d+),(\d+)`
	if ncclx {
		size = `\[(\d+),(\d+)\]`
	}
	form := regexp.MustCompile(`^(broadcast|reduce|allgather|reducescatter|allreduce),` + size +
		`,(tree|ring|collnet_direct|collnet_chain|nvls|nvls_tree|pat),(ll|ll128|simple),(\d+),(\d+),(\d+)` +
		`(?:,-1){0,2}\n$`)
	for line := range strings.Lines(string(text)) {
		must.Less(t, 256, len(line))
		if line != "\n" && line[0] != '#' {
			must.RegexMatch(t, form, line)
			rows = append(rows, strings.Join(form.FindStringSubmatch(line)[1:], " "))
		}
	}
	return rows
}

// best makes some variants faster. What the library reports is the choice, which pat lacks.
func best(run *result.Run, r *result.Record) {
	switch size := r.SizeBytes; {
	case run.Variant == "tree" && size <= 4<<10:
		r.Time.Seconds *= 0.8
		r.Path = &result.Path{Algorithm: "TREE", Protocol: "LL", Channels: 2}
	case run.Variant == "ring" && size >= 64<<10 && size <= 1<<20:
		r.Time.Seconds *= 0.88
		r.Path = &result.Path{Algorithm: "NVLS_TREE", Protocol: "SIMPLE", Channels: 16}
	case run.Variant == "pat" && size == 64<<10:
		r.Time.Seconds *= 0.5
	}
}

// Rows are found exactly where an optimum exists, and tuners read them.
func TestOptimaAreFound(t *testing.T) {
	const n = 100
	found, covered := 0, 0
	for seed := range uint64(n) {
		got, err := judged(seed, 8, 0.03, (*rand.Rand).NormFloat64, best)
		must.NoError(t, err)
		if len(got.Rows) == 2 && got.Rows[0].Max == 4<<10 && got.Rows[1].Min == 64<<10 && got.Rows[1].Max == 1<<20 {
			found++
			if one := got.Rows[1].Sizes[0]; one.Lo <= 0.88 && one.Hi >= 0.88 {
				covered++
			}
		}
		if seed > 0 {
			continue
		}
		for backend, want := range map[string][]string{
			"nccl":  {"allreduce 1024 4096 tree ll 2 2 16", "allreduce 65536 1048576 nvls_tree simple 16 2 16"},
			"ncclx": {"allreduce 64 256 tree ll 2 2 8", "allreduce 4096 65536 nvls_tree simple 16 2 8"},
		} {
			got.run.Backend.Name, got.run.Rehearse = backend, backend == "nccl"
			path := filepath.Join(t.TempDir(), "tuner.csv")
			must.NoError(t, got.Save(t.Context(), path, func(string) {}))
			test.Eq(t, want, load(t, path, backend == "ncclx"))
			text, err := os.ReadFile(path)
			must.NoError(t, err)
			test.EqOp(t, got.run.Rehearse, strings.Contains(string(text), "\n# SIMULATED: "))
		}
	}
	t.Logf("%d found, %d covered of %d", found, covered, n)
	test.GreaterEq(t, n*95/100, found)
	test.GreaterEq(t, n*90/100, covered)
}

// A row has sizes that were found faster with a choice that was recorded, is not NCCL's own and never failed.
func TestRows(t *testing.T) {
	for _, k := range []struct {
		name, want string
		told       bool // what is faster without a row
		edit       func(run *result.Run, r *result.Record)
	}{
		{"two rows meet halfway", "1024-6144 tree 6145-16384 ring", false, func(*result.Run, *result.Record) {}},
		{"not recorded", "", true, func(_ *result.Run, r *result.Record) { r.Path = nil }},
		{"no channels recorded", "", true, func(_ *result.Run, r *result.Record) { r.Path.Channels = 0 }},
		{"as NCCL chose", "1024-4096 tree", true, func(run *result.Run, r *result.Record) {
			if run.Variant == "own" {
				r.Path.Algorithm = "RING"
			}
		}},
		{"another choice in one launch", "1024-4096 tree", true, func(run *result.Run, r *result.Record) {
			if run.Variant == "ring" && run.Block == "3" {
				r.Path.Channels = 1
			}
		}},
		{"wrong in one launch", "1024-6144 tree 6145-8192 ring", true, func(run *result.Run, r *result.Record) {
			if run.Variant == "ring" && run.Block == "7" && r.SizeBytes == 16<<10 {
				r.Status, r.Time = result.Wrong, nil
			}
		}},
		{"failed", "1024-1024 tree 4096-6144 tree 6145-16384 ring", false, func(run *result.Run, r *result.Record) {
			if run.Variant != "own" && r.SizeBytes == 2<<10 {
				r.Status, r.Time = result.Failed, nil
			}
		}},
		{"skipped", "1024-1024 tree 4096-6144 tree 6145-16384 ring", false, func(run *result.Run, r *result.Record) {
			if run.Variant != "own" && r.SizeBytes == 2<<10 {
				r.Status, r.Time = result.Skipped, nil
			}
		}},
		{"skipped in one launch", "1024-6144 tree 6145-16384 ring", false, func(run *result.Run, r *result.Record) {
			if run.Variant == "ring" && run.Block == "7" && r.SizeBytes == 16<<10 {
				r.Status, r.Time = result.Skipped, nil
			}
		}},
	} {
		got, err := judged(0, 8, 0.03, (*rand.Rand).NormFloat64, func(run *result.Run, r *result.Record) {
			if size := r.SizeBytes; run.Variant == "tree" && size <= 4<<10 ||
				run.Variant == "ring" && size > 4<<10 && size <= 16<<10 {
				r.Time.Seconds *= 0.8
			}
			r.Path = &result.Path{Algorithm: run.Variant, Protocol: "SIMPLE", Channels: 8}
			k.edit(run, r)
		})
		must.NoError(t, err)
		var rows []string
		for _, r := range got.Rows {
			rows = append(rows, fmt.Sprintf("%d-%d %s", r.Min, r.Max, r.Algorithm))
		}
		test.Eq(t, k.want, strings.Join(rows, " "), test.Sprint(k.name))
		told := slices.ContainsFunc(got.notices, func(n notice.Notice) bool { return n.Code() == "choice-unknown" })
		test.EqOp(t, k.told, told, test.Sprint(k.name))
	}
}

// Of campaigns without any difference at most 5 % have a row, whatever the noise.
func TestFalseRows(t *testing.T) {
	for _, noise := range []func(*rand.Rand) float64{(*rand.Rand).NormFloat64, (*rand.Rand).ExpFloat64} {
		const n = 200
		files := 0
		for seed := range uint64(n) {
			got, err := judged(seed, 8, 1e-9, noise, func(run *result.Run, r *result.Record) {
				if run.Variant != "own" {
					r.Path = &result.Path{Algorithm: "TREE", Protocol: "LL", Channels: 2}
				}
			})
			must.NoError(t, err)
			files += min(len(got.Rows), 1)
		}
		t.Logf("%d of %d", files, n)
		test.LessEq(t, n*5/100+9, files) // and three standard deviations
	}
}

// Results that make no tuner file are refused, with the reason.
func TestResultsThatMakeNoFile(t *testing.T) {
	for i, want := range []string{"4 of 4 variants (", "0 of 4 variants (", "3 of 4 variants (", "have device",
		"have NCCL_X=", "has two settings", "float64", "no block has", "without -m"} {
		_, err := judged(0, 1, 0, (*rand.Rand).NormFloat64, func(run *result.Run, r *result.Record) {
			switch i {
			case 0:
				run.Environment = nil
			case 1:
				run.Environment = settings["ring"]
			case 2:
				run.Environment = settings[run.Variant[:1]+"ing"]
			case 3:
				run.Device = run.Variant
			case 4:
				run.Environment = map[string]string{"NCCL_X": run.Variant}
			case 5:
				run.Variant = "one"
			case 6:
				r.Type += coll.DataType(r.SizeBytes >> 11 & 1)
			case 7:
				r.World = int(run.Variant[0])
			case 8:
				run.Method.Aggregate = 2
			}
		})
		must.ErrorContains(t, err, want)
	}
	few, err := judged(0, 5, 0.03, (*rand.Rand).NormFloat64, best)
	must.NoError(t, err)
	test.Eq(t, "too-few-launches", few.notices[0].Code())
}
