package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/readahead"
)

// lenient: profilers repeat keys, and names of kernels and files need not be UTF-8.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// readKineto reads a Kineto trace from its text. path may contain the rank.
func readKineto(ctx context.Context, r io.Reader, path string, o Options) (*File, error) {
	text, err := readahead.NewReaderSize(r, 4, chunkBytes) // decompresses in parallel with the parser
	if err != nil {
		return nil, err
	}
	defer text.Close() // waits for the last reader of the source
	d := &document{ctx: ctx, json: jsontext.NewDecoder(text, lenient...), gathered: newGathered(o.KeepRange),
		about: metadata{}}
	err = d.read()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if !d.known {
		return nil, ErrNotTrace
	}
	f := &File{Path: path, Format: Kineto, Tool: "torch.profiler"}
	d.gathered.fill(f, d.about)
	if err != nil {
		f.Cut = fmt.Sprintf("%d events read (%v)", d.events, err)
	}
	if f.Own = d.about.busbar(); f.Own != nil {
		f.Tool = f.Own.Tool
		for _, d := range f.Devices {
			d.Host = f.Own.Host
		}
		f.Notes = append(f.Notes, f.Own.Fact())
	}
	return f, nil
}

// document is a chrome trace during reading.
type document struct {
	ctx      context.Context
	json     *jsontext.Decoder
	event    event
	gathered *gathered
	about    metadata
	known    bool // a key that only traces have
	events   int64
}

// read reads the document to the end of the file, so that the checksum of compressed data is verified.
func (d *document) read() error {
	var err error
	if d.json.PeekKind() == '[' {
		err = d.array()
	} else {
		err = members(d.json, d.member)
	}
	if err == nil {
		if err = d.json.SkipValue(); errors.Is(err, io.EOF) {
			err = nil
		}
	}
	return err
}

// member reads the events or a metadata value.
func (d *document) member(key []byte) error {
	if string(key) == `"traceEvents"` && d.json.PeekKind() == '[' {
		d.known = true
		return d.array()
	}
	name := text(key)
	if !metadataKeys[name] {
		return d.json.SkipValue()
	}
	d.known = true
	value, err := d.json.ReadValue()
	d.about[name] = json.RawMessage(bytes.Clone(value))
	return err
}

// array reads the events.
func (d *document) array() error {
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
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
