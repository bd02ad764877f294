package nccllog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"regexp"
	"strings"
)

// maxLine is how much of a line is read; NCCL's own are at most a few kilobytes.
const maxLine = 1 << 20

// lines reads lines of any length and keeps maxLine of each.
type lines struct {
	r *bufio.Reader
	b []byte
}

// next is the next line without its end. Ended is false where the file ends before the line does.
func (l *lines) next() (text []byte, ended bool, err error) {
	l.b = l.b[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		if room := maxLine - len(l.b); len(part) > room {
			l.b = append(l.b, part[:room]...)
		} else {
			l.b = append(l.b, part...)
		}
		switch {
		case err == nil:
			return bytes.TrimRight(l.b, "\r\n"), true, nil
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case len(l.b) > 0:
			return l.b, false, err
		}
		return nil, false, err
	}
}

// opened undoes compression by what the file begins with.
func opened(r io.Reader) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, 1<<16), nil
}

// plain takes colours and NUL bytes out of a line.
func plain(b []byte) []byte {
	if bytes.IndexByte(b, 0) >= 0 {
		b = bytes.ReplaceAll(b, []byte{0}, nil)
	}
	if bytes.IndexByte(b, 0x1b) < 0 {
		return uncoloured(b)
	}
	out := b[:0]
	for i := 0; i < len(b); i++ {
		if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '[' {
			i += 2
			for i < len(b) && (b[i] < 0x40 || b[i] > 0x7e) {
				i++
			}
			continue
		}
		out = append(out, b[i])
	}
	return out
}

// colour is what is left of one where the escape character before it was lost, as in text pasted from a terminal.
var colour = regexp.MustCompile(`\[(\d{1,3}(;\d{1,3})*)?m`)

func uncoloured(b []byte) []byte {
	if !bytes.Contains(b, []byte("m")) || !bytes.Contains(b, []byte("[")) {
		return b
	}
	return colour.ReplaceAll(b, nil)
}

// unrepeated takes off what Ray puts behind a line that several workers wrote, of which it shows one.
func unrepeated(line string) string {
	if i := strings.LastIndex(line, " [repeated "); i >= 0 && strings.Contains(line[i:], "x across cluster]") {
		return line[:i]
	}
	return line
}

// kept is a copy of s that may be written as JSON, and is no part of a line any more.
func kept(s string) string { return strings.Clone(strings.ToValidUTF8(s, "\uFFFD")) }
