package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/say"
)

// mostHeadlines is how many headlines there are of one kind.
const mostHeadlines = 2

// headlines are the two or three sentences that one would say first, of all_reduce. None is made of worlds whose ranks
// shared cores, or of spreads that are no interval; what holds for one launch alone begins with that.
func (a *analyst) headlines() (sentences []string) {
	families := a.analysed()
	i := slices.IndexFunc(families, func(c analysis.Condition) bool { return c.Collective == coll.AllReduce })
	if i < 0 {
		return nil
	}
	family := families[i]
	sentences = append(sentences, a.winners(family)...)
	if s := a.plateau(family); s != "" {
		sentences = append(sentences, s)
	}
	if s := a.spread(family); s != "" && len(sentences) <= mostHeadlines {
		sentences = append(sentences, s)
	}
	return sentences
}

// winners says of the largest world that each pair of contenders shares who is faster there.
func (a *analyst) winners(family analysis.Condition) (sentences []string) {
	for i, first := range a.times.Contenders {
		for _, other := range a.times.Contenders[i+1:] {
			worlds := a.uncrowded(first, family)
			slices.Reverse(worlds)
			for _, s := range worlds {
				if text := a.winner(first, other, family, s); text != "" && len(sentences) < mostHeadlines {
					sentences = append(sentences, a.told(text, first, other))
					break
				}
			}
		}
	}
	return sentences
}

// winner says who of two is faster in one world, at which sizes, by how much. It says nothing where the world's ranks
// shared cores, a ratio has no interval, or one of the two was rehearsed.
func (a *analyst) winner(first, other analysis.Contender, family analysis.Condition, s analysis.Shape) string {
	if a.times.Crowded(s, other) != "" || first.Rehearsed != other.Rehearsed {
		return ""
	}
	ahead := map[analysis.Contender][]duelled{}
	var open []duelled // no difference can be told
	var bases []stats.Ratio
	for _, under := range a.times.In(first, family, s) {
		b := a.times.Cells[other][under]
		if b == nil {
			continue
		}
		r := analysis.Ratio(b, a.times.Cells[first][under])
		if r.Basis != stats.WithinLaunch && r.Basis != stats.AcrossLaunches {
			return ""
		}
		bases = append(bases, r)
		switch {
		case !r.Differs():
			open = append(open, duelled{under, r})
		case r.Value > 1:
			ahead[first] = append(ahead[first], duelled{under, r})
		default:
			ahead[other] = append(ahead[other], duelled{under, r.Inverse()})
		}
	}
	var words []string
	for _, who := range []analysis.Contender{first, other} {
		if won := ahead[who]; won != nil {
			words = append(words, fmt.Sprintf("%s is faster %s", a.name[who], atSizes(won, len(open)+len(ahead[first])+len(ahead[other]))))
		}
	}
	if open != nil && words != nil {
		words = append(words, "no difference can be told at "+sizesOf(open))
	} else if open != nil {
		words = []string{fmt.Sprintf("no difference between %s and %s can be told at %s", a.name[first], a.name[other], sizesOf(open))}
	}
	if words == nil {
		return ""
	}
	return fmt.Sprintf("%s of %s with %s: %s.", scope(bases), family.Collective, s.Words(), strings.Join(words, "; "))
}

// duelled is a size at which a contender was compared, and how many times as long the slower one took.
type duelled struct {
	under analysis.Condition
	r     stats.Ratio
}

// scope says how far a headline reaches that stands on these ratios.
func scope(ratios []stats.Ratio) string {
	within := slices.ContainsFunc(ratios, func(r stats.Ratio) bool { return r.Basis == stats.WithinLaunch })
	across := slices.ContainsFunc(ratios, func(r stats.Ratio) bool { return r.Basis == stats.AcrossLaunches })
	switch {
	case within && across:
		return "Over launches, of some sizes in one launch alone,"
	case across:
		return "Over launches,"
	case slices.ContainsFunc(ratios, func(r stats.Ratio) bool { return !r.Paired }):
		return "In the one launch of each that there is,"
	}
	return "In the one launch that there is,"
}

// atSizes says where one was faster and by how much, from the least to the most.
func atSizes(won []duelled, all int) string {
	least := slices.MinFunc(won, func(a, b duelled) int { return cmp.Compare(a.r.Value, b.r.Value) })
	most := slices.MaxFunc(won, func(a, b duelled) int { return cmp.Compare(a.r.Value, b.r.Value) })
	at := "at " + sizesOf(won)
	if len(won) == all && all > 1 {
		at = "at every size measured"
	}
	if units.Times(least.r.Value) == units.Times(most.r.Value) {
		return fmt.Sprintf("%s, by a factor of %s (95 %% interval %s)", at, units.Times(most.r.Value), say.Span(most.r))
	}
	return fmt.Sprintf("%s, by factors from %s (%s; 95 %% interval %s) to %s (%s; %s)", at, units.Times(least.r.Value), least.under.Size(), say.Span(least.r), units.Times(most.r.Value), most.under.Size(), say.Span(most.r))
}

func sizesOf(all []duelled) string {
	var words []string
	for _, d := range all {
		words = append(words, d.under.Size())
	}
	return units.Some(words)
}

// plateau says where bandwidth saturates in the largest world of each contender.
func (a *analyst) plateau(family analysis.Condition) string {
	var words []string
	var about []analysis.Contender
	for _, who := range a.times.Contenders {
		worlds := a.uncrowded(who, family)
		if len(worlds) == 0 {
			continue
		}
		s := worlds[len(worlds)-1]
		if found, ok := a.saturates(who, family, s); ok {
			words = append(words, fmt.Sprintf("%s%s with %s, %s", a.name[who], mark(who), s.Words(), found.words()))
			about = append(about, who)
		}
	}
	if words == nil {
		return ""
	}
	return a.told("Bandwidth: "+strings.Join(words, "; ")+".", about...)
}

// spread says how time grows from the smallest to the largest world, at the size nearest to the one that is pictured.
func (a *analyst) spread(family analysis.Condition) string {
	var words []string
	var about []analysis.Contender
	for _, who := range a.times.Contenders {
		worlds := a.uncrowded(who, family)
		if len(worlds) < 2 {
			continue
		}
		under := nearest(a.times.In(who, family, worlds[0]), pictured)
		if text := a.wider(who, under, worlds[len(worlds)-1]); text != "" {
			words = append(words, fmt.Sprintf("on %s%s %s", a.name[who], mark(who), text))
			about = append(about, who)
		}
	}
	if words == nil {
		return ""
	}
	return a.told("Worlds: "+strings.Join(words, "; ")+".", about...)
}

// nearest is the condition whose size is nearest to a size, by their ratio.
func nearest(all []analysis.Condition, bytes int64) analysis.Condition {
	return slices.MinFunc(all, func(a, b analysis.Condition) int {
		return cmp.Compare(math.Abs(math.Log(float64(a.SizeBytes)/float64(bytes))), math.Abs(math.Log(float64(b.SizeBytes)/float64(bytes))))
	})
}
