package analysis

import (
	"fmt"
	"math"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// notSeen stands where the sizes that were measured do not tell.
const notSeen = "not seen"

// LatencyWords are the latency with its bounds, or what can be said of it.
func (m Model) LatencyWords() string {
	switch p := m.Latency; {
	case p.Known:
		return bounded(p, units.Duration, "")
	case p.Hi > 0 && !math.IsInf(p.Hi, 1):
		return "under " + units.Duration(p.Hi)
	}
	return notSeen
}

// BandwidthWords are the bandwidth of large sizes with its bounds, or what can be said of it.
func (m Model) BandwidthWords() string {
	switch p := m.Bandwidth; {
	case p.Known:
		return bounded(p, units.Gigabytes, " GB/s")
	case p.Lo > 0:
		return "over " + units.Gigabytes(p.Lo) + " GB/s"
	}
	return notSeen
}

// bandwidthName says which bandwidth it is.
func (m Model) bandwidthName() string {
	if m.Curve.Collective.BusFactor(m.Curve.World) == 0 {
		return "algbw"
	}
	return "busbw"
}

// HalfWords are the size that reaches half of it, with its bounds.
func (m Model) HalfWords() string {
	if !m.Half.Known {
		return notSeen
	}
	return bounded(m.Half, rough, "")
}

// ChangeWords are the sizes from which on another model holds.
func (m Model) ChangeWords() string {
	var words []string
	for _, c := range m.changes() {
		words = append(words, c.String())
	}
	return strings.Join(words, ", ")
}

// changes are the sizes from which on another model holds, with the jump of the time where that is a tenth or more.
func (m Model) changes() (all []notice.ModelChange) {
	for _, l := range m.Laws {
		if l.Step == 0 {
			continue
		}
		c := notice.ModelChange{At: units.Bytes(l.From)}
		if l.Step >= leastJump || l.Step <= 1/leastJump {
			c.Jump = units.Factor(l.Step)
		}
		all = append(all, c)
	}
	return all
}

// Bounds is what the intervals are based on.
func (m Model) Bounds() notice.ModelBasis {
	bases := map[stats.Basis]notice.RangeBasis{
		stats.LaunchSpread: notice.LaunchesRange, stats.AcrossLaunches: notice.OverLaunches,
	}
	return notice.ModelBasis{Basis: bases[m.Basis], Launches: len(m.Curve.Launches)}
}

// NoiseWords are how far points lie off the laws.
func (m Model) NoiseWords() string {
	words := fmt.Sprintf("%.1f %%", 100*m.Noise)
	if m.Odd > 0 {
		words += ", without " + units.Count(m.Odd, "size")
	}
	return words
}

// Fact is the model, or that none fits; nil where too little was measured for one.
func (m Model) Fact() notice.Fact {
	switch {
	case m.Noise > mostScatter:
		return notice.NoModel{Residual: units.Share(m.Noise)}
	case len(m.Laws) == 0:
		return nil
	}
	fact := notice.TimeModel{Kind: m.bandwidthName(), Changes: m.changes()}
	l, b := m.Latency, m.Bandwidth
	fact.Bandwidth = notice.FittedBandwidth{Lo: units.Bandwidth(b.Lo)}
	if l.Known {
		fact.Latency = notice.FittedTime{
			Value: units.Seconds(l.Value), Lo: units.Seconds(l.Lo), Hi: units.Seconds(l.Hi),
		}
	} else if !math.IsInf(l.Hi, 1) {
		fact.Latency.Hi = units.Seconds(l.Hi)
	}
	if b.Known {
		fact.Bandwidth.Value, fact.Bandwidth.Hi = units.Bandwidth(b.Value), units.Bandwidth(b.Hi)
	}
	if m.Half.Known {
		fact.Half = units.RoughBytes(m.Half.Value)
	}
	return fact
}

func bounded(p stats.Parameter, word func(float64) string, unit string) string {
	return word(p.Value) + unit + " (" + word(p.Lo) + " to " + word(p.Hi) + ")"
}

// rough writes a size that was not measured.
func rough(bytes float64) string { return units.RoughBytes(bytes).String() }
