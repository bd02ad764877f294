package trace

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
)

// Options are what a file is read with.
type Options struct {
	KeepRange func(name string) bool // which ranges of the host are kept beside steps of the profiler; nil: none
}

// ErrNotTrace is the error of a file that is none of the formats.
var ErrNotTrace = errors.New("neither a Kineto trace nor a SQLite export of Nsight Systems")

// sqliteMagic begins every SQLite file.
var sqliteMagic = []byte("SQLite format 3\x00")

// Read reads one file, whose format is found by content. A file that ends early is read up to there, and File.Cut
// states it. The error of a file that is no trace is ErrNotTrace; that of a .nsys-rep has the command that exports it.
// No error names the path.
func Read(ctx context.Context, path string, o Options) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readSource(ctx, file, path, o)
}

func readSource(ctx context.Context, r io.Reader, path string, o Options) (*File, error) {
	text, err := unpacked(r)
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

// isJSON reports whether a text that begins so may be a JSON object or array.
func isJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}
