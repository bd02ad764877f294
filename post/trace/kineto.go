package trace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/go-json-experiment/json/jsontext"

	"busbar/internal/notice"
)

// lenient: profilers repeat keys, and names of kernels and files need not be UTF-8.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// readKineto reads a Kineto trace from its text. path is what it is called by, and may say its rank.
func readKineto(ctx context.Context, r io.Reader, path string, o Options) (*File, error) {
	source := newAhead(ctx, r)
	defer source.close()
	d := &document{ctx: ctx, text: rewinder{source: source}, gathered: newGathered(o.KeepRange)}
	d.json = jsontext.NewDecoder(&d.text, lenient...)
	if err := d.read(); err != nil {
		return nil, err
	}
	if !d.known {
		return nil, ErrNotTrace
	}
	f := d.gathered.file(&d.about, filepath.ToSlash(path))
	f.Path, f.Format, f.Tool, f.Cut = path, Kineto, "torch.profiler", d.cut
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
	text     rewinder
	json     *jsontext.Decoder
	event    event
	gathered *gathered
	about    metadata
	bare     bool // an array of events, without an object around it
	inEvents bool
	known    bool // it has what only traces have
	events   int64
	torn     int // places that are no JSON, and were passed over
	cut      string
}

// read reads to the end, or as far as can be. The error is that of the context.
func (d *document) read() error {
	err := d.begin()
	for err != nil && d.resume(err) {
		err = d.goOn()
	}
	if d.ctx.Err() != nil {
		return context.Cause(d.ctx)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, &d.text) // the end of compressed data says whether all of it was right
		if err != nil {
			d.cut = fmt.Sprintf("what was read is damaged or lacks its end (%v), after all %s", err, counted(d.events))
		}
		return nil
	}
	d.cut = d.why(err)
	return nil
}

// begin reads from the beginning of the text.
func (d *document) begin() error {
	switch d.json.PeekKind() {
	case '[':
		d.bare = true
		return d.array()
	case '{':
		if _, err := d.json.ReadToken(); err != nil {
			return err
		}
		return d.members()
	}
	return d.json.SkipValue()
}

// members reads what the object holds, to its end.
func (d *document) members() error {
	for d.json.PeekKind() != '}' {
		key, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		if string(key) == eventsKey && d.json.PeekKind() == '[' {
			d.known = true
			err = d.array()
		} else {
			err = d.metadata(key)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.json.ReadToken()
	return err
}

// metadata reads what stands beside the events.
func (d *document) metadata(key []byte) error {
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
	d.inEvents = true
	for {
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

// goOn reads on after a place that was passed over. See resume.
func (d *document) goOn() error {
	if !d.bare {
		if _, err := d.json.ReadToken(); err != nil { // the { that stands in for the one read before
			return err
		}
		return d.members()
	}
	return d.array()
}

// mostTorn is how many places that are no JSON are passed over. A file with more is damaged in a way that leaves
// nothing to rely on.
const mostTorn = 1000

// resume says whether reading can go on after an error: that is where the text is no JSON (an infinite bandwidth, a
// quote in a name) before the events or among them. It goes on with the next event then.
func (d *document) resume(err error) bool {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errLongValue) ||
		d.torn == mostTorn || d.ctx.Err() != nil {
		return false
	}
	to, before := nextEvent, "{"+eventsKey+":["
	switch {
	case d.bare:
		before = "["
	case !d.inEvents && d.events > 0:
		return false
	case !d.inEvents:
		to, before = theEvents, "{"
	}
	if !d.text.goTo(to, d.json.UnreadBuffer(), before) {
		return false
	}
	d.torn++
	d.json.Reset(&d.text, lenient...)
	return true
}

// why says why and where the text breaks off.
func (d *document) why(err error) string {
	read := megabytes(d.text.source.read - int64(len(d.text.pending)) - int64(len(d.json.UnreadBuffer())))
	var syntax *jsontext.SyntacticError
	if errors.Is(err, errLongValue) {
		return fmt.Sprintf("after %s and %s of text comes %v; what comes after is missing", counted(d.events), read,
			errLongValue)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || !errors.As(err, &syntax) {
		if source := d.text.source.failed(); source != nil {
			return fmt.Sprintf("it breaks off after %s and %s of text (%v); what comes after is missing", counted(d.events),
				read, source)
		}
		return fmt.Sprintf("it breaks off after %s and %s of text; what comes after is missing", counted(d.events), read)
	}
	return fmt.Sprintf("it is no JSON any more after %s and %s of text; what comes after is missing", counted(d.events),
		read)
}

func counted(events int64) string {
	if events == 1 {
		return "1 event"
	}
	return fmt.Sprintf("%d events", events)
}

func megabytes(n int64) string {
	if n < 1e6 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
