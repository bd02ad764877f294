package trace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/readahead"

	"busbar/internal/notice"
)

// lenient: profilers repeat keys, and names of kernels and files need not be UTF-8.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// readKineto reads a Kineto trace from its text. path is what it is called by, and may say its rank.
func readKineto(ctx context.Context, r io.Reader, path string, o Options) (*File, error) {
	text, err := readahead.NewReaderSize(r, 4, chunkBytes) // decompressing takes another core than parsing
	if err != nil {
		return nil, err
	}
	defer text.Close() // waits until nobody reads the source any more
	d := &document{
		ctx:      ctx,
		text:     text,
		json:     jsontext.NewDecoder(text, lenient...),
		gathered: newGathered(o.KeepRange),
	}
	err = d.read()
	for err != nil && ctx.Err() == nil && d.resume(err) {
		err = d.read()
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !d.known {
		return nil, ErrNotTrace
	}
	f := d.gathered.file(&d.about, filepath.ToSlash(path))
	f.Path, f.Format, f.Tool, f.Cut = path, Kineto, "torch.profiler", d.cut(err)
	if f.Own = d.about.busbar(); f.Own != nil {
		f.Tool = f.Own.Tool
		f.setHost(f.Own.Host)
		f.Notes = append(f.Notes, f.Own.Fact())
	}
	if d.torn > 0 {
		f.Notes = append(f.Notes, notice.TracePartsTorn{Places: d.torn})
	}
	return f, nil
}

// document is a chrome trace as it is read.
type document struct {
	ctx      context.Context
	text     io.Reader // what json reads
	json     *jsontext.Decoder
	event    event
	gathered *gathered
	about    metadata
	known    bool // it has what only traces have
	inEvents bool
	bare     bool // an array of events, without an object around it
	events   int64
	torn     int // places that are no JSON, and were passed over
}

// read reads the document, and what follows it: the end of compressed data shows whether all of it was right.
func (d *document) read() error {
	var err error
	switch d.json.PeekKind() {
	case '[':
		d.bare = true
		err = d.array()
	default:
		err = members(d.json, d.member)
	}
	if err == nil {
		if err = d.json.SkipValue(); errors.Is(err, io.EOF) {
			err = nil
		}
	}
	return err
}

// member reads the events, or what is beside them.
func (d *document) member(key []byte) error {
	if string(key) == `"traceEvents"` && d.json.PeekKind() == '[' {
		d.known = true
		return d.array()
	}
	into := d.about.place(key)
	if into == nil {
		return d.json.SkipValue()
	}
	d.known = true
	value, err := d.json.ReadValue()
	if err == nil {
		*into = bytes.Clone(value)
	}
	return err
}

// array reads the events.
func (d *document) array() error {
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	for {
		d.inEvents = true
		switch d.json.PeekKind() {
		case '{':
			if err := d.event.read(d.json); err != nil {
				return err
			}
			d.events++
			d.known = d.known || d.event.phase != 0
			d.gathered.add(&d.event)
		case ']':
			d.inEvents = false
			_, err := d.json.ReadToken()
			return err
		default:
			if err := d.json.SkipValue(); err != nil {
				return err
			}
		}
		if d.events%(1<<12) == 0 && d.ctx.Err() != nil {
			return context.Cause(d.ctx)
		}
	}
}

// nextEvent is what precedes an event after the end of another.
var nextEvent = regexp.MustCompile(`^\s*,\s*\{`)

// resume reports whether reading can go on after an error: that is where the text among the events is not JSON, as with
// an infinite bandwidth or a quote in a name. It goes on with the next event then.
func (d *document) resume(err error) bool {
	var syntax *jsontext.SyntacticError
	if !d.inEvents || !errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false
	}
	rest := bufio.NewReader(io.MultiReader(bytes.NewReader(bytes.Clone(d.json.UnreadBuffer())), d.text))
	for {
		if _, err := rest.ReadSlice('}'); err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return false
		}
		head, _ := rest.Peek(256)
		if found := nextEvent.Find(head); found != nil {
			_, _ = rest.Discard(len(found) - 1) // it was peeked at
			break
		}
	}
	begin := `{"traceEvents":[`
	if d.bare {
		begin = "["
	}
	d.torn, d.text = d.torn+1, rest
	d.json.Reset(io.MultiReader(strings.NewReader(begin), rest), lenient...)
	return true
}

// cut describes how far the text was read, and what ended that; "" where it is whole.
func (d *document) cut(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%d events read (%v)", d.events, err)
}
