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
