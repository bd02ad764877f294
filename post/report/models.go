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
const modelsSay = "Model: time = latency + size / bandwidth, or several such pieces in a row. Bandwidth is what the largest sizes approach, as busbw; " +
	"n½ is the size that reaches half of it. Values that the measured sizes do not determine are left empty. Uncertainties of one launch come from the residuals; another launch may differ by more."

// unmodelled is how many curves have no model, in a sentence.
func (r *Report) unmodelled() string {
	n := len(r.Curves) - len(r.Models)
	if n == 0 {
		return ""
	}
	return units.Count(n, "curve") + " without a model: fewer than five sizes, residuals over 25 %, simulated, or oversubscribed."
}
