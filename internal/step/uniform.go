package step

import (
	"fmt"
	"strconv"
	"strings"

	"busbar/internal/coll"
)

// The model of uniform without a size: 100 MiB of float32, as much as resnet50.
const (
	uniformLayers = 50
	uniformParams = 512 << 10
)

// uniform is layers of one size, all of which compute for as long: "50x512K", or "" for that.
func uniform(size string) (*Model, error) {
	layers, params, name := uniformLayers, int64(uniformParams), "uniform"
	if size != "" {
		var err error
		if layers, params, err = parseUniform(size); err != nil {
			return nil, fmt.Errorf("model uniform:%s: %w", size, err)
		}
		name = fmt.Sprintf("uniform:%dx%s", layers, coll.FormatSize(params, false))
	}
	m := &Model{Name: name, Layers: make([]Layer, layers),
		About: "layers of one size, made up; forward and backward take 100 ms together, which is chosen, a third of " +
			"it forward"}
	for i := range m.Layers {
		m.Layers[i] = Layer{Name: fmt.Sprintf("layer%d", i+1), Params: params,
			Forward: presetForward / float64(layers), Backward: presetBackward / float64(layers)}
	}
	return m, nil
}

func parseUniform(size string) (layers int, params int64, err error) {
	count, each, _ := strings.Cut(strings.ToLower(size), "x")
	layers, err = strconv.Atoi(count)
	if err == nil {
		params, err = coll.ParseSize(each)
	}
	if err != nil || layers < 1 || layers > maxLayers || params < 1 || params > maxParams/int64(layers) {
		return 0, 0, fmt.Errorf(
			"value must be LAYERSxPARAMETERS, such as %dx512K: at most %d layers, and %s parameters in all layers",
			uniformLayers,
			maxLayers,
			coll.FormatSize(maxParams, false),
		)
	}
	return layers, params, nil
}
