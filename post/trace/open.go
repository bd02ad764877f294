package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// Options are what a file is read with.
type Options struct {
	KeepRange func(name string) bool // which ranges of the host are kept beside steps of the profiler; nil: none
}

// ErrNotTrace is the error of a file that is none of the formats.
var ErrNotTrace = errors.New("neither a Kineto trace nor a SQLite export of Nsight Systems")

// Read reads one file, whose format is found by content. A file that breaks off is salvaged, and File.Cut says so. The error of a file
// that is no trace is ErrNotTrace; that of a .nsys-rep is one that says the command that exports it.
func Read(ctx context.Context, path string, o Options) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	head, err := beginning(file)
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(head, sqliteMagic):
		return nil, fmt.Errorf("%s: SQLite exports can't be read yet", path)
	}
	return nil, fmt.Errorf("%s: %w", path, ErrNotTrace)
}

// sqliteMagic begins every SQLite file.
var sqliteMagic = []byte("SQLite format 3\x00")

// beginning is what a file begins with; the file stands at its beginning again.
func beginning(file io.ReadSeeker) ([]byte, error) {
	head := make([]byte, 512)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	_, err = file.Seek(0, io.SeekStart)
	return head[:n], err
}
