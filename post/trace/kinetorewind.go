package trace

import "bytes"

// rewinder is the source, before which text may be put back.
type rewinder struct {
	pending []byte
	source  *ahead
}

// Read implements io.Reader.
func (w *rewinder) Read(p []byte) (int, error) {
	if len(w.pending) > 0 {
		n := copy(p, w.pending)
		w.pending = w.pending[n:]
		return n, nil
	}
	return w.source.Read(p)
}

// nextEvent goes to the next event, behind a closing brace and a comma, in what was read but not understood and what follows. There the
// text goes on, with other text in the place of that before it. It is false where there is no event any more.
func (w *rewinder) nextEvent(unread []byte, before string) bool {
	text := append(bytes.Clone(unread), w.pending...)
	for {
		if at := eventAfter(text); at >= 0 {
			w.pending = append([]byte(before), text[at:]...)
			return true
		}
		text = append(text[:0], lastBrace(text)...)
		had := len(text)
		text = append(text, make([]byte, chunkBytes)...)
		n, err := w.source.Read(text[had:])
		if text = text[:had+n]; err != nil {
			w.pending = nil
			return false
		}
	}
}

// eventAfter is where the { of the next event stands: } , { with any space between. -1: there is none.
func eventAfter(text []byte) int {
	for from := 0; ; {
		brace := bytes.IndexByte(text[from:], '}')
		if brace < 0 {
			return -1
		}
		from += brace + 1
		rest := bytes.TrimLeft(text[from:], " \t\r\n")
		if len(rest) == 0 || rest[0] != ',' {
			continue
		}
		if rest = bytes.TrimLeft(rest[1:], " \t\r\n"); len(rest) > 0 && rest[0] == '{' {
			return len(text) - len(rest)
		}
	}
}

// lastBrace is what a closing brace, a comma and the space at the end of a text leave to be looked at again with what follows.
func lastBrace(text []byte) []byte {
	end := bytes.TrimRight(text, " \t\r\n")
	if comma := bytes.TrimSuffix(end, []byte(",")); len(comma) < len(end) {
		end = bytes.TrimRight(comma, " \t\r\n")
	}
	if !bytes.HasSuffix(end, []byte("}")) {
		return nil
	}
	return text[len(end)-1:]
}
