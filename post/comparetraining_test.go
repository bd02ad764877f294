package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/post/steps/stepstest"
)

// stepLaunches are made-up launches of training steps: every step-th from the first on, each a little off in its own
// way.
type stepLaunches struct {
	first, step, n int
	factor, noise  float64 // of all overlapped steps
	edit           func(launch int, f *result.StepFile)
}

func (l stepLaunches) save(t testing.TB, dir string) {
	t.Helper()
	for k := range l.n {
		launch := l.first + k*l.step
		r := stepstest.Default()
		r.Launch = launch
		r.Groups = r.Groups[1:]
		r.Edit = func(f *result.StepFile) {
			slower := l.factor * (1 + l.noise*rand.New(rand.NewPCG(uint64(launch), 9)).NormFloat64())
			for i, rounds := range f.Rounds {
				for k := range rounds {
					rounds[k].Overlapped *= slower
				}
				*f.Records[i].Figures = step.FiguresOf(rounds)
			}
			if l.edit != nil {
				l.edit(launch, f)
			}
		}
		stepstest.Save(t, dir, r.File())
	}
}

// scriptStepLaunches is the command `steplaunches DIR FIRST STEP N FACTOR [wrong]` of scripts, like launches.
func scriptStepLaunches(ts *testscript.TestScript, _ bool, args []string) {
	number := scriptNumbers(ts, args[1:5])
	l := stepLaunches{first: int(number[0]), step: int(number[1]), n: int(number[2]), factor: number[3], noise: 0.002}
	if len(args) > 5 {
		l.edit = func(launch int, f *result.StepFile) {
			if launch == l.first+l.step {
				f.Records[1].Status, f.Records[1].Reason = result.Wrong, "3 elements differ"
			}
		}
	}
	l.save(&scriptTB{ts: ts}, ts.MkAbs(args[0]))
}

// stepPair writes two sides with alternating launches, and returns their folders.
func stepPair(t *testing.T, a, b stepLaunches) (string, string) {
	t.Helper()
	a.first, a.step, b.first, b.step = 1, 2, 2, 2
	return saved(t, a, b)
}

// A launch's value is the median of its overlapped steps, listed with communication alone and its exposed part.
func TestCompareTrainingTimes(t *testing.T) {
	level := func(launch int, f *result.StepFile) {
		for i := range f.Rounds {
			for k := range f.Rounds[i] {
				f.Rounds[i][k] = step.Round{
					Compute:    0.1,
					Comm:       0.05 + 0.001*float64(launch),
					Sequential: 0.15,
					Overlapped: 0.11 +
						0.01*float64(launch),
				}
			}
			*f.Records[i].Figures = step.FiguresOf(f.Rounds[i])
		}
	}
	a, b := stepPair(t, stepLaunches{n: 3, factor: 1, edit: level}, stepLaunches{n: 3, factor: 1, edit: level})
	got, _, _ := compareJSON(t, a, b)
	near := func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }
	p := got.Steps.Comparisons[0].Points[0] // launches 1, 3, 5 and 2, 4, 6
	if p.A.Launches != 3 || !near(p.A.Time, 0.14) || !near(p.A.Min, 0.12) || !near(p.A.Max, 0.16) ||
		!near(p.A.Comm, 0.053) || !near(p.A.Exposed, 0.04) || !near(p.B.Time, 0.15) || !near(p.B.Comm, 0.054) {
		t.Errorf("%+v, %+v", p.A, p.B)
	}
	if p.Model != "resnet50" || p.World != 4 || p.Bucket != 1<<20 || p.Type != coll.Float32 ||
		p.Computing != "1 thread of FMA" || p.First != 1<<20 {
		t.Errorf("%+v", p)
	}
}

// Different steps are not compared, and the difference is reported; irrelevant properties do not matter.
func TestCompareTrainingPartners(t *testing.T) {
	run := func(change func(*result.Run)) func(int, *result.StepFile) {
		return func(_ int, f *result.StepFile) { change(&f.Run) }
	}
	points := func(change func(*step.Point)) func(int, *result.StepFile) {
		return func(_ int, f *result.StepFile) {
			for i := range f.Run.Step.Points {
				change(&f.Run.Step.Points[i])
				f.Records[i].Point = f.Run.Step.Points[i]
			}
		}
	}
	for words, edit := range map[string]func(int, *result.StepFile){
		"model: resnet50 in A, gpt2 in B":                run(func(r *result.Run) { r.Step.Model = "gpt2" }),
		"only in B: resnet50 (text ":                     run(func(r *result.Run) { r.Step.Source = "layers: []" }),
		"backward_s: 0.08 in A, 0.16 in B":               run(func(r *result.Run) { r.Step.Backward = 0.16 }),
		"nodes: 1 in A, 2 in B":                          run(func(r *result.Run) { r.Nodes = 2 }),
		"type: float32 in A, bfloat16 in B":              points(func(p *step.Point) { p.Type = coll.BFloat16 }),
		"first_bucket_bytes: 1048576 in A, 2097152 in B": run(func(r *result.Run) { r.Step.First = 2 << 20 }),
		"poll_interval_s: 0.0002 in A, 0.001 in B":       run(func(r *result.Run) { r.Step.Interval = 1e-3 }),
	} {
		a, b := stepPair(t, stepLaunches{n: 1, factor: 1}, stepLaunches{n: 1, factor: 1, edit: edit})
		_, code, stderr := compareJSON(t, a, b)
		said := strings.NewReplacer(a, "A", b, "B").Replace(stderr)
		if code != codeNothing || !strings.Contains(said, words) {
			t.Errorf("exit %d, want %q: %s", code, words, said)
		}
	}
	for name, edit := range map[string]func(int, *result.StepFile){
		"a library":    run(func(r *result.Run) { r.Backend.Library = "Open MPI 5.0.0" }),
		"a last digit": run(func(r *result.Run) { r.Step.Forward = math.Nextafter(r.Step.Forward, 1) }),
		"polling and a first bucket of no use": func(_ int, f *result.StepFile) {
			f.Run.Step.Interval, f.Run.Step.First = 1e-3, 2<<20
		},
	} {
		both := func(_ int, f *result.StepFile) {
			points(func(p *step.Point) { p.Strategy, p.Progress = step.FSDP, step.Thread })(0, f)
		}
		a, b := stepPair(t, stepLaunches{n: 1, factor: 1, edit: both},
			stepLaunches{n: 1, factor: 1, edit: func(launch int, f *result.StepFile) {
				both(launch, f)
				edit(launch, f)
			}})
		if got, code, stderr := compareJSON(t, a, b); code != 0 || len(got.Steps.Comparisons[0].Points) != 4 {
			t.Errorf("%s: exit %d, %s", name, code, stderr)
		}
	}
}

// Points of one kind without a partner are listed and do not end the comparison.
func TestCompareBothKinds(t *testing.T) {
	a, b := pair(t, launches{n: 4, factor: 1, noise: 0.002}, launches{n: 4, factor: 1, noise: 0.002})
	stepLaunches{first: 1, step: 2, n: 4, factor: 1, noise: 0.002}.save(t, a)
	got, code, stderr := compareJSON(t, a, b)
	if code != 0 || got.Steps != nil || got.Comparisons[0].Counts["same"] != 14 || len(got.Sides[0].Launches) != 4 ||
		stderr != "" || !got.has("not-comparable") {
		t.Errorf("steps on one side: exit %d, %s, %+v", code, stderr, got.Steps)
	}
	stepLaunches{first: 2, step: 2, n: 4, factor: 1.2, noise: 0.002}.save(t, b)
	if got, code, stderr = compareJSON(t, "--fail-above", "5%", a, b); code != codeExceeded ||
		!strings.Contains(stderr, "post: 4 points worse") || got.Steps.Comparisons[0].Counts["worse"] != 4 ||
		got.Comparisons[0].Counts["same"] != 14 {
		t.Errorf("both: exit %d, %s, %+v", code, stderr, got)
	}
	if len(got.Comparisons[0].Missing)+len(got.Steps.Comparisons[0].Missing) != 0 ||
		got.Comparisons[0].Labellings != 70 ||
		len(got.Steps.Sides[0].Launches) != 4 {
		t.Errorf("launches of one kind count for the other: %+v", got.Sides)
	}
	other := t.TempDir()
	gpt := func(_ int, f *result.StepFile) { f.Run.Step.Model = "gpt2" }
	launches{first: 2, step: 2, n: 4, factor: 1, noise: 0.002}.save(t, other)
	stepLaunches{first: 2, step: 2, n: 4, factor: 1, edit: gpt}.save(t, other)
	if got, code, stderr = compareJSON(t, a, other); code != 0 || stderr != "" ||
		len(got.Steps.Comparisons[0].Points) != 0 ||
		len(got.Steps.Comparisons[0].Missing) != 8 ||
		got.Steps.Comparisons[0].Missing[0].Model+
			got.Steps.Comparisons[0].Missing[4].Model != "gpt2resnet50" {
		t.Errorf("another model: exit %d, %s, %+v", code, stderr, got.Steps)
	}
	lone := t.TempDir()
	stepLaunches{first: 2, step: 2, n: 1, factor: 1}.save(t, lone)
	cases := t.TempDir()
	launches{first: 20, step: 1, n: 1, factor: 1}.save(t, cases)
	if _, code, stderr := compareJSON(t, lone, cases); code != codeNothing ||
		!strings.Contains(stderr, lone+" has no collectives") ||
		!strings.Contains(stderr, cases+" has no training steps") {
		t.Errorf("no common points: exit %d, %s", code, stderr)
	}
}

// Failed and truncated launches have no time; the other launches have.
func TestCompareTrainingFindings(t *testing.T) {
	for name, c := range map[string]struct {
		edit     func(int, *result.StepFile)
		kind     notice.Outcome
		words    string
		launches int
		code     int
	}{
		"wrong in one launch": {func(launch int, f *result.StepFile) {
			if launch == 4 {
				f.Records[0].Status, f.Records[0].Reason = result.Wrong, "3 elements differ"
			}
		}, notice.FailsNow, "ok in 3 launches, wrong in 1 launch (3 elements differ)", 3, codeExceeded},
		"cut off in all": {stepCutOff, notice.NotMeasured,
			"unfinished in 4 launches (the run ended after 7 rounds; values cover only these)", 0, 0},
		"cut off in one": {func(launch int, f *result.StepFile) {
			if launch == 4 {
				stepCutOff(launch, f)
			}
		}, "", "", 3, 0},
	} {
		a, b := stepPair(t, stepLaunches{n: 4, factor: 1}, stepLaunches{n: 4, factor: 1, edit: c.edit})
		got, code, _ := compareJSON(t, "--fail-above", "5%", a, b)
		d := got.Steps.Comparisons[0]
		switch {
		case code != c.code:
			t.Errorf("%s: exit %d", name, code)
		case c.kind == "" && len(d.Findings) != 0 || c.kind != "" &&
			(len(d.Findings) != 1 || d.Findings[0].Outcome != c.kind || d.Findings[0].B.String() != c.words ||
				d.Findings[0].Model != "resnet50"):
			t.Errorf("%s: %+v", name, d.Findings)
		case c.launches > 0 &&
			d.Points[len(d.Points)-4].B.Launches+d.Points[len(d.Points)-1].B.Launches != 4+c.launches:
			t.Errorf("%s: %+v", name, d.Points)
		case c.launches == 0 && len(d.Points) != 3:
			t.Errorf("%s: %d points", name, len(d.Points))
		}
	}
}

// stepCutOff kills a run in the middle of its last point.
func stepCutOff(_ int, f *result.StepFile) { stepstest.CutOff(len(f.Records), 7)(f) }
