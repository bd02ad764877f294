// Package stepstest makes up runs of training steps, for tests of what reads them.
package stepstest

import (
	"bytes"
	_ "embed" // for run.json
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/step"
)

// Caps are the buckets of a made-up run.
var Caps = []step.Cap{1 << 20, 5 << 20, 25 << 20, step.All}

//go:embed run.json
var runText []byte

// Run is a made-up run, whose fields may be changed before it is made.
type Run struct {
	Backend   string
	World     int
	Launch    int // number of the launch, which determines its start
	Rounds    int
	Groups    []step.Point
	Rehearsed bool
	Slower    float64                  // of communication; 0: 1
	Edit      func(f *result.StepFile) // at the end
}

// Default is a run over MPI, with values for all points.
func Default() Run {
	return Run{Backend: "mpi", World: 4, Rounds: 24, Groups: []step.Point{
		{Strategy: step.DDP, Type: coll.Float32, Progress: step.NoCalls},
		{Strategy: step.DDP, Type: coll.Float32, Progress: step.Poll},
	}}
}

// File is what would be read of the run.
func (r Run) File() *result.StepFile {
	start := time.Date(2026, 3, 1, 12, r.Launch, 0, 0, time.UTC)
	f := &result.StepFile{}
	if err := json.Unmarshal(runText, &f.Run); err != nil {
		panic(err)
	}
	run := &f.Run
	run.ID = fmt.Sprintf("step-%s-%d-%d", r.Backend, r.World, r.Launch)
	run.Launch, run.Campaign = fmt.Sprint("launch-", r.Launch), fmt.Sprint("campaign-", r.Launch)
	run.Start, run.Rehearse, run.Backend.Name = start, r.Rehearsed, r.Backend
	run.World, run.RanksPerNode, run.Schema = r.World, r.World, result.Schema
	for i := range r.World {
		f.Ranks = append(
			f.Ranks,
			result.Rank{Kind: result.KindRank, Rank: i, Host: "node17", LocalRank: i, PID: 1000 + i},
		)
	}
	rnd := rand.New(rand.NewPCG(uint64(r.Launch), 7))
	for _, g := range r.Groups {
		for i, c := range Caps {
			g.Bucket = c
			f.Run.Step.Points = append(f.Run.Step.Points, g)
			r.point(f, g, 1<<(2*(len(Caps)-1-i)), rnd)
		}
	}
	f.End = &result.End{Kind: result.KindEnd, At: start.Add(time.Minute), Outcome: result.Complete}
	if r.Edit != nil {
		r.Edit(f)
	}
	return f
}

// point adds a point with its rounds: more operations cost more latency, and hide more.
func (r Run) point(f *result.StepFile, p step.Point, ops int, rnd *rand.Rand) {
	compute, comm := 0.12, max(r.Slower, 1)*(0.06+0.0004*float64(ops))*min(1, float64(p.Type.Size())/4)
	if p.Compression != "" {
		compute, comm = 0.13, comm/8
	}
	hides := map[step.Progress]float64{step.NoCalls: 0.04, step.Poll: 0.8, step.Thread: 0.9, "": 0.95}[p.Progress]
	hides *= 1 - 1/float64(ops)
	noise := func() float64 { return 1 + 0.01*rnd.NormFloat64() }
	var rounds []step.Round
	for range r.Rounds {
		t := step.Round{Compute: compute * noise(), Comm: comm * noise()}
		t.Sequential = t.Compute + t.Comm*noise()
		t.Overlapped = t.Compute*1.01 + (1-hides)*t.Comm*noise()
		t.ComputeAlone, t.ComputeBusy = t.Compute*0.99, t.Compute*0.99*(1+0.08*hides)
		t.CommAlone, t.CommBusy = t.Comm*0.98, t.Comm*0.98*(1+0.3*hides)
		t.Hidden = hides * t.CommBusy
		rounds = append(rounds, t)
	}
	figures := step.FiguresOf(rounds)
	record := result.StepRecord{Kind: result.KindStep, N: len(f.Run.Step.Points), Run: f.Run.ID, Point: p,
		At: "2026-03-01T12:00:10Z", Status: result.OK, Figures: &figures, Stop: "precision",
		Check: result.Check{Result: "ok", Rounds: 1}}
	forward := 0.12 / 3 // then a segment of the backward pass for each operation, which begins behind it
	t := &result.StepTimeline{Segments: []result.StepSpan{{Name: "forward", Work: "forward", End: forward}}}
	now, free := forward, 0.0
	for i := range ops {
		name := fmt.Sprintf("bucket %d", i+1)
		record.Ops = append(record.Ops, result.StepOp{Name: name, Collective: "all_reduce",
			Bytes: 102228128 / int64(ops), Layers: 161 / ops})
		end := now + 2*forward/float64(ops)
		t.Segments = append(t.Segments, result.StepSpan{Name: fmt.Sprintf("backward %d", i+1), Work: "backward",
			Start: now, End: end})
		start := max(end, free)
		free, now = start+comm*(1-hides)/float64(ops), end
		t.Ops = append(t.Ops, result.StepSpan{Name: name, Start: start, End: free})
	}
	t.Span = max(now, free)
	record.Timeline = t
	f.Rounds, f.Records = append(f.Rounds, rounds), append(f.Records, record)
}

// Save writes a file as rank does into a folder, and returns its path.
func Save(t testing.TB, dir string, f *result.StepFile) string {
	t.Helper()
	var b bytes.Buffer
	line := func(v any) {
		if err := json.NewEncoder(&b).Encode(v); err != nil {
			t.Fatal(err)
		}
	}
	line(f.Run)
	for _, r := range f.Ranks {
		line(r)
	}
	for i, rounds := range f.Rounds {
		for k, round := range rounds {
			line(result.StepRound{Kind: result.KindRound, N: i + 1, Number: k + 1, Round: round})
		}
	}
	for _, r := range f.Records {
		line(r)
	}
	if f.End != nil {
		line(f.End)
	}
	path := filepath.Join(dir, fmt.Sprintf("step_%s_world%d_%s.jsonl", f.Run.Backend.Name, f.Run.World,
		f.Run.Start.Format("20060102T150405000Z")))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// CutOff makes a file one of a run that was killed between rounds: points from n on have some rounds, and no record.
func CutOff(n, rounds int) func(*result.StepFile) {
	return func(f *result.StepFile) {
		for i := range f.Rounds {
			if i+1 >= n {
				f.Rounds[i] = f.Rounds[i][:rounds]
			}
		}
		f.Records, f.End = f.Records[:n-1], nil
	}
}
