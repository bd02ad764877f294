package foreign

import (
	"bufio"
	"bytes"
	"io"
)

// finite passes JSON on with null in the place of inf and nan, which JSON does not have and C programs print, and
// without the mark that some systems put before a text.
type finite struct {
	b       *bufio.Reader
	quoted  bool
	escaped bool
	left    []byte // of a null that did not fit
}

func newFinite(r io.Reader) *finite {
	f := &finite{b: bufio.NewReaderSize(r, 64<<10)}
	if head, _ := f.b.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		_, _ = f.b.Discard(len(byteOrderMark)) // it was peeked at
	}
	return f
}

var infinite = [][]byte{[]byte("-infinity"), []byte("infinity"), []byte("-inf"), []byte("inf"), []byte("-nan"),
	[]byte("nan")}

func (f *finite) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(f.left) > 0 {
			k := copy(p[n:], f.left)
			n, f.left = n+k, f.left[k:]
			continue
		}
		if n > 0 && f.b.Buffered() == 0 {
			return n, nil
		}
		c, err := f.b.ReadByte()
		if err != nil {
			return n, err
		}
		switch {
		case f.escaped:
			f.escaped = false
		case f.quoted && c == '\\':
			f.escaped = true
		case c == '"':
			f.quoted = !f.quoted
		case !f.quoted && bytes.IndexByte([]byte("-iInN"), c) >= 0 && f.word(c):
			f.left = []byte("null")
			continue
		}
		p[n] = c
		n++
	}
	return n, nil
}

// word passes over the rest of a word for what is not finite; false: it is another that begins with c.
func (f *finite) word(c byte) bool {
	rest, _ := f.b.Peek(len("-infinity") - 1)
	text := append([]byte{c}, rest...)
	for _, w := range infinite {
		if len(text) >= len(w) && bytes.EqualFold(text[:len(w)], w) {
			_, _ = f.b.Discard(len(w) - 1) // they were peeked at
			return true
		}
	}
	return false
}
