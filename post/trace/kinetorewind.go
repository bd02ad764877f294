package trace

import (
	"bytes"
	"errors"
)

// rewinder is the source, before which text may be put back.
type rewinder struct {
	pending []byte
	source  *ahead
}

// mostAsked is how much may be asked for at once. Who asks for more has that much of a single value already: a file of
// a few megabytes may unpack to one that no memory holds.
const mostAsked = 1 << 25

var errLongValue = errors.New("a single value of more than 32 MB, which no profiler writes")

// Read implements io.Reader.
func (w *rewinder) Read(p []byte) (int, error) {
	if len(p) > mostAsked {
		return 0, errLongValue
	}
	if len(w.pending) > 0 {
		n := copy(p, w.pending)
		w.pending = w.pending[n:]
		return n, nil
	}
	return w.source.Read(p)
}

// place is how a place to go on is found: at is where it begins in a text, -1 where it is not there, and rest is the
// end of such a text that has to be looked at again with what follows.
type place struct {
	at   func(text []byte) int
	rest func(text []byte) []byte
}

// goTo goes to a place in what was read but not understood and what follows. There the text goes on, with other text
// before it. It is false where there is no such place any more.
func (w *rewinder) goTo(p place, unread []byte, before string) bool {
	text := append(bytes.Clone(unread), w.pending...)
	for {
		if at := p.at(text); at >= 0 {
			w.pending = append([]byte(before), text[at:]...)
			return true
		}
		text = append(text[:0], p.rest(text)...)
		had := len(text)
		text = append(text, make([]byte, chunkBytes)...)
		n, err := w.source.Read(text[had:])
		if text = text[:had+n]; err != nil {
			w.pending = nil
			return false
		}
	}
}

// nextEvent is the next event of an array.
var nextEvent = place{eventAfter, lastBrace}

// theEvents is the key of the array of events.
var theEvents = place{
	func(text []byte) int { return bytes.Index(text, []byte(eventsKey)) },
	func(text []byte) []byte { return text[max(0, len(text)-len(eventsKey)):] },
}

const eventsKey = `"traceEvents"`

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

// lastBrace is what a closing brace, a comma and the space at the end of a text leave to be looked at again with what
// follows.
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
