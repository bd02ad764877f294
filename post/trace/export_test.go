package trace

import (
	"bytes"
	"context"
)

// ReadBytes reads a trace that is in memory, as Read does one in a file of that name.
func ReadBytes(name string, text []byte, o Options) (*File, error) {
	return readSource(context.Background(), bytes.NewReader(text), name, o)
}
