package report

import (
	"cmp"
	"fmt"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/say"
)

// How many sentences of one sort stand among the headlines.
const (
	mostFastest  = 3
	mostReminded = 4
)

// addBanners says first what takes the worth of figures away.
func (b *Builder) addBanners(r *Report) {
	rehearsed, wrong := 0, 0
	var crowded []*result.Run
	for _, g := range b.runs {
		if g.run.Rehearse {
			rehearsed++
		}
		if g.run.Crowded() != nil {
			crowded = append(crowded, g.run)
		}
		wrong += g.counts[result.Wrong]
	}
	if wrong > 0 {
		r.Banners = append(r.Banners, Banner{Serious, fmt.Sprintf("WRONG DATA at %s: what ranks received was not what was sent. Do not use this set-up before that is explained.", units.Count(wrong, "point"))})
	}
	if rehearsed > 0 {
		r.Banners = append(r.Banners, Banner{Serious, fmt.Sprintf("REHEARSED (%s): stand-ins took the place of devices. These figures say nothing about hardware.", ofRuns(rehearsed, len(b.runs)))})
	}
	if crowded != nil {
		r.Banners = append(r.Banners, Banner{Warning, fmt.Sprintf("OVERSUBSCRIBED (%s): ranks or threads had to share cores or a GPU. Their %s.", ofRuns(len(crowded), len(b.runs)), crowdedTimes(crowded))})
	}
}

// crowdedTimes says what the times of oversubscribed runs are worth. Of training steps it is told which bucket is the best all the same.
func crowdedTimes(runs []*result.Run) string {
	steps, collectives := false, false
	for _, r := range runs {
		steps, collectives = steps || r.Step != nil, collectives || r.Step == nil
	}
	text := "times are those of waiting for a turn"
	if collectives {
		text += ", and no verdict about speed is made of them"
	}
	switch {
	case steps && collectives:
		text += "; what is said of training steps holds for such a machine alone"
	case steps:
		text += ", and what is said of them holds for such a machine alone"
	}
	return text
}

func ofRuns(n, all int) string {
	switch {
	case all == 1:
		return "the run"
	case n == all:
		return "all runs"
	}
	return fmt.Sprintf("%d of %d runs", n, all)
}

// addHeadlines says in a few sentences what one would say first: how fast, what stands out, what is missing.
func (b *Builder) addHeadlines(r *Report, f Found, urgent []string) {
	if text := wrongWords(r); text != "" {
		r.Headlines = append(r.Headlines, Headline{Tone: Serious, Says: text})
	}
	for _, text := range fastest(f) {
		r.Headlines = append(r.Headlines, Headline{Tone: Plain, Says: text})
	}
	b.addStepHeadlines(r)
	for _, text := range f.Headlines {
		r.Headlines = append(r.Headlines, Headline{Tone: Plain, Says: text})
	}
	told := 0
	for _, one := range r.Findings {
		if one.Tone != Plain && told < mostReminded {
			told++
			r.Headlines = append(r.Headlines, Headline{one.Tone, one.Says, one.Number})
		}
	}
	if b.ok+b.stepped == 0 {
		r.Headlines = append(r.Headlines, Headline{Tone: Warning, Says: "No point has a time that can be drawn; the section on data quality says why."})
	}
	for _, text := range urgent {
		r.Headlines = append(r.Headlines, Headline{Tone: Warning, Says: text})
	}
}

// wrongWords tell of wrong data where it was met.
func wrongWords(r *Report) string {
	text, more := "", 0
	for _, m := range r.Quality.Misses {
		switch {
		case m.Status != string(result.Wrong):
		case text == "":
			text = fmt.Sprintf("Wrong data: %s; %s.", m.Where, m.Reason)
		default:
			more += m.N
		}
	}
	if more > 0 {
		text += fmt.Sprintf(" And %s with other wrong data: see the data quality.", units.Count(more, "point"))
	}
	return text
}

// fastest says of each contender what its largest world reached in the collective that stands first, mostly all_reduce.
func fastest(f Found) (sentences []string) {
	best := map[string]*analysis.Curve{}
	var order []string
	for _, c := range f.Curves {
		if _, trusted := c.Trusted(); !trusted || c.Mode != coll.Throughput || c.Collective.BusFactor(c.World) == 0 {
			continue
		}
		key := c.Who
		old := best[key]
		if old == nil {
			order = append(order, key)
		}
		if old == nil || c.Collective == old.Collective && (c.World > old.World || c.World == old.World && peakOf(c) > peakOf(old)) {
			best[key] = c
		}
	}
	slices.SortStableFunc(order, func(x, y string) int { return cmp.Compare(peakOf(best[y]), peakOf(best[x])) })
	for _, key := range order[:min(len(order), mostFastest)] {
		sentences = append(sentences, fastestOf(best[key], f))
	}
	if n := len(order) - mostFastest; n > 0 {
		reach := "reach"
		if n == 1 {
			reach = "reaches"
		}
		sentences[len(sentences)-1] += fmt.Sprintf(" (%s %s less.)", units.Count(n, "other"), reach)
	}
	return sentences
}

// peakOf is the largest bus bandwidth of a curve, in bytes per second.
func peakOf(c *analysis.Curve) float64 {
	most := 0.0
	for i := range c.Points {
		most = max(most, c.BusBW(i))
	}
	return most
}

func fastestOf(c *analysis.Curve, f Found) string {
	at := 0
	for i := range c.Points {
		if c.BusBW(i) > c.BusBW(at) {
			at = i
		}
	}
	how := intervalWords(c, at)
	if c.Placement != 0 { // another tool's file may not tell
		how = say.Placement(c.Placement) + "; " + how
	}
	text := fmt.Sprintf("%s: %s with %s reaches a bus bandwidth of %s GB/s at %s (%s)", c.Who, say.Table{Collective: c.Collective, Type: c.Type, Op: c.Op}, analysis.ShapeOf(c.Condition).Words(),
		units.Gigabytes(c.BusBW(at)), size(c.Points[at].SizeBytes), how)
	if f.Ceilings == nil {
		return text + "."
	}
	switch ceiling := f.Ceilings(c); {
	case ceiling.GBps > 0:
		return fmt.Sprintf("%s, %.0f %% of peak (%s).", text, 100*c.BusBW(at)/1e9/ceiling.GBps, ceiling.Says)
	case ceiling.Says != "":
		return fmt.Sprintf("%s. Peak unknown: %s.", text, ceiling.Says)
	}
	return text + "."
}

// intervalWords are the bounds of a point's bus bandwidth, and what they are.
func intervalWords(c *analysis.Curve, i int) string {
	p := c.Points[i]
	if p.Basis == 0 || p.Time.Lo <= 0 {
		return "no interval"
	}
	k := c.Case(i)
	return fmt.Sprintf("%s to %s, %s", units.Gigabytes(k.BusBW(p.Time.Hi)), units.Gigabytes(k.BusBW(p.Time.Lo)), bases[basisOf[p.Basis]])
}
