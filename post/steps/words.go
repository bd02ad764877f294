package steps

import (
	"fmt"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/internal/units"
)

// Bucket is a cap in words: "25 MiB", "layer", "all".
func Bucket(c step.Cap) string {
	if c == step.PerLayer || c == step.All {
		return c.String()
	}
	return coll.FormatSize(int64(c), true)
}

// Title is what the points of the group share.
func (g *Group) Title() string { return g.Point.GroupString() }

// Library is what communicated: "mpi (Open MPI 4.1.4)".
func (r *Run) Library() string {
	b := &r.Newest().Backend
	return fmt.Sprintf("%s (%s)", b.Name, b.Library)
}

// World is how many ranks there were, and where.
func (r *Run) World() string {
	run := r.Newest()
	return units.Count(run.World, "rank") + " on " + units.Count(run.Nodes, "node")
}

// Reasons are why a point has no values, or not all of them.
func (p *Point) Reasons() (all []string) {
	if p.Status != result.OK {
		text := string(p.Status)
		if p.Reason != "" {
			text += ": " + p.Reason
		}
		all = append(all, text)
	}
	if w := p.Check.First; w != nil {
		all = append(all, fmt.Sprintf("%s wrong; first on rank %d, host %s, index %d: expected %s, found %s",
			units.Count(int(p.Check.Wrong), "element"), w.Rank, w.Host, w.Index, w.Want, w.Got))
	}
	return all
}

// About is what was trained, in a line: the model with its size and where its numbers come from.
func About(s *result.Step) string {
	text := fmt.Sprintf("training step of %s: %s parameters in %s", s.Model, units.Grouped(s.Params),
		units.Count(s.Layers, "layer"))
	if s.About != "" {
		text += "; " + s.About
	}
	return text
}

// How is what computed and what the first bucket was, in a line.
func How(s *result.Step) string {
	words := []string{fmt.Sprintf("computing by %s: asked for %s forward, %s backward", s.Computing,
		units.SignedDuration(s.Forward), units.SignedDuration(s.Backward))}
	if s.Optimizer > 0 {
		words = append(words, units.SignedDuration(s.Optimizer)+" optimizer")
	}
	if s.First > 0 {
		words = append(words, "first bucket of ddp "+coll.FormatSize(s.First, true))
	}
	if s.Interval > 0 {
		words = append(words, "polling every "+units.SignedDuration(s.Interval))
	}
	return strings.Join(words, ", ")
}
