package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/program"
	steps "busbar/internal/step"
	"busbar/post/timeline"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
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
	must.NoError(t, os.MkdirAll(folder, 0o777))
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
		must.NoError(t, err)
		must.NoError(t, own.Write(f))
		must.NoError(t, f.Close())
	}
	return folder
}

// The folder of a point holds all its ranks, and its timeline is one. Operations that block are matched over ranks.
func TestTimelineOfOwnSteps(t *testing.T) {
	for progress, matched := range map[steps.Progress]int{steps.NoCalls: 0, steps.Thread: 6} {
		folder, facts := ownTraces(t, t.TempDir(), 1, 25<<20, progress), t.TempDir()
		var out, said bytes.Buffer
		must.NoError(t, errors.Join(run(t.Context(), []string{"timeline", "--extract", facts, folder}, &out, &said),
			run(t.Context(), []string{"timeline", "--format", "json", facts}, &out, &said)))
		var found timeline.Timeline
		must.NoError(t, json.Unmarshal(out.Bytes(), &found))
		if len(found.Devices) != 2 || found.Across == nil || found.Across.Matched != matched || !found.Files[0].NoGPU {
			t.Errorf("%s: %d devices, %+v", progress, len(found.Devices), found.Across)
		}
		for i, d := range found.Devices {
			if *d.Rank != i || d.Host != "node1" || len(d.Steps) != 3 || d.Steps[2].Span != 110 ||
				d.Steps[2].Overlap != 30+float64(i) || d.Exposed != 3*(20-float64(i)) {
				t.Errorf("%s: rank %d: %+v", progress, i, d)
			}
		}
	}
}

// Points are separate jobs: their times together are meaningless.
func TestTimelineOfOnePoint(t *testing.T) {
	dir := t.TempDir()
	one, two := ownTraces(t, dir, 1, 25<<20, steps.NoCalls), ownTraces(t, dir, 12, steps.All, steps.NoCalls)
	var out, said bytes.Buffer
	err := run(t.Context(), []string{"timeline", dir}, &out, &said)
	if err == nil || !strings.Contains(err.Error(), one) || !strings.Contains(err.Error(), two) || out.Len() > 0 {
		t.Errorf("%v, and it prints\n%s", err, &out)
	}
	test.NoError(t, run(t.Context(), []string{"timeline", two}, &out, &said))
}
