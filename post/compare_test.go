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

// scriptLaunches is the command `launches DIR FIRST STEP N FACTOR [quiet|wrong|STATUS[@LAUNCH]]` of scripts. Launches
// differ by 1 %, or by 0.2 %. The point of 512 B has wrong data in the second launch, or another status and no time in
// all launches or one.
func scriptLaunches(ts *testscript.TestScript, _ bool, args []string) {
	number := scriptNumbers(ts, args[1:5])
	l := launches{first: int(number[0]), step: int(number[1]), n: int(number[2]), factor: number[3], noise: 0.01}
	edit, only, _ := strings.Cut(append(args, "")[5], "@")
	switch edit {
	case "":
	case "quiet":
		l.noise = 0.002
	case "wrong":
		l.edit = func(launch int, _ *result.Run, records []*result.Record) {
			if launch == l.first+l.step {
				records[2].Status, records[2].Reason = result.Wrong, "3 elements differ"
			}
		}
	default:
		l.edit = func(launch int, _ *result.Run, records []*result.Record) {
			if r := records[2]; only == "" || only == strconv.Itoa(launch) {
				r.Status, r.Reason, r.Time = result.Status(edit), "the reason", nil
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
		Side, Name string
		Launches   []string
	}
	Comparisons []struct {
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
	Verdict   string
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

// A slow node of a fleet sets the exit status, has a row in the table, and is in the chart.
func TestCompareFleet(t *testing.T) {
	dir := t.TempDir()
	for night, name := range []string{"before", "tonight"} {
		for node := range 10 {
			f := fixtures["tiny"]
			f.launch = 20*night + node
			f.edit = func(run *result.Run, records []*result.Record, end *result.End) {
				run.Machine.Host = fmt.Sprint("node", node)
				if run.Start = run.Start.AddDate(0, 0, night); node == 5 && night == 1 {
					slower(1.5)(run, records, end)
				}
				if node == 7 && night == 1 { // a failure is worse than being slow
					slower(1.3)(run, records, end)
					records[0].Status, records[0].Time = result.Failed, nil
				}
				if node == 9 {
					run.Device = "other"
				}
			}
			f.save(t, filepath.Join(dir, name))
		}
	}
	var stdout, stderr bytes.Buffer
	files := filepath.Join(dir, "files")
	code := exitCode(run(t.Context(), []string{"compare", "--baseline", dir, "--fail-above", "10%", "-o", files,
		filepath.Join(dir, "tonight")}, &stdout, &stderr), &stderr)
	worse := "2 nodes worse than --fail-above allows, 1 node failed"
	if code != codeExceeded || !strings.Contains(stderr.String(), worse) ||
		strings.Count(stderr.String(), "wrote") != 3 {
		t.Errorf("exit %d, %s%s", code, &stdout, &stderr)
	}
	for _, row := range []string{"node5  below", "node7  failed", "node0  within", "node9  without-verdict",
		`"since": "tonight"`} {
		text, _ := os.ReadFile(filepath.Join(files, "compare.json"))
		if !strings.Contains(stdout.String()+string(text), row) {
			t.Errorf("no %s in %s%s", row, &stdout, text)
		}
	}
}
