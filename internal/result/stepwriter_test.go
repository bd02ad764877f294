package result

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/step"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// sampleSteps is a run of two buckets under each of two types.
func sampleSteps() Run {
	run := sampleRun()
	run.Step = &Step{
		Model: "resnet50", Params: 25_557_032, Layers: 161, Forward: 0.05, Backward: 0.1, First: 1 << 20,
		Computing: "1 thread of FMA",
		About:     "made up for a test",
	}
	for _, typ := range []coll.DataType{coll.Float32, coll.BFloat16} {
		for _, c := range []step.Cap{1 << 20, 25 << 20} {
			run.Step.Points = append(
				run.Step.Points,
				step.Point{Strategy: step.DDP, Bucket: c, Type: typ, Progress: step.Poll},
			)
		}
	}
	run.Sweep.Points = len(run.Step.Points)
	return run
}

// sampleRound takes 150 ms of computing and 60 ms of communication, of which an overlapped step hides all but exposed
// seconds.
func sampleRound(exposed float64) step.Round {
	return step.Round{
		Compute: 0.150, Comm: 0.060, Sequential: 0.210, Overlapped: 0.150 + exposed,
		ComputeAlone: 0.149, ComputeBusy: 0.152, CommAlone: 0.060, CommBusy: 0.066, Hidden: 0.060,
	}
}

func sampleStep(run *Run, n int, rounds []step.Round) StepRecord {
	f := step.FiguresOf(rounds)
	return StepRecord{
		N: n, Point: run.Step.Points[n-1], Status: OK, Figures: &f, Stop: "fixed",
		Check: Check{Result: "ok", Rounds: 1},
		Ops: []StepOp{{Name: "bucket 1", Collective: "all_reduce", Bytes: 1 << 20, Layers: 2},
			{Name: "bucket 2", Collective: "all_reduce", Bytes: 1 << 21, Layers: 3}},
	}
}

// exposedOf is how much of round k of point n is exposed: each bucket has its own, and noise that both share.
func exposedOf(n, k int) float64 { return 0.010 + 0.020*float64(n%2) + 0.0001*float64(k%7) }

// appendGroup writes the rounds of two points in turn, then their records.
func appendGroup(t *testing.T, w *Writer, run *Run, first, rounds int) {
	t.Helper()
	all := map[int][]step.Round{}
	for k := 1; k <= rounds; k++ {
		for n := first; n < first+2; n++ {
			r := StepRound{N: n, Number: k, Round: sampleRound(exposedOf(n, k))}
			must.NoError(t, w.AppendRound(&r))
			all[n] = append(all[n], r.Round)
		}
	}
	for n := first; n < first+2; n++ {
		r := sampleStep(run, n, all[n])
		must.NoError(t, w.Append(&r))
	}
}

func mustReadSteps(t *testing.T, path string) *StepFile {
	t.Helper()
	f, err := ReadSteps(path)
	must.NoError(t, err)
	return f
}

func TestStepsReadBack(t *testing.T) {
	run := sampleSteps()
	w, warned := newWriter(t, t.TempDir(), run)
	test.EqOp(t, "step_nccl_world4_20261121T011155482Z.jsonl", filepath.Base(w.Path()))
	test.EqOp(t, "step_nccl_world4_20261121T011155482Z_trace", filepath.Base(w.TraceFolder()))
	appendGroup(t, w, &run, 1, 12)
	skipped := StepRecord{N: 3, Point: run.Step.Points[2], Status: Unsupported,
		Why: Because(notice.NotSupported{Library: "MPI", What: "bfloat16"}), Check: Check{Result: "none"}}
	must.NoError(t, w.Append(&skipped))
	must.NoError(t, w.End(End{Outcome: Complete}))
	if err := w.AppendRound(&StepRound{N: 1, Number: 13}); !errors.Is(err, ErrEnded) {
		t.Errorf("a round behind the end: %v", err)
	}
	f := mustReadSteps(t, w.Path())
	if len(f.Problems) > 0 || len(*warned) > 0 || len(f.Ranks) != 4 || f.End == nil || f.End.Points[OK] != 2 ||
		f.End.Points[Unsupported] != 1 {
		t.Errorf("read back: %+v, warned %q", f, *warned)
	}
	if len(f.Records) != 3 || len(f.Rounds) != 4 || len(f.Rounds[0]) != 12 || len(f.Rounds[1]) != 12 ||
		len(f.Rounds[2]) != 0 {
		t.Fatalf("%d records, rounds of %d points: %v", len(f.Records), len(f.Rounds), f.Rounds)
	}
	test.EqOp(t, sampleRound(exposedOf(2, 5)), f.Rounds[1][4])
	want := sampleStep(&run, 2, f.Rounds[1])
	want.Kind, want.Run, want.At = KindStep, "run-1", f.Records[1].At
	test.Eq(t, want, f.Records[1])
}

// TestTruncatedSteps: a point with rounds and no record gets one that is made of them.
func TestTruncatedSteps(t *testing.T) {
	run := sampleSteps()
	w, _ := newWriter(t, t.TempDir(), run)
	for k := 1; k <= 4; k++ {
		must.NoError(t, w.AppendRound(&StepRound{N: 3, Number: k, Round: sampleRound(0.02)}))
		must.EqOp(t, k, len(mustReadSteps(t, w.Path()).Rounds[2]))
	}
	f := mustReadSteps(t, w.Path())
	if len(f.Records) != 1 || f.End != nil || len(f.Problems) != 0 ||
		f.Closing() != (notice.PartOfRun{Records: 1, Points: 4}) {
		t.Fatalf("%d records, end %v, problems %v, %s", len(f.Records), f.End, f.Problems, f.Closing())
	}
	r := f.Records[0]
	if r.N != 3 || r.Status != Unfinished || r.Figures.Rounds != 4 || r.Point != run.Step.Points[2] || !r.Timed() ||
		r.Figures.Overlapped.Value != sampleRound(0.02).Overlapped || r.Cause.Fact != (notice.CutOff{Rounds: 4}) {
		t.Errorf("made of its rounds: %+v", r)
	}
}

// TestRoundsAfterDamagedRound: equal indexes in the lists of a group are of the same round.
func TestRoundsAfterDamagedRound(t *testing.T) {
	lines := []any{sampleSteps()}
	for _, k := range []int{1, 2, 4, 5} {
		lines = append(lines, StepRound{Kind: KindRound, N: 1, Number: k, Round: sampleRound(float64(k) / 1000)})
	}
	f := mustReadSteps(t, writeLines(t, t.TempDir(), "damaged.jsonl", lines...))
	if len(f.Rounds[0]) != 2 || f.Rounds[0][1] != sampleRound(0.002) {
		t.Errorf("rounds %+v", f.Rounds[0])
	}
}

func TestInvalidStepLines(t *testing.T) {
	run := sampleSteps()
	good := StepRound{Kind: KindRound, N: 1, Number: 1, Round: sampleRound(0)}
	for name, c := range map[string]struct {
		line any
		want string
	}{
		"point 0":      {StepRound{Kind: KindRound, N: 0, Number: 1}, "point 0, of 4"},
		"point 5":      {StepRecord{Kind: KindStep, N: 5, Status: Failed, Point: run.Step.Points[0]}, "point 5, of 4"},
		"no figures":   {StepRecord{Kind: KindStep, N: 1, Status: OK, Point: run.Step.Points[0]}, "without figures"},
		"no status":    {StepRecord{Kind: KindStep, N: 1, Point: run.Step.Points[0]}, "no status"},
		"a case":       {"{\"kind\":\"case\",\"n\":1}\n", `"unknown-line"`},
		"negative":     {StepRound{Kind: KindRound, N: 1, Number: 1, Round: step.Round{Comm: -1}}, "a time of -1 s"},
		"unknown kind": {"{\"kind\":\"later\"}\n", `"unknown-line"`},
	} {
		t.Run(name, func(t *testing.T) {
			f := mustReadSteps(t, writeLines(t, t.TempDir(), "f.jsonl", run, good, c.line,
				End{Kind: KindEnd, Outcome: Complete}))
			if len(f.Problems) != 1 || f.Problems[0].At.Line != 3 || !strings.Contains(texts(f.Problems)[0], c.want) ||
				len(f.Rounds[0]) != 1 {
				t.Errorf("problems %v, rounds %v", f.Problems, f.Rounds)
			}
		})
	}
	t.Run("collectives", func(t *testing.T) {
		path := writeLines(t, t.TempDir(), "f.jsonl", sampleRun(), good)
		var foreign *FileError
		if _, err := ReadSteps(path); !errors.As(err, &foreign) {
			t.Errorf("a file of collectives: %v", err)
		}
		f := mustRead(t, path)
		if len(f.Problems) != 2 || f.Problems[0].Fact != (notice.UnknownLine{Kind: KindRound}) || f.Points != 0 {
			t.Errorf("a round among collectives: %+v", f.Problems)
		}
	})
}

// NaN is never written as a number.
func TestUnusualStepTimes(t *testing.T) {
	run := sampleSteps()
	w, _ := newWriter(t, t.TempDir(), run)
	if err := w.AppendRound(&StepRound{N: 2, Number: 1, Round: step.Round{Comm: math.NaN()}}); err == nil ||
		!strings.Contains(err.Error(), "round 1 of point 2") {
		t.Errorf("a round of NaN: %v", err)
	}
	r := sampleStep(&run, 1, []step.Round{sampleRound(0)})
	r.Figures.Overlap.Value = math.Inf(1)
	must.NoError(t, w.Append(&r))
	f := mustReadSteps(t, w.Path())
	if len(f.Records) != 1 || len(f.Rounds[1]) != 0 || f.Records[0].Status != Failed ||
		f.Records[0].Cause.Fact != (notice.ValueNotFinite{}) {
		t.Errorf("read back %+v, rounds %v", f.Records, f.Rounds)
	}
}
