package trace

import (
	"bytes"
	"context"
	"io"
)

// ReadBytes reads a trace that is in memory, as Read does one in a file of that name.
func ReadBytes(name string, text []byte, o Options) (*File, error) {
	return ReadFrom(name, bytes.NewReader(text), o)
}

// ReadFrom reads a trace as it comes, as Read does one in a file of that name.
func ReadFrom(name string, text io.Reader, o Options) (*File, error) {
	plain, err := unpacked(text)
	if err != nil {
		return nil, err
	}
	return readText(context.Background(), plain, name, o)
}
