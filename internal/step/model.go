package step

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"busbar/internal/strictyaml"
)

// The limits of a model; more is a typing error.
const (
	maxLayers = 100_000
	maxParams = 1 << 48 // elements of all layers
)

// presets are the models that are made here: name to what makes it of the text behind the colon, "" for none.
var presets = map[string]func(size string) (*Model, error){"resnet50": resnet50, "uniform": uniform}

// Read finds a model by its name, among the presets and the YAML files of a folder, or by its path. It returns the name
// of the file and its text, as Parse needs them; a preset has no text.
func Read(nameOrPath string, files fs.FS) (file string, text []byte, err error) {
	if isPreset(nameOrPath) {
		return nameOrPath, nil, nil
	}
	return strictyaml.Find("model", nameOrPath, files, slices.Collect(maps.Keys(presets))...)
}

// Parse makes the model of what Read returned. The error joins the problems of a file.
func Parse(file string, text []byte) (*Model, error) {
	if isPreset(file) {
		name, size, _ := strings.Cut(file, ":")
		return presets[name](size)
	}
	return parseYAML(file, text)
}

func isPreset(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	return presets[name] != nil
}

// Params is the number of elements of all layers.
func (m *Model) Params() (sum int64) {
	for _, l := range m.Layers {
		sum += l.Params
	}
	return sum
}

// Forward is the computing of the forward pass, in seconds.
func (m *Model) Forward() float64 { return sum(pieces(m.Layers, Layer.forward)) }

// Backward is the computing of the backward pass, in seconds.
func (m *Model) Backward() float64 { return sum(pieces(m.Layers, Layer.backward)) }

func sum(seconds []float64) (sum float64) {
	for _, s := range seconds {
		sum += s
	}
	return sum
}

// Scale sets the total time of forward and backward pass in seconds, each layer in proportion, and records it.
func (m *Model) Scale(seconds float64) {
	if m.About != "" {
		m.About += "; "
	}
	m.About += fmt.Sprintf("forward and backward scaled to %.3g ms together by --compute", 1e3*seconds)
	factor := seconds / (m.Forward() + m.Backward())
	for i := range m.Layers {
		m.Layers[i].Forward *= factor
		m.Layers[i].Backward *= factor
	}
}

// divide gives each layer its part of the seconds of both passes, by weight.
func (m *Model) divide(forward, backward float64, forwards, backwards []float64) {
	f, b := sum(forwards), sum(backwards)
	for i := range m.Layers {
		m.Layers[i].Forward = forward * forwards[i] / f
		m.Layers[i].Backward = backward * backwards[i] / b
	}
}
