package analysis

import (
	"math"

	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// bandwidthName is busbw or algbw.
func (m Model) bandwidthName() string {
	if m.Curve.Collective.BusFactor(m.Curve.World) == 0 {
		return "algbw"
	}
	return "busbw"
}

// changes are the sizes from which on another model holds, with the jump of the time where that is a tenth or more.
func (m Model) changes() (all []notice.ModelChange) {
	for _, l := range m.Segments {
		if l.Step == 0 {
			continue
		}
		c := notice.ModelChange{At: units.Bytes(l.From)}
		if l.Step >= minJump || l.Step <= 1/minJump {
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

// Fact is the model, or that none fits; nil where too little was measured for one.
func (m Model) Fact() notice.Fact {
	switch {
	case m.Noise > mostScatter:
		return notice.NoModel{Residual: units.Share(m.Noise)}
	case len(m.Segments) == 0:
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
