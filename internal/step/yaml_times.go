package step

import (
	"math"
	"time"

	"busbar/internal/strictyaml"

	"gopkg.in/yaml.v3"
)

// timeKey is a time in a file that may be missing.
type timeKey struct {
	node    *yaml.Node // nil where it is missing
	seconds float64
}

func (p *modelReader) time(v *yaml.Node) timeKey {
	return timeKey{v, strictyaml.One(p.Reader, v, parseTime)}
}

// times gives each layer its time: its own, or what is left of the whole model's by weight. Where no whole is given for
// the backward pass, a layer without a time of its own takes twice as long as in the forward pass.
func (p *modelReader) times(root *yaml.Node, forward, backward timeKey) {
	sum := p.divide("forward", forward, func(l *layerEntry) (timeKey, *float64) { return l.forward, &l.Forward })
	sum += p.divide("backward", backward, func(l *layerEntry) (timeKey, *float64) { return l.backward, &l.Backward })
	for i := range p.layers {
		if l := &p.layers[i]; backward.node == nil && l.backward.node == nil {
			l.Backward = 2 * l.Forward
		}
	}
	if sum == 0 && p.Problems() == 0 {
		p.Errorf(root, "nothing computes: give the time of the whole model (forward: 40ms) or of layers")
	}
}

// divide sets the time of one pass in all layers and returns how long the pass takes.
func (p *modelReader) divide(
	pass string, total timeKey, of func(*layerEntry) (own timeKey, to *float64),
) (sum float64) {
	weights := 0.0
	for i := range p.layers {
		own, to := of(&p.layers[i])
		*to = own.seconds
		sum += own.seconds
		if own.node == nil {
			weights += p.layers[i].weight
		}
	}
	if total.node == nil {
		return sum
	}
	const rounding = 0.5e-9 // what is read has whole nanoseconds
	left := total.seconds - sum
	switch {
	case left < -rounding:
		p.Errorf(total.node, "%s: the layers' own times are more, %s together", pass, duration(sum))
	case left < rounding:
		return sum
	case weights == 0:
		p.Errorf(total.node, "%s: the layers' own times are %s together, and no other layer has a weight to get the rest by",
			pass, duration(sum))
	}
	for i := range p.layers {
		if own, to := of(&p.layers[i]); own.node == nil {
			*to = left * p.layers[i].weight / weights
		}
	}
	return total.seconds
}

// duration writes seconds for people.
func duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}
