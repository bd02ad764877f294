package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/program"
	steps "busbar/internal/step"
	"busbar/post/timeline"
)

// ownTraces writes the traces of a point into point<N> of a folder, of two ranks of which the second is slower.
func ownTraces(t *testing.T, dir string, point int, bucket steps.Cap, progress steps.Progress) (folder string) {
	t.Helper()
	plan := &steps.Plan{Model: "uniform", World: 2, Point: steps.Point{Strategy: steps.DDP, Bucket: bucket,
		Type: coll.Float32, Progress: progress},
		Segments: []steps.Segment{{Name: "forward", Work: steps.Forward}, {Name: "backward", Work: steps.Backward}},
		Ops: []steps.Op{{Name: "bucket 1", Collective: coll.AllReduce, Count: 1 << 20},
			{Name: "bucket 2", Collective: coll.AllReduce, Count: 1 << 18}}}
	folder = filepath.Join(dir, fmt.Sprintf("point%d", point))
	if err := os.MkdirAll(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	for rank := range int64(2) {
		own := steps.Trace{Plan: plan, Process: 100 + int(rank), TraceAbout: steps.TraceAbout{Tool: "busbar 9",
			Run: "run", Point: point, Backend: "mpi", Computing: "1 thread of FMA", Rank: int(rank), Host: "node1"}}
		for n := range int64(3) {
			ms := func(start, end int64) program.Span {
				return program.Span{Start: start*1e6 + n*1e12, End: end*1e6 + n*1e12}
			}
			own.Steps = append(own.Steps, steps.TracedStep{Number: int(n) + 4, Spans: program.Spans{
				Segments: []program.Span{ms(0, 30), ms(30, 90+rank)}, Ops: []program.Span{ms(60, 100), ms(95, 110)}}})
		}
		f, err := os.Create(filepath.Join(folder, fmt.Sprintf("rank%d.json", rank)))
		if err != nil {
			t.Fatal(err)
		}
		if err := own.Write(f); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// The folder of a point holds all its ranks, and its timeline is one.
func TestTimelineOfOwnSteps(t *testing.T) {
	folder := ownTraces(t, t.TempDir(), 1, 25<<20, steps.NoCalls)
	var out, said bytes.Buffer
	if err := run(t.Context(), []string{"timeline", folder}, &out, &said); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"a Kineto trace of busbar's own step",
		"This is busbar's own step (busbar 9; uniform, ddp 25M float32, no calls; mpi; CPUs, no GPU: 1 thread of " +
			"FMA), not a training job.",
		"rank 0 330.000 270.000", "rank 1", "all_reduce", "Training steps of uniform, run and recorded by busbar 9",
		"Operations are non-blocking, so that waiting is not separable",
		"Communication takes 50.00 ms and computation 90.50 ms per step",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " "), strings.Join(strings.Fields(want), " ")) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
	for _, odd := range []string{"NCCL_TIMEOUT", "What to try", "torch.profiler", "GB/s", "waiting ms", "wait for",
		"AllReduce takes", "backward pass"} {
		if strings.Contains(out.String(), odd) {
			t.Errorf("%q has no place here, and stands in\n%s", odd, &out)
		}
	}
	out.Reset()
	if err := run(t.Context(), []string{"timeline", "--format", "json", folder}, &out, &said); err != nil {
		t.Fatal(err)
	}
	var found timeline.Timeline
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Devices) != 2 || found.Across == nil || found.Across.Matched != 0 || found.Across.Waiting != 0 ||
		!found.Files[0].NoGPU {
		t.Errorf("%d devices, %+v", len(found.Devices), found.Across)
	}
	for i, d := range found.Devices {
		if *d.Rank != i || d.Host != "node1" || len(d.Steps) != 3 || d.Steps[2].Span != 110 || d.Steps[2].Overlap != 30+
			float64(i) || d.Exposed != 3*(20-float64(i)) {
			t.Errorf("rank %d: %+v", i, d)
		}
	}
}

// On hosts nothing is called a GPU, on a screen and on the page, and of non-blocking operations the page tells no
// busbw.
func TestTimelineOfOwnStepsOnHosts(t *testing.T) {
	var out, said bytes.Buffer
	dir := t.TempDir()
	if err := run(t.Context(), []string{"timeline", "-o", dir, ownTraces(t, dir, 1, 25<<20, steps.NoCalls)}, &out,
		&said); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "timeline.md"))
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{"screen": out.String(), "page": string(page)} {
		text = strings.Join(strings.Fields(text), " ")
		for _, want := range []string{"median of 2 ranks", "(2 ranks)", "so it has no busbw"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in %s", where, want, text)
			}
		}
		if rest := strings.NewReplacer("no GPU", "").Replace(text); strings.Contains(rest, "GPU") ||
			strings.Contains(text, "so has busbw") {
			t.Errorf("%s: %s", where, text)
		}
	}
	for _, want := range []string{"# Timeline of 2 ranks", "2 ranks in 2 files", "| rank 1 |"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	html, err := os.ReadFile(filepath.Join(dir, "timeline.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"unit":"rank"`, "plot of each rank over time"} {
		if !strings.Contains(string(html), want) {
			t.Errorf("no %q in the page", want)
		}
	}
}

// With calls that block, an operation's time is one of communication and of waiting, and is told over ranks.
func TestTimelineOfOwnBlockingSteps(t *testing.T) {
	var out, said bytes.Buffer
	if err := run(t.Context(), []string{"timeline", ownTraces(t, t.TempDir(), 1, 25<<20, steps.Thread)}, &out,
		&said); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"6 collectives were found on every rank", "at pure"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, &out)
		}
	}
}

// Points are jobs of their own: what they take together says nothing about any of them.
func TestTimelineIsOfOnePoint(t *testing.T) {
	dir := t.TempDir()
	one, two := ownTraces(t, dir, 1, 25<<20, steps.NoCalls), ownTraces(t, dir, 12, steps.All, steps.NoCalls)
	var out, said bytes.Buffer
	err := run(t.Context(), []string{"timeline", dir}, &out, &said)
	want := fmt.Sprintf(
		"these are traces of 2 points of rank --step, and a timeline is of one: name its folder\n  %s   uniform, ddp "+
			"25M float32, no calls\n  %s   uniform, ddp all float32, no calls", one, two)
	if fmt.Sprint(err) != want {
		t.Errorf("%v\nwant\n%s", err, want)
	}
	if out.Len() > 0 {
		t.Errorf("it prints\n%s", &out)
	}
	if err := run(t.Context(), []string{"timeline", two}, &out, &said); err != nil {
		t.Error(err)
	}
}
