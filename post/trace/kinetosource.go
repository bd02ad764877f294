package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
)

// gzipMagic begins what gzip compressed.
var gzipMagic = []byte{0x1f, 0x8b}

// unpacked is the text of a reader: of what gzip compressed, whatever its name, the decompressed text. A mark of the
// byte order is left out.
func unpacked(r io.Reader) (*bufio.Reader, error) {
	text := bufio.NewReaderSize(r, chunkBytes)
	for range 2 { // some sites compress what was compressed
		if head, _ := text.Peek(len(gzipMagic)); !bytes.Equal(head, gzipMagic) {
			break
		}
		z, err := gzip.NewReader(text)
		if err != nil {
			return nil, err
		}
		text = bufio.NewReaderSize(z, chunkBytes)
	}
	if head, _ := text.Peek(3); bytes.Equal(head, []byte("\xef\xbb\xbf")) {
		_, _ = text.Discard(len(head)) // it was peeked at
	}
	return text, nil
}

const chunkBytes = 1 << 18

// ahead reads in a goroutine of its own, so that decompressing takes another core than understanding. It ends with
// close.
type ahead struct {
	full, free chan []byte
	stop       chan struct{}
	chunk      []byte // what is left of the one in hand
	whole      []byte // the one in hand
	err        error  // of the source; read only after full is closed
	read       int64  // bytes handed on
}

func newAhead(ctx context.Context, r io.Reader) *ahead {
	const chunks = 4
	a := &ahead{full: make(chan []byte, chunks), free: make(chan []byte, chunks), stop: make(chan struct{})}
	for range chunks {
		a.free <- nil
	}
	go a.fill(ctx, r)
	return a
}

func (a *ahead) fill(ctx context.Context, r io.Reader) {
	defer close(a.full)
	for a.err == nil {
		select {
		case <-ctx.Done():
			a.err = context.Cause(ctx)
		case <-a.stop:
			return
		case b := <-a.free:
			if b == nil { // a short text wants one only
				b = make([]byte, chunkBytes)
			}
			var n int
			n, a.err = fillChunk(r, b[:cap(b)])
			a.full <- b[:n] // there is room for every chunk that exists
		}
	}
}

// Read implements io.Reader.
func (a *ahead) Read(p []byte) (int, error) {
	for len(a.chunk) == 0 {
		if a.whole != nil {
			a.free <- a.whole
			a.whole = nil
		}
		b, ok := <-a.full
		if !ok {
			return 0, a.err
		}
		a.whole, a.chunk = b, b
	}
	n := copy(p, a.chunk)
	a.chunk = a.chunk[n:]
	a.read += int64(n)
	return n, nil
}

// close ends the reading, and waits for it: then nobody reads the source any more.
func (a *ahead) close() {
	close(a.stop)
	for range a.full { //nolint:revive // what was read ahead is not wanted
	}
}

// fillChunk is io.ReadFull with the error of the source: a source that breaks off and one that ends are not the same.
func fillChunk(r io.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var m int
		m, err = r.Read(b[n:])
		n += m
	}
	return n, err
}

// failed is the error of a source that ended otherwise than it should, once it has ended.
func (a *ahead) failed() error {
	select {
	case _, ok := <-a.full:
		if !ok && !errors.Is(a.err, io.EOF) {
			return a.err
		}
	default:
	}
	return nil
}
