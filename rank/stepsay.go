package main

import (
	"slices"

	"busbar/internal/notice"
	"busbar/internal/step"
	"busbar/rank/backend"
	"busbar/rank/machine"
)

// reportGroup prints which bucket of a group is the best, and how much of its communication is exposed. Rank 0 only.
func (s *screen) reportGroup(g *stepGroup) {
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
	best := step.LeastMedian(rounds)
	if best < 0 {
		return
	}
	figures := step.FiguresOf(rounds[best])
	if len(points) > 1 {
		s.report(step.FindBucket(points, step.Standings(points, rounds), best, &figures))
	}
	s.report(step.FindPoint(points[best], &figures)...)
}

// report prints notices with their details.
func (s *screen) report(all ...notice.Notice) {
	for _, n := range all {
		s.wrapped("# ", notice.Paragraph(n.Fact))
	}
}

// reportProgress prints whether communication progresses without library calls, where that was measured. Rank 0 only.
func (s *screen) reportProgress(w *stepSession) {
	var points []step.Point
	for _, p := range w.points {
		points = append(points, p.Point)
	}
	for _, p := range step.Progresses(points, w.rounds) {
		s.report(p.Notice())
	}
}

// stepCrowded warns where threads that compute and threads that communicate must share cores.
func (s *stepSession) stepCrowded() []notice.Fact {
	if !backend.OnHosts(s.lib.Name()) || s.run.Crowded() != nil { // another warning leaves this one to say
		return nil
	}
	threads := s.j.cfg.step.Threads
	for _, p := range s.points {
		if p.Progress == step.Thread {
			threads = s.j.cfg.step.Threads + 1
		}
	}
	if threads == 1 {
		return nil
	}
	var places []machine.Place
	for i, f := range s.facts() {
		for range threads {
			places = append(places, machine.Place{Rank: s.members[i], Host: f.Host, CPUs: f.CPUs, Quota: f.Quota})
		}
	}
	hosts := map[string][]machine.Place{}
	for _, p := range places {
		hosts[p.Host] = append(hosts[p.Host], p)
	}
	for _, f := range s.facts() {
		if n, cores, limit := machine.Crowd(hosts[f.Host]); n > 0 {
			return []notice.Fact{notice.SharedStepThreads{Threads: n, Cores: cores, Host: f.Host, Limit: limit}}
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
		mark("SIMULATED: no device was measured, and these values are not about hardware")
	}
	if slices.ContainsFunc(w.points, func(p *stepPoint) bool { return p.Compression != step.Compression{} }) {
		mark("MODELLED compression: smaller messages were sent, and computing took the time of compression")
	}
}
