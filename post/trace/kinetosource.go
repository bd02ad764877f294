package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
)

// gzipMagic begins what gzip compressed.
var gzipMagic = []byte{0x1f, 0x8b}

// chunkBytes is how much is read at once.
const chunkBytes = 1 << 18

// unpacked is the text of a reader: of what gzip compressed, whatever its name, the decompressed text.
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
