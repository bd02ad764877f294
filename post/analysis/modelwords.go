package analysis

import (
	"fmt"
	"math"
	"strings"

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

// ChangeWords say from which sizes on another law holds, and by which factor the time jumps there where that is a tenth or more.
func (m Model) ChangeWords() string {
	var words []string
	for _, l := range m.Laws {
		if l.Step == 0 {
			continue
		}
		word := sizeOf(l.From)
		if l.Step >= leastJump || l.Step <= 1/leastJump {
			word += " (time × " + units.Times(l.Step) + ")"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// BoundsWords say what bounds are.
func (m Model) BoundsWords() string {
	n := units.Count(len(m.Curve.Launches), "launch")
	switch m.Basis {
	case stats.LaunchSpread:
		return "least and greatest of " + n
	case stats.AcrossLaunches:
		return "95 % interval over " + n
	}
	return "95 %, by the scatter"
}

// NoiseWords are how far points lie off the laws.
func (m Model) NoiseWords() string {
	words := fmt.Sprintf("%.1f %%", 100*m.Noise)
	if m.Odd > 0 {
		words += ", without " + units.Count(m.Odd, "size")
	}
	return words
}

// Line is the model in one sentence; "" where nothing is known of one.
func (m Model) Line() string {
	switch {
	case m.Noise > mostScatter:
		return fmt.Sprintf("none, points lie %.0f %% off the best law", 100*m.Noise)
	case len(m.Laws) == 0:
		return ""
	}
	latency, bandwidth := m.LatencyWords(), m.BandwidthWords()
	if m.Latency.Known {
		latency = units.Duration(m.Latency.Value) + plusMinus(m.Latency)
	}
	if m.Bandwidth.Known {
		bandwidth = "nears " + units.Gigabytes(m.Bandwidth.Value) + " GB/s" + plusMinus(m.Bandwidth)
	}
	words := "latency " + latency + ", " + m.bandwidthName() + " " + bandwidth
	if m.Half.Known {
		words += ", n½ " + rough(m.Half.Value)
	}
	if changes := m.ChangeWords(); changes != "" {
		words += "; other laws from " + changes
	}
	return words
}

// plusMinus is half the distance of the bounds in percent.
func plusMinus(p stats.Parameter) string { return fmt.Sprintf(" ±%.1f %%", 50*(p.Hi-p.Lo)/p.Value) }

func bounded(p stats.Parameter, word func(float64) string, unit string) string {
	return fmt.Sprintf("%s%s (%s to %s)", word(p.Value), unit, word(p.Lo), word(p.Hi))
}

// rough writes a size that was not measured.
func rough(bytes float64) string { return units.RoughBytes(bytes).String() }
