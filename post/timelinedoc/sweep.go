package timelinedoc

import (
	"fmt"
	"path/filepath"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// Sweep returns the sweep file of a training: what rank --sweep measures. It has no names of hosts, kernels or folders.
func Sweep(t *timeline.Timeline, r *timeline.Replay) []byte {
	var b strings.Builder
	comment := func(text string) { fmt.Fprintf(&b, "# %s\n", text) }
	comment(t.Tool)
	var files []string
	for _, f := range t.Files {
		files = units.AddOnce(files, filepath.Base(f.Path))
	}
	comment("Collectives of a training, from " + units.Some(files))
	text := fmt.Sprintf("World of %s; calls are per %s", units.Count(r.World, "rank"), per(r))
	if r.Steps > 0 {
		text += ", of " + units.Count(r.Steps, "step")
	}
	comment(text)
	for _, n := range r.Lacks {
		comment(notice.Sentence(n.Fact))
	}
	fmt.Fprintf(&b, "world: %d\nparts:\n", r.World)
	for _, p := range r.Parts {
		part(&b, &p)
	}
	return []byte(b.String())
}

// per is the time in which calls are counted.
func per(r *timeline.Replay) string {
	if r.Steps > 0 {
		return "step"
	}
	return "recording"
}

// part writes one kind of collective.
func part(b *strings.Builder, p *timeline.Replayed) {
	fmt.Fprintf(b, "  - collectives: [%s]\n    types: [%s]\n", p.Collective, p.Type)
	if p.Division != "" {
		fmt.Fprintf(b, "    groups: [%q]\n", p.Division)
	}
	if p.InPlace() {
		fmt.Fprintf(b, "    placement: %s\n", coll.InPlace)
	}
	fmt.Fprintf(b, "    calls: %.6g\n", p.Calls)
	switch {
	case p.Matrix != nil:
		b.WriteString("    matrix:\n")
		for _, row := range p.Matrix {
			fmt.Fprintf(b, "      - %s\n", strings.ReplaceAll(fmt.Sprint(row), " ", ", "))
		}
	case p.WithSize(p.SizeBytes) != p.Case: // bytes would be trimmed
		fmt.Fprintf(b, "    elements: [%d]\n", p.Count)
	default:
		fmt.Fprintf(b, "    sizes: [%d]\n", p.SizeBytes)
	}
}

// replay compares each collective of a step with its time in a benchmark.
func replay(s *timelineDocument) {
	r := s.Replay
	if r == nil || r.Replayed == 0 {
		return
	}
	n := numbers{noun: "collective", worst: 1,
		heads: []string{"calls 2", "training 3", "pure 3", "replayed 3", "rest 3"}}
	found := 0
	for _, p := range r.Parts {
		values := []float64{p.Calls, p.Took, orNaN(p.Pure), orNaN(p.Again), orNaN(p.Rest)}
		if p.Again != nil {
			found++
		}
		words := fmt.Sprintf("%s %s x%d %s", p.Collective, p.Type, p.World, sizeWords(&p.SizeBytes))
		n.rows = append(n.rows, row{strings.TrimSpace(words + " " + string(p.Division)), values})
	}
	s.numbers("Collectives of a "+per(r)+", in training and replayed, in ms:", "operation", n)
	text := fmt.Sprintf("The benchmark has %d of %s, which take %.3f ms per %s there", found,
		units.Count(len(r.Parts), "kind"), r.Replayed, per(r))
	if r.Training > 0 {
		text += fmt.Sprintf(", and %.3f in training. The rest, %.3f ms, is waiting and contention; training is the "+
			"median of a call", r.Training, r.Training-r.Replayed)
	}
	s.say("%s.", text)
}
