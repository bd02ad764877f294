package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
)

// gzipMagic is the first bytes of gzip data.
var gzipMagic = []byte{0x1f, 0x8b}

// chunkBytes is the size of a read.
const chunkBytes = 1 << 18

// unpacked returns a reader's text, decompressed if it is gzip, whatever the file's name.
func unpacked(r io.Reader) (*bufio.Reader, error) {
	text := bufio.NewReaderSize(r, chunkBytes)
	if head, _ := text.Peek(len(gzipMagic)); !bytes.Equal(head, gzipMagic) {
		return text, nil
	}
	z, err := gzip.NewReader(text)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, chunkBytes), nil
}
