package result

import (
	"os"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/notice"
	"busbar/internal/step"
)

// TestTextOfSteps holds the whole view: groups, the best, compression that is modelled, what has no figures, and a run
// that was cut off.
func TestTextOfSteps(t *testing.T) {
	run := sampleSteps()
	run.Rehearse = true
	run.Step.Points = append(run.Step.Points, step.Point{Strategy: step.FSDP, Bucket: step.PerLayer, Type: coll.Float32,
		Compression: "8x", Progress: step.Poll},
		step.Point{Strategy: step.FSDP, Bucket: step.All, Type: coll.Float32, Compression: "8x",
			Progress: step.Poll},
		step.Point{Strategy: step.FSDP, Bucket: step.All, Type: coll.Float32, Progress: step.Poll},
		step.Point{Strategy: step.FSDP, Bucket: step.All, Type: coll.Float32, Progress: step.NoCalls})
	w, _ := newWriter(t, t.TempDir(), run)
	appendGroup(t, w, &run, 1, 12)
	wrong := StepRecord{
		N: 3, Point: run.Step.Points[2], Status: Wrong,
		Check: Check{
			Result: "wrong",
			Rounds: 1,
			First:  &Wrong1{Rank: 1, Host: "node1", Index: 7, Want: "3", Got: "2.5"},
		},
	}
	unsupported := StepRecord{N: 4, Point: run.Step.Points[3], Status: Unsupported,
		Why: Because(notice.NotSupported{Library: "the library", What: "bfloat16"}), Check: Check{Result: "none"}}
	rounds := []step.Round{sampleRound(0.01), sampleRound(0.01)}
	noted := sampleStep(&run, 5, rounds)
	noted.Notes, noted.Warnings = []string{"padded to 16 bytes"}, notice.Of(notice.Recorded{Text: "rounds drift"})
	for _, r := range []*StepRecord{&wrong, &unsupported, &noted} {
		if err := w.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	for k := range 2 {
		if err := w.AppendRound(&StepRound{N: 6, Number: k + 1, Round: sampleRound(0.02)}); err != nil {
			t.Fatal(err)
		}
	}
	for k := range 8 {
		for n := 7; n <= 8; n++ {
			if err := w.AppendRound(&StepRound{N: n, Number: k + 1,
				Round: sampleRound(0.004 + 0.05*float64(n-7) + 0.0001*float64(k%3))}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.End(End{Outcome: Interrupted,
		Why: Because(notice.RunSignalled{Signal: "SIGTERM"}), Left: 2}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(w.TextPath())
	if err != nil {
		t.Fatal(err)
	}
	golden.Text(t, "testdata/steps.txt", string(text))
}
