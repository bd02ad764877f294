package report

import (
	"cmp"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/expect"
)

// maxRepeated is how many headlines of one kind there are.
const maxRepeated = 4

// addBanners puts first what invalidates values.
func (b *builder) addBanners(r *Report) {
	add := func(fact notice.Fact) { r.Banners = append(r.Banners, notice.New(fact)) }
	var simulated, crowded []int
	var cause notice.Fact
	verdicts := map[notice.CrowdedVerdict]bool{}
	var load notice.HostLoad // the highest
	for _, g := range b.runs {
		for _, k := range g.run.Warnings {
			if one, is := k.Fact.(notice.HostLoad); is && one.Load > load.Load {
				load = one
			}
		}
		if g.run.Rehearse {
			simulated = append(simulated, g.number)
		}
		if why := g.run.Crowded(); why != nil {
			cause, crowded = cmp.Or(cause, why), append(crowded, g.number)
			verdicts[verdictOf(g.run)] = true
		}
	}
	if wrong := b.quality.wrong; wrong.Points > 0 {
		wrong.Where = b.quality.wrongIn.words(len(b.runs))
		add(wrong)
	}
	if simulated != nil {
		add(notice.SimulatedRuns{Runs: b.runs.some(simulated)})
	}
	if load.Load > 0 {
		add(load)
	}
	if crowded != nil {
		effect := verdictOf(b.runs[crowded[0]-1].run)
		if len(verdicts) > 1 {
			effect = notice.NoSpeedOrSteps
		}
		add(notice.OversubscribedRuns{Runs: b.runs.some(crowded), Cause: notice.Kept{Fact: cause}, Effect: effect})
	}
}

// verdictOf is the use of times of an oversubscribed run: of training steps, the best bucket is reported anyway.
func verdictOf(r *result.Run) notice.CrowdedVerdict {
	if r.Step != nil {
		return notice.ThisHostAlone
	}
	return notice.NoSpeed
}

// addHeadlines adds the main results: verdicts on patterns, bandwidth, latency, findings, and what is missing.
func (b *builder) addHeadlines(r *Report, f analysed) {
	add := func(facts []notice.Fact) {
		for _, fact := range facts {
			r.Headlines = append(r.Headlines, Headline{Notice: notice.New(fact)})
		}
	}
	for _, n := range b.patterns.Notices() {
		r.Headlines = append(r.Headlines, Headline{Notice: n})
	}
	add(analysis.Headlines(r.answers, f.Curves))
	if n := expect.Headline(f.Curves); n != nil {
		r.Headlines = append(r.Headlines, Headline{Notice: *n})
	}
	r.addStepHeadlines(b.steps)
	add(f.Headlines)
	worst := units.Where(r.Findings, func(f analysis.Finding) bool { return f.Severity != notice.Info })
	slices.SortStableFunc(worst, func(a, b analysis.Finding) int { return cmp.Compare(b.Severity, a.Severity) })
	worst = worst[:min(len(worst), maxRepeated)]
	units.SortBy(worst, func(f analysis.Finding) int { return f.Number })
	for _, one := range worst {
		r.Headlines = append(r.Headlines, Headline{one.Notice, one.Number})
	}
	if b.ok+b.stepped == 0 && len(r.Headlines) == 0 {
		add([]notice.Fact{notice.NoValues{}})
	}
	add(b.runs.urgent(r.Plan.Left))
}
