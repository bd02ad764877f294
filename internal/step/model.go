package step

// Params is the number of elements of all layers.
func (m *Model) Params() (sum int64) {
	for _, l := range m.Layers {
		sum += l.Params
	}
	return sum
}

// Forward is the computing of the forward pass, in seconds.
func (m *Model) Forward() (sum float64) {
	for _, l := range m.Layers {
		sum += l.Forward
	}
	return sum
}

// Backward is the computing of the backward pass, in seconds.
func (m *Model) Backward() (sum float64) {
	for _, l := range m.Layers {
		sum += l.Backward
	}
	return sum
}
