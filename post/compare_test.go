package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
)

// launches are made-up launches of one kind: every step-th from the first on, each a little off in its own way.
type launches struct {
	first, step, n int
	factor         float64 // of all times
	noise          float64 // how far launches differ, as a share of the time
	edit           func(launch int, run *result.Run, records []*result.Record)
}

func (l launches) save(t testing.TB, dir string) {
	t.Helper()
	for k := range l.n {
		launch := l.first + k*l.step
		f := fixture{
			backend:     "mpi",
			library:     "Open MPI 4.1.4",
			world:       2,
			launch:      launch,
			last:        2 << 20,
			collectives: []coll.Collective{coll.AllReduce},
			placements:  out,
		}
		f.edit = func(run *result.Run, records []*result.Record, end *result.End) {
			r := rand.New(rand.NewPCG(uint64(launch), 9))
			for i, record := range records {
				if record.Time != nil {
					record.Time.Seconds -= 1e-8 * float64(launch) // the drift of all fixtures
				}
				slower(l.factor*(1+l.noise*r.NormFloat64()))(run, records[i:i+1], end)
			}
			if l.edit != nil {
				l.edit(launch, run, records)
			}
		}
		f.save(t, dir)
	}
}

// scriptLaunches is the command `launches DIR FIRST STEP N FACTOR [quiet|wrong]` of scripts; launches differ by 1 %, or
// by 0.2 %; the second one may have wrong data at 512 B.
func scriptLaunches(ts *testscript.TestScript, _ bool, args []string) {
	number := scriptNumbers(ts, args[1:5])
	l := launches{first: int(number[0]), step: int(number[1]), n: int(number[2]), factor: number[3], noise: 0.01}
	switch {
	case len(args) > 5 && args[5] == "quiet":
		l.noise = 0.002
	case len(args) > 5:
		l.edit = func(launch int, _ *result.Run, records []*result.Record) {
			if launch == l.first+l.step {
				records[2].Status, records[2].Reason = result.Wrong, "3 elements differ"
			}
		}
	}
	l.save(&scriptTB{ts: ts}, ts.MkAbs(args[0]))
}

func scriptNumbers(ts *testscript.TestScript, args []string) (numbers []float64) {
	for _, a := range args {
		v, err := strconv.ParseFloat(a, 64)
		ts.Check(err)
		numbers = append(numbers, v)
	}
	return numbers
}

// scriptTB lets a script's command use helpers of tests.
type scriptTB struct {
	testing.TB
	ts *testscript.TestScript
}

func (s *scriptTB) Helper()           {}
func (s *scriptTB) Fatal(args ...any) { s.ts.Fatalf("%s", fmt.Sprint(args...)) }

// comparedJSON is the document of post compare --format json, as docs/compare.md describes it.
type comparedJSON struct {
	comparedKind
	Steps   *comparedKind `json:"steps"`
	Notices []struct {
		Code string `json:"code"`
	} `json:"notices"`
}

// comparedKind is the part on collectives, or on training steps.
type comparedKind struct {
	Sides []struct {
		Side, Name  string
		Launches    []string
		First, Last *string
		Simulated   bool
	}
	Comparisons []struct {
		Side       string
		Pairs      *string
		Labellings int
		Counts     map[string]int
		Points     []comparedPoint
		Findings   []struct {
			pointPlace
			Outcome notice.Outcome `json:"finding"`
			B       notice.Result
		}
		Missing []comparedMissing `json:"without_partner"`
		Facts   []comparedFact    `json:"differences"`
	}
}

// comparedMissing is a point that one side alone has.
type comparedMissing struct {
	pointPlace
	Side string
}

// comparedFact is a property of the runs in which the sides differ.
type comparedFact struct {
	Name string
	A, B []string
}

// pointPlace is the key under which a point of either kind is compared.
type pointPlace struct {
	Collective coll.Collective
	Placement  coll.Placement
	Type       coll.DataType
	SizeBytes  int64 `json:"size_bytes"`
	World      int
	Of         string
	Model      string
	Bucket     step.Cap
	Computing  string
	First      int64 `json:"first_bucket_bytes"`
}

// comparedPoint is a point that both sides have.
type comparedPoint struct {
	pointPlace
	A, B      comparedTimes
	Ratio, Lo *float64
	P         *float64
	Verdict   string
	More      *int `json:"more_launches"`
	Exceeded  bool
	Notices   []notice.Brief
}

// comparedTimes are the times of one side.
type comparedTimes struct {
	Launches int
	Time     float64 `json:"time_s"`
	Min      float64 `json:"min_s"`
	Max      float64 `json:"max_s"`
	Comm     float64 `json:"comm_s"`
	Exposed  float64 `json:"exposed_s"`
	BusBW    float64 `json:"busbw_GBps"`
}

func (c *comparedJSON) has(code string) bool {
	for _, n := range c.Notices {
		if n.Code == code {
			return true
		}
	}
	return false
}

// compareJSON runs post compare and returns its JSON, exit code and stderr.
func compareJSON(t *testing.T, args ...string) (comparedJSON, int, string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := exitCode(
		run(t.Context(), append([]string{"compare", "--format", "json"}, args...), &stdout, &stderr),
		&stderr,
	)
	var c comparedJSON
	if err := json.Unmarshal(stdout.Bytes(), &c); err != nil && (code == 0 || code == codeExceeded) {
		t.Fatalf("%v: %s", err, &stdout)
	}
	return c, code, stderr.String()
}

// pair writes two sides with alternating launches, and returns their folders.
func pair(t *testing.T, a, b launches) (string, string) {
	t.Helper()
	a.first, a.step, b.first, b.step = 1, 2, 2, 2
	return saved(t, a, b)
}

// saved writes each of two sides into a folder of its own, and returns these.
func saved(t *testing.T, a, b interface{ save(testing.TB, string) }) (string, string) {
	t.Helper()
	dir := t.TempDir()
	a.save(t, filepath.Join(dir, "a"))
	b.save(t, filepath.Join(dir, "b"))
	return filepath.Join(dir, "a"), filepath.Join(dir, "b")
}

// Points that failed or are missing on one side are listed whatever the times.
func TestCompareFindings(t *testing.T) {
	status := func(at int, only int, s result.Status) func(int, *result.Run, []*result.Record) {
		return func(launch int, _ *result.Run, records []*result.Record) {
			if r := records[at]; only == 0 || launch == only {
				r.Status, r.Reason, r.Time = s, "the reason", nil
			}
		}
	}
	for name, c := range map[string]struct {
		a, b     func(int, *result.Run, []*result.Record)
		want     notice.Outcome
		words    string
		points   int
		exceeded bool
	}{
		"wrong in one launch": {
			nil, status(2, 4, result.Wrong), notice.FailsNow,
			"ok in 3 launches, wrong in 1 launch (the reason)", 14, true,
		},
		"hangs in all": {
			nil, status(2, 0, result.Timeout), notice.FailsNow, "timeout in 4 launches (the reason)", 13, true,
		},
		"mended": {
			status(2, 0, result.Failed), nil, notice.WorksNow, "ok in 4 launches", 13, false,
		},
		"skipped": {
			nil, status(2, 0, result.Skipped), notice.NotMeasured, "skipped in 4 launches (the reason)", 13, false,
		},
		"not skipped any more": {
			status(2, 0, result.Unsupported), nil, notice.MeasuredNow, "ok in 4 launches", 13, false,
		},
		"fails in both, now in all": {
			status(2, 3, result.OOM), status(2, 0, result.OOM), notice.PartlyFailed,
			"oom in 4 launches (the reason)", 13, true,
		},
		"fails in both alike": {
			status(2, 0, result.OOM), status(2, 0, result.OOM), notice.FailsInBoth,
			"oom in 4 launches (the reason)", 13, false,
		},
	} {
		a, b := pair(t, launches{n: 4, factor: 1, edit: c.a}, launches{n: 4, factor: 1, edit: c.b})
		for _, limit := range []bool{false, true} {
			flags, wanted := []string(nil), 0
			if limit {
				if flags = []string{"--fail-above", "5%"}; c.exceeded {
					wanted = codeExceeded
				}
			}
			got, code, _ := compareJSON(t, append(flags, a, b)...)
			d := got.Comparisons[0]
			if code != wanted || len(d.Points) != c.points || len(d.Findings) != 1 || d.Findings[0].Outcome != c.want ||
				d.Findings[0].B.String() != c.words ||
				d.Findings[0].SizeBytes != 512 {
				t.Errorf("%s: exit %d, %d points, %+v", name, code, len(d.Points), d.Findings)
			} else if r := d.Findings[0].B; r.Reason != "" && r.Cause.Fact != (notice.Recorded{Text: r.Reason}) {
				t.Errorf("%s: the cause is %+v", name, r.Cause)
			}
		}
	}
	a, b := pair(t, launches{n: 4, factor: 1}, launches{n: 4, factor: 1})
	fixtures["world2"].save(t, a) // all_gather, and all_reduce in place
	got, _, _ := compareJSON(t, a, b)
	if d := got.Comparisons[0]; len(d.Missing) == 0 || d.Missing[0].Side != "A" ||
		slices.ContainsFunc(d.Missing, func(p comparedMissing) bool {
			return p.Collective == coll.AllReduce && p.Placement == coll.OutOfPlace && p.SizeBytes < 4<<20
		}) {
		t.Errorf("without a partner: %+v", d.Missing)
	}
}

// Properties that distinguish a side's points must be equal; properties with one value per side are compared.
func TestComparePairs(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, backend := range []string{"mpi", "gloo"} {
		for i, folder := range []string{a, b} {
			for launch := range 4 {
				f := fixtures["tiny"]
				f.backend, f.library, f.launch = backend, fmt.Sprintf("%s %d", backend, i), 2*launch+i
				f.save(t, folder)
			}
		}
	}
	got, _, _ := compareJSON(t, a, b)
	if d := got.Comparisons[0]; len(d.Points) != 8 || len(d.Missing) != 0 || d.Points[0].Of != "gloo" ||
		d.Points[2].Of != "mpi" {
		t.Errorf("two backends: %d points, %+v", len(d.Points), d.Missing)
	}
	if !slices.ContainsFunc(got.Comparisons[0].Facts, func(f comparedFact) bool {
		return f.Name == "library" && slices.Equal(f.B, []string{"gloo 1", "mpi 1"})
	}) {
		t.Errorf("facts: %+v", got.Comparisons[0].Facts)
	}
	by, _, _ := compareJSON(t, "--by", "backend", "--base", "mpi", a)
	if len(by.Sides) != 2 || by.Sides[0].Name != "mpi" || by.Sides[0].Side != "A" ||
		len(by.Comparisons[0].Points) != 4 ||
		by.Comparisons[0].Points[0].Of != "" {
		t.Errorf("by backend: %+v", by.Sides)
	}
	if _, code, stderr := compareJSON(t, "--by", "backend", dir); code != codeNothing ||
		!strings.Contains(stderr, "of: gloo 0, gloo 1 in gloo") {
		t.Errorf("backends of two libraries each: exit %d, %s", code, stderr)
	}
	launch, _, _ := compareJSON(t, "--by", "launch", a)
	if len(launch.Sides) != 4 || len(launch.Comparisons) != 3 || launch.Comparisons[0].Counts["inconclusive"] != 8 {
		t.Errorf("by launch: %+v", launch.Sides)
	}
}

// Sides from the same launches, or from the same jobs of a campaign, are pairs; at least six are needed.
func TestComparePaired(t *testing.T) {
	for _, c := range []struct {
		n      int
		block  bool
		paired string
		want   string
	}{
		{6, false, "launch", "worse"}, {5, false, "", "inconclusive"},
		{6, true, "block", "worse"}, {5, true, "", "inconclusive"},
	} {
		dir := t.TempDir()
		for k := range c.n {
			for _, backend := range []string{"gloo", "mpi"} {
				f := fixtures["tiny"]
				f.backend, f.launch = backend, k
				f.edit = func(run *result.Run, records []*result.Record, end *result.End) {
					common := float64(1 + 3*k) // launches differ by far more than the backends
					if backend == "mpi" {
						common *= 1.1 + 0.001*float64(k)
					}
					slower(common)(run, records, end)
					if c.block {
						run.Launch, run.Block = fmt.Sprint(backend, k), fmt.Sprint(k)
					}
				}
				f.save(t, dir)
			}
		}
		got, _, stderr := compareJSON(t, "--by", "backend", dir)
		d := got.Comparisons[0]
		if paired := d.Pairs != nil && string(*d.Pairs) == c.paired || d.Pairs == nil && c.paired == ""; !paired ||
			d.Points[0].Verdict != c.want ||
			stderr != "" {
			t.Errorf("%+v: %v, %+v; %s", c, d.Pairs, d.Points[0], stderr)
		}
	}
}

// A point of which no block has both sides has no ratio.
func TestCompareWithoutAPair(t *testing.T) {
	without := func(from, to int) func(int, *result.Run, []*result.Record) {
		return func(launch int, run *result.Run, records []*result.Record) {
			block := (launch + 1) / 2
			if run.Block = fmt.Sprint(block); block >= from && block <= to {
				records[2].Status, records[2].Time = result.OOM, nil
			}
		}
	}
	a, b := pair(
		t,
		launches{n: 6, factor: 1, noise: 0.002, edit: without(1, 3)},
		launches{n: 6, factor: 1.1, noise: 0.002, edit: without(4, 6)},
	)
	got, _, _ := compareJSON(t, a, b)
	p := got.Comparisons[0].Points[2]
	noPair := []notice.Brief{{Code: "no-pair", Parameters: map[string]any{"held": "block"}}}
	if p.A.Launches != 3 || p.B.Launches != 3 || p.Ratio != nil || p.Lo != nil || p.Verdict != "inconclusive" ||
		!reflect.DeepEqual(p.Notices, noPair) {
		t.Errorf("%+v", p.Notices)
	}
	if p := got.Comparisons[0].Points[3]; p.Ratio == nil || p.Verdict != "worse" {
		t.Errorf("%+v", p)
	}
}

// Imported results are named so, and have no start time of their own.
func TestCompareImported(t *testing.T) {
	imported := func(_ int, run *result.Run, _ []*result.Record) {
		run.Start, run.Imported = time.Time{}, &result.Source{Tool: "nccl-tests 2.17.8"}
	}
	a, b := pair(t, launches{n: 4, factor: 1}, launches{n: 4, factor: 1, edit: imported})
	got, _, _ := compareJSON(t, a, b)
	if f := got.Comparisons[0].Facts; len(f) != 1 || f[0].Name != "imported from" || got.Sides[1].First != nil ||
		got.Sides[0].First == nil {
		t.Errorf("%+v, %+v", f, got.Sides)
	}
}

// A run whose records lie in two files counts with both.
func TestCompareRunInTwoFiles(t *testing.T) {
	a, b := pair(t, launches{n: 4, factor: 1}, launches{n: 4, factor: 1})
	files, err := filepath.Glob(filepath.Join(b, "*.jsonl"))
	if err != nil || len(files) != 4 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n")) // header, two ranks, cases
	part := func(name string, cases [][]byte) {
		text := bytes.Join(slices.Concat(lines[:3], cases), nil)
		if err := os.WriteFile(filepath.Join(b, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	part(filepath.Base(files[0]), lines[3:8])
	part("rest.jsonl", lines[8:])
	got, _, _ := compareJSON(t, a, b)
	if points := got.Comparisons[0].Points; len(points) != 14 ||
		slices.ContainsFunc(points, func(p comparedPoint) bool { return p.B.Launches != 4 }) {
		t.Errorf("%+v", points)
	}
	by, _, _ := compareJSON(t, "--by", "launch", b)
	for _, d := range by.Comparisons {
		if len(d.Points) != 14 {
			t.Errorf("by launch: %d points of %s", len(d.Points), d.Side)
		}
	}
}

func TestCompareFacts(t *testing.T) {
	sides := func(value func(launch int) string) func(int, *result.Run, []*result.Record) {
		return func(launch int, run *result.Run, _ []*result.Record) {
			run.Environment = map[string]string{
				"NCCL_ALGO":               value(launch),
				"OMPI_MCA_ess_base_jobid": fmt.Sprint(launch),
				"PMIX_ID":                 fmt.Sprint(launch),
			}
		}
	}
	a, b := pair(
		t,
		launches{n: 4, factor: 1, edit: sides(func(int) string { return "Ring" })},
		launches{n: 4, factor: 1, edit: sides(func(l int) string { return []string{"Ring", "Tree"}[l/4%2] })},
	)
	got, _, _ := compareJSON(t, a, b)
	if f := got.Comparisons[0].Facts; len(f) != 1 || f[0].Name != "NCCL_ALGO" ||
		!slices.Equal(f[0].A, []string{"Ring"}) ||
		!slices.Equal(f[0].B, []string{"Ring", "Tree"}) {
		t.Errorf("facts: %+v", f)
	}
	dir := t.TempDir()
	launches{first: 1, step: 1, n: 4, factor: 1}.save(t, filepath.Join(dir, "a"))
	launches{first: 5, step: 1, n: 4, factor: 1}.save(t, filepath.Join(dir, "b"))
	got, _, _ = compareJSON(t, filepath.Join(dir, "a"), filepath.Join(dir, "b"))
	if f := got.Comparisons[0].Facts; len(f) != 0 || !got.has("launch-order") {
		t.Errorf("one side after the other: %+v, %+v", f, got.Notices)
	}
}
