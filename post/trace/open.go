package trace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"busbar/post/input"
)

// Options control reading.
type Options struct {
	KeepRange func(name string) bool // selects the host ranges to keep in addition to profiler steps; nil: none
}

// ErrNotTrace is the error for a file of unknown format.
var ErrNotTrace = errors.New("neither a Kineto trace nor a SQLite export of Nsight Systems")

// sqliteMagic is the first bytes of every SQLite file.
var sqliteMagic = []byte("SQLite format 3\x00")

// Read reads one file, whose format it detects by content. A truncated file is read up to its end, and File.Cut states
// it. The error for other files is ErrNotTrace; for a .nsys-rep it has the export command. No error names the path.
func Read(ctx context.Context, path string, o Options) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readSource(ctx, file, path, o)
}

func readSource(ctx context.Context, r io.Reader, path string, o Options) (*File, error) {
	text, err := input.Unpacked(r, chunkBytes)
	if err != nil {
		return nil, err
	}
	head, _ := text.Peek(len(reportMagic))
	switch {
	case bytes.HasPrefix(head, sqliteMagic):
		return readNsight(ctx, path, o)
	case isReport(path, head):
		return nil, &ReportError{path}
	case isJSON(head):
		return readKineto(ctx, text, path, o)
	}
	return nil, ErrNotTrace
}

// isJSON reports whether a text with this beginning may be a JSON object or array.
func isJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}
