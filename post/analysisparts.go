package main

import (
	"fmt"
	"math"
	"slices"

	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
	"busbar/post/say"
)

// faster compares every contender with the first one, world by world and size by size.
func (a *analyst) faster(family analysis.Condition) (sentences []string) {
	for i, first := range a.times.Contenders {
		for _, other := range a.times.Contenders[i+1:] {
			for _, s := range a.times.Shapes(first, family) {
				sentences = append(sentences, a.duels(first, other, family, s)...)
			}
		}
	}
	return sentences
}

// duels compares two contenders in one world.
func (a *analyst) duels(first, other analysis.Contender, family analysis.Condition, s analysis.Shape) (sentences []string) {
	for _, under := range a.times.In(first, family, s) {
		b := a.times.Cells[other][under]
		if b == nil {
			continue
		}
		if why := a.times.Crowded(s, first, other); why != "" {
			return []string{a.told(fmt.Sprintf("With %s nothing is said of %s and %s: %s.", s.Words(), a.name[first], a.name[other], why), first, other)}
		}
		sentences = append(sentences, a.told(a.duel(first, other, under, analysis.Ratio(b, a.times.Cells[first][under])), first, other))
	}
	return sentences
}

// duel is one comparison in words; r is the ratio of other's time to that of first.
func (a *analyst) duel(first, other analysis.Contender, under analysis.Condition, r stats.Ratio) string {
	slow, fast := a.name[other], a.name[first]
	if r.Value < 1 {
		slow, fast, r = fast, slow, r.Inverse()
	}
	at := fmt.Sprintf("With %s, %s: ", analysis.ShapeOf(under).Words(), under.Size())
	if r.Basis == stats.LaunchSpread || r.Basis == stats.NoBounds {
		return at + fmt.Sprintf("%s took %s times as long as %s (%s); what that says of other launches is open.", slow, units.Times(r.Value), fast, say.Bounds(r))
	}
	if !r.Differs() {
		return at + fmt.Sprintf("no difference can be told between %s and %s: %s takes %s times as long (%s).", fast, slow, slow, units.Times(r.Value), say.Bounds(r))
	}
	return at + fmt.Sprintf("%s is faster; %s takes %s times as long (%s).", fast, slow, units.Times(r.Value), say.Bounds(r))
}

// saturated is where the bus bandwidth of a contender in one world ends to grow.
type saturated struct {
	from, at     analysis.Condition // from which size on it is within 10 % of its largest, and where it is largest
	last         analysis.Condition // the largest size
	largest, end float64            // bytes per second: the largest, and that of the largest size
	within       bool               // it does so before the largest size that was measured
	falls        bool               // at the largest size it is lower again
	share        stats.Ratio        // of the largest, that it then is
}

// nearLargest is the share of the largest bandwidth from which on it counts as reached.
const nearLargest = 0.9

// saturates looks at the sizes of one world; false: there are fewer than three, or no bandwidth.
func (a *analyst) saturates(who analysis.Contender, family analysis.Condition, s analysis.Shape) (found saturated, ok bool) {
	all := a.times.In(who, family, s)
	bandwidths := make([]float64, len(all))
	for i, under := range all {
		t, _ := a.times.Cells[who][under].Over()
		if bandwidths[i] = under.BusBW(t.Value); bandwidths[i] > found.largest {
			found.largest, found.at = bandwidths[i], under
		}
	}
	if len(all) < 3 || found.largest <= 0 {
		return found, false
	}
	found.last, found.end = all[len(all)-1], bandwidths[len(all)-1]
	if found.falls = found.end < nearLargest*found.largest; found.falls {
		found.share = analysis.Ratio(a.times.Cells[who][found.at], a.times.Cells[who][found.last])
		bytes := float64(found.last.SizeBytes) / float64(found.at.SizeBytes)
		found.share.Value, found.share.Lo, found.share.Hi = found.share.Value*bytes, found.share.Lo*bytes, found.share.Hi*bytes
	}
	from := len(all) - 1
	for from > 0 && bandwidths[from-1] >= nearLargest*found.largest {
		from--
	}
	found.from, found.within = all[from], !found.falls && from < len(all)-1
	return found, true
}

func (a *analyst) saturation(family analysis.Condition) (sentences []string) {
	for _, who := range a.times.Contenders {
		for _, s := range a.times.Shapes(who, family) {
			if a.times.Crowded(s, who) != "" {
				continue
			}
			if found, ok := a.saturates(who, family, s); ok {
				sentences = append(sentences, a.told(fmt.Sprintf("%s with %s: %s.", a.name[who], s.Words(), found.words()), who))
			}
		}
	}
	return sentences
}

// words say where bandwidth saturates.
func (found saturated) words() string {
	gbps := units.Gigabytes(found.largest) + " GB/s"
	switch {
	case found.within:
		return fmt.Sprintf("bus bandwidth saturates from %s on, at up to %s (%s)", found.from.Size(), gbps, found.at.Size())
	case found.falls && (found.share.Basis == stats.NoBounds || found.share.Hi >= nearLargest):
		return fmt.Sprintf("whether bus bandwidth stays at its largest, %s at %s, cannot be told; at %s it is %s of that (%s)", gbps, found.at.Size(), found.last.Size(), units.Times(found.share.Value), say.Bounds(found.share))
	case found.falls:
		return fmt.Sprintf("bus bandwidth does not stay at its largest, %s at %s; at %s it is %s of that (%s)", gbps, found.at.Size(), found.last.Size(), units.Times(found.share.Value), say.Bounds(found.share))
	}
	return fmt.Sprintf("bus bandwidth does not saturate within what was measured; it is largest, %s, at the largest size, %s", gbps, found.last.Size())
}

// growth says how time grows from the smallest to the largest size that has data.
func (a *analyst) growth(family analysis.Condition) (sentences []string) {
	for _, who := range a.times.Contenders {
		for _, s := range a.times.Shapes(who, family) {
			all := slices.DeleteFunc(a.times.In(who, family, s), func(c analysis.Condition) bool { return c.SizeBytes == 0 })
			if len(all) < 2 || a.times.Crowded(s, who) != "" {
				continue
			}
			least, most := all[0], all[len(all)-1]
			r := analysis.Ratio(a.times.Cells[who][most], a.times.Cells[who][least])
			if r.Value <= 0 {
				continue
			}
			step := float64(most.SizeBytes) / float64(least.SizeBytes)
			slope := func(ratio float64) float64 { return math.Log(ratio) / math.Log(step) }
			text := fmt.Sprintf("%s with %s: from %s to %s, %s times the data, time grows %s times (%s): a slope of %.2f", a.name[who], s.Words(), least.Size(), most.Size(), units.Times(step), units.Times(r.Value), say.Bounds(r), slope(r.Value))
			if r.Basis != stats.NoBounds {
				text += fmt.Sprintf(" (%.2f to %.2f)", slope(r.Lo), slope(r.Hi))
			}
			sentences = append(sentences, a.told(text+" between logarithms, where 1 is in proportion.", who))
		}
	}
	return sentences
}

// scaling says how time grows from the smallest world to each larger one, at every size that both have.
func (a *analyst) scaling(family analysis.Condition) (sentences []string) {
	for _, who := range a.times.Contenders {
		worlds := a.uncrowded(who, family)
		if len(worlds) < 2 {
			continue
		}
		for _, under := range a.times.In(who, family, worlds[0]) {
			for _, s := range worlds[1:] {
				if text := a.wider(who, under, s); text != "" {
					sentences = append(sentences, a.told(fmt.Sprintf("%s, %s: %s.", a.name[who], under.Size(), text), who))
				}
			}
		}
	}
	return sentences
}

// uncrowded are the worlds of a contender whose ranks had cores of their own.
func (a *analyst) uncrowded(who analysis.Contender, family analysis.Condition) (found []analysis.Shape) {
	for _, s := range a.times.Shapes(who, family) {
		if a.times.Crowded(s, who) == "" {
			found = append(found, s)
		}
	}
	return found
}

// wider compares one size in a larger world with the same in a smaller one; nothing where it was not measured there.
func (a *analyst) wider(who analysis.Contender, under analysis.Condition, s analysis.Shape) string {
	larger := under
	larger.World, larger.Nodes, larger.PerNode = s.World, s.Nodes, s.PerNode
	larger = a.sameSize(who, larger)
	c := a.times.Cells[who][larger]
	if c == nil {
		return ""
	}
	r := analysis.Ratio(c, a.times.Cells[who][under])
	if r.Value <= 0 {
		return ""
	}
	text := fmt.Sprintf("%s take %s times as long as %s (%s)", s.Words(), units.Times(r.Value), analysis.ShapeOf(under).Words(), say.Bounds(r))
	if from, to := under.Collective.BusFactor(under.World), larger.Collective.BusFactor(larger.World); from > 0 && to > 0 {
		text += fmt.Sprintf("; at equal bus bandwidth it would be %s", units.Times(to/from))
	}
	return text
}

// sameSize finds the condition of a larger world with the size of another: where ranks share the data, it is trimmed
// differently in each world.
func (a *analyst) sameSize(who analysis.Contender, wanted analysis.Condition) analysis.Condition {
	for _, under := range a.times.In(who, analysis.FamilyOf(wanted), analysis.ShapeOf(wanted)) {
		if ratio := float64(under.SizeBytes) / float64(wanted.SizeBytes); ratio > 0.97 && ratio < 1.03 {
			return under
		}
	}
	return wanted
}
