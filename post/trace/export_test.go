package trace

import (
	"bytes"
	"context"
)

// ReadBytes reads a trace from memory as Read does from a file of that name.
func ReadBytes(name string, text []byte, o Options) (*File, error) {
	return readSource(context.Background(), bytes.NewReader(text), name, o)
}
