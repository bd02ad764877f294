package main

import (
	"fmt"
	"math"
	"slices"

	"busbar/internal/notice"
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
	best := step.LeastMedian(rounds)
	if best < 0 {
		return nil
	}
	figures := step.FiguresOf(rounds[best])
	if len(points) > 1 {
		all = append(all, stepWording.BucketSays(points, step.Standings(points, rounds), best, &figures))
	}
	all = append(all, stepWording.ExposedSays(points[best], &figures))
	for _, text := range []string{step.InterferenceSays(points[best], &figures), step.GainSays(&figures)} {
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}

// stepWording is how buckets and times are written on the screen.
var stepWording = step.Wording{Bucket: step.Cap.String, Time: func(s float64) string { return threeDigits(s) + " ms" }}

// threeDigits writes a time in seconds as milliseconds to three digits, or to all that stand before the point.
func threeDigits(s float64) string {
	if ms := 1e3 * s; math.Abs(ms) >= 999.5 {
		return fmt.Sprintf("%.0f", ms)
	}
	return fmt.Sprintf("%.3g", 1e3*s)
}

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
func (s *stepSession) stepCrowded() []notice.Fact {
	if !onHosts(s.lib.name()) || s.run.Crowded() != nil { // another warning leaves this one to say
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
			return []notice.Fact{notice.SharedStepThreads{Threads: n, Cores: cores, Host: f.Host, Why: why}}
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
