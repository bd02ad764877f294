package main

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/step"
)

// sayGroup says of a group which bucket is the best, and how much of its communication is exposed. Rank 0 only.
func (s *screen) sayGroup(g *stepGroup) {
	if !s.on {
		return
	}
	var points []step.Point
	var rounds [][]step.Round
	for _, r := range g.alive() {
		if len(r.rounds) > 0 {
			points, rounds = append(points, r.Point), append(rounds, r.rounds)
		}
	}
	for _, sentence := range groupSentences(points, rounds) {
		s.wrapped("# ", sentence)
	}
}

// groupSentences are what the rounds of a group's points say, in plain words; each point has some.
func groupSentences(points []step.Point, rounds [][]step.Round) (all []string) {
	best := bestOf(rounds)
	if best < 0 {
		return nil
	}
	standings := step.Standings(points, rounds)
	if len(points) > 1 {
		all = append(all, bucketSentence(points, standings, best))
	}
	return append(all, exposedSentence(points[best], step.FiguresOf(rounds[best])))
}

// bestOf is the point whose overlapped steps have the least median, -1 without rounds.
func bestOf(rounds [][]step.Round) (best int) {
	best = -1
	least := 0.0
	for i, r := range rounds {
		if len(r) == 0 {
			continue
		}
		if m := step.FiguresOf(r).Overlapped.Value; best < 0 || m < least {
			best, least = i, m
		}
	}
	return best
}

// bucketSentence says how the buckets stand to the best one.
func bucketSentence(points []step.Point, standings []step.Standing, best int) string {
	var slower, alike, few []string
	for i, s := range standings {
		switch s.Verdict {
		case step.Slower:
			slower = append(slower, fmt.Sprintf("%s is %.1f %% [%.1f, %.1f] slower", points[i].Bucket, 100*s.Slower.Value, 100*s.Slower.Lo, 100*s.Slower.Hi))
		case step.NoDifference:
			alike = append(alike, points[i].Bucket.String())
		case step.TooFewRounds:
			few = append(few, points[i].Bucket.String())
		}
	}
	if len(slower)+len(few) == 0 {
		return fmt.Sprintf("best bucket: no difference between %s in this launch (%s has the least median)", words(bucketsOf(points)), points[best].Bucket)
	}
	text := fmt.Sprintf("best bucket in this launch: %s", points[best].Bucket)
	if len(slower) == 0 {
		text = fmt.Sprintf("the least median is that of %s", points[best].Bucket)
	}
	if len(alike) > 0 {
		text += fmt.Sprintf(", from which %s cannot be told", strings.Join(alike, ", "))
	}
	if len(slower) > 0 {
		text += "; " + strings.Join(slower, "; ")
	}
	if len(few) > 0 {
		text += fmt.Sprintf("; too few rounds to compare %s (a larger --budget gives more)", strings.Join(few, ", "))
	}
	return text
}

func bucketsOf(points []step.Point) (caps []step.Cap) {
	for _, p := range points {
		caps = append(caps, p.Bucket)
	}
	return caps
}

// exposedSentence says how much of a step's communication is not hidden.
func exposedSentence(p step.Point, f step.Figures) string {
	if f.Overlap == nil {
		return "communication takes next to nothing here (less than 0.1 % of a step), and there is nothing to hide"
	}
	text := fmt.Sprintf("%s: communication takes %s ms alone, and ", p.Bucket, threeDigits(f.Comm.Value))
	switch exposed := threeDigits(f.Exposed.Value); {
	case f.Exposed.Value <= 0:
		text += "all of it is hidden"
	case f.Exposed.Value > f.Comm.Value:
		text += fmt.Sprintf("a step takes %s ms more than its computing: overlapping costs more than it hides", exposed)
	default:
		text += fmt.Sprintf("of it %s ms (%.0f %%) are exposed", exposed, 100*f.Exposed.Value/f.Comm.Value)
	}
	if f.SpeedUp != nil {
		text += fmt.Sprintf("; overlapped, a step is %.2f times as fast as one after the other", f.SpeedUp.Value)
	}
	return text
}

// threeDigits writes a time in seconds as milliseconds to three digits.
func threeDigits(s float64) string { return fmt.Sprintf("%.3g", 1e3*s) }

// sayProgress says whether communication goes on without calls of the library, where that was measured. Rank 0 only.
func (s *screen) sayProgress(w *stepSession) {
	var points []step.Point
	for _, p := range w.points {
		points = append(points, p.Point)
	}
	for _, p := range step.Progresses(points, w.rounds) {
		s.wrapped("# ", p.String())
	}
}

// stepCrowded warns where threads that compute and threads that communicate must share cores.
func (s *stepSession) stepCrowded() []string {
	if !onHosts(s.lib.name()) || len(s.run.Warnings) > 0 {
		return nil
	}
	threads := s.j.cfg.step.threads
	for _, p := range s.points {
		if p.Progress == step.Thread {
			threads = s.j.cfg.step.threads + 1
		}
	}
	if threads == 1 {
		return nil
	}
	var places []place
	for i, f := range s.facts() {
		for range threads {
			places = append(places, place{Rank: s.members[i], Host: f.Host, CPUs: f.CPUs, Quota: f.Quota})
		}
	}
	hosts := map[string][]place{}
	for _, p := range places {
		hosts[p.Host] = append(hosts[p.Host], p)
	}
	for _, f := range s.facts() {
		if n, cores, why := crowd(hosts[f.Host]); n > 0 {
			return []string{fmt.Sprintf("threads: %d threads that compute or communicate share %s on %s%s: communication that goes on takes its time from computing", n, plural(cores, "core"), f.Host, why)}
		}
	}
	return nil
}

// stepFarewell says what the figures are not, and what to do next.
func (s *screen) stepFarewell() {
	for _, mark := range s.marks {
		s.wrapped("# ", mark)
	}
	s.note("next: post report")
}

// markSteps keeps what has to be said of all figures of a file.
func (s *screen) markSteps(w *stepSession) {
	mark := func(text string) {
		if !slices.Contains(s.marks, text) {
			s.marks = append(s.marks, text)
		}
	}
	if w.run.Rehearse {
		mark("REHEARSED: what stands above says nothing about hardware")
	}
	if slices.ContainsFunc(w.points, func(p *stepPoint) bool { return p.Compression != step.Compression{} }) {
		mark("MODELLED compression: smaller messages were sent, and the time that compressing takes was computed through")
	}
}
