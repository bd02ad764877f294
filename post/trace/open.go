package trace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Options are what a file is read with.
type Options struct {
	KeepRange func(name string) bool // which ranges of the host are kept beside steps of the profiler; nil: none
}

// ErrNotTrace is the error of a file that is none of the formats.
var ErrNotTrace = errors.New("neither a Kineto trace nor a SQLite export of Nsight Systems")

// Read reads one file, whose format is found by content. A file that breaks off is salvaged, and File.Cut says so. The
// error of a file that is no trace is ErrNotTrace; that of a .nsys-rep is one that says the command that exports it.
func Read(ctx context.Context, path string, o Options) (*File, error) {
	f, err := read(ctx, path, o)
	var system *fs.PathError
	if err != nil && ctx.Err() == nil && !errors.As(err, &system) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return f, err
}

// read is Read, with errors that do not name the path.
func read(ctx context.Context, path string, o Options) (*File, error) {
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
		return readNsight(ctx, path, o)
	case isReport(path, head):
		return nil, &ReportError{path}
	}
	text, err := unpacked(file)
	if err != nil {
		return nil, err
	}
	return readText(ctx, text, path, o)
}

// readText reads a trace that is text.
func readText(ctx context.Context, text *bufio.Reader, path string, o Options) (*File, error) {
	switch kind := kindOfText(text); kind {
	case jsonText:
		return readKineto(ctx, text, path, o)
	case archive:
		return nil, errors.New("is an archive of several files")
	}
	return nil, ErrNotTrace
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

// textKind is what text may be, by how it begins.
type textKind uint8

const (
	unknownText textKind = iota
	jsonText
	archive // of tar
)

// kindOfText looks at how a text begins, and reads nothing of it.
func kindOfText(text *bufio.Reader) textKind {
	head, _ := text.Peek(512)
	if len(head) == 512 && bytes.HasPrefix(head[257:], []byte("ustar")) {
		return archive
	}
	if head = bytes.TrimLeft(head, " \t\r\n"); len(head) > 0 && (head[0] == '{' || head[0] == '[') {
		return jsonText
	}
	return unknownText
}
