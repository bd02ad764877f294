package report

import (
	"busbar/internal/units"
	"busbar/post/analysis"
)

// addModel adds the model of a curve, where it has one.
func (m *making) addModel(curve int, of analysis.Model) {
	if len(of.Laws) == 0 {
		return
	}
	made := Model{
		Curve: curve, Latency: of.LatencyWords(), Bandwidth: of.BandwidthWords(), Half: of.HalfWords(),
		Changes: of.ChangeWords(), Scatter: of.NoiseWords(), Bounds: of.Bounds().String(),
	}
	for _, l := range of.Laws {
		made.Laws = append(made.Laws, Law{l.From, l.To, Figures{1e6 * l.Alpha, 1e6 * l.PerByte}})
	}
	m.Models = append(m.Models, made)
}

// modelsSay is what a table of models is to be read with.
const modelsSay = "Times follow latency + size / bandwidth, or several such laws one after the other. Bandwidth is what the largest sizes come near, as busbw; " +
	"n½ is the size that reaches half of it. What the measured sizes do not show is not claimed. Bounds of one launch are those of the scatter around the law; another launch may differ by more."

// unmodelled is how many curves have no model, in a sentence.
func (r *Report) unmodelled() string {
	n := len(r.Curves) - len(r.Models)
	if n == 0 {
		return ""
	}
	return units.Count(n, "curve") + " without a model: of under five sizes, with times that lie further than 25 % off any model, simulated, or oversubscribed."
}
