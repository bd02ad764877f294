package foreign

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"busbar/internal/notice"
	"busbar/internal/result"
)

// document reads JSON: one value or several in a row, as JSON Lines are.
func (in *input) document(r io.Reader) (err error) {
	d := json.NewDecoder(newFinite(r))
	defer func() {
		if e := in.rccl.end(result.Complete, nil); err == nil {
			err = e
		}
	}()
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = in.value(d, token)
		}
		if broken := in.brokenAt(d, err); broken != nil {
			if in.tests == 0 {
				return broken
			}
			in.counts.Torn++
			in.counts.Rows++
			in.first(0, notice.RowTorn{Text: broken.Text})
			return in.sink.Line(0, broken.Error())
		}
		if err != nil {
			return err
		}
	}
}

// brokenAt is an error of JSON itself, such as the end of a file that was cut off, be it between two words; nil for all
// others.
func (in *input) brokenAt(d *json.Decoder, err error) *Error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil
	}
	return &Error{Path: in.file.Path, Text: fmt.Sprintf("no whole JSON (%v at byte %d)", err, d.InputOffset())}
}

// value reads one value of the file, which begins with token.
func (in *input) value(d *json.Decoder, token json.Token) error {
	switch token {
	case json.Delim('{'):
		return in.object(d)
	case json.Delim('['):
		return in.list(d)
	}
	return in.unknown(0, fmt.Sprint(token))
}

// fields of an object, as they were read.
type fields map[string]json.RawMessage

// text is a field as text: a string without its quotes, all else as it stands; "" where there is none.
func (f fields) text(key string) string {
	raw := f[key]
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// object reads an object whose brace was read. Results of nccl-tests go row by row.
func (in *input) object(d *json.Decoder) error {
	f := fields{}
	n := newNCCLDocument(in)
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return errors.Join(err, n.cut())
		}
		name, _ := key.(string)
		if name == "results" && n.fits(f) {
			if err = n.readRows(d, f); err != nil {
				return errors.Join(err, n.cut())
			}
			continue
		}
		var raw json.RawMessage
		if err = d.Decode(&raw); err != nil {
			return errors.Join(err, n.cut())
		}
		f[name] = raw
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return errors.Join(err, n.cut())
	}
	switch {
	case n.test != nil:
		return n.end(f)
	case rcclDocument(f):
		return in.rcclRow(f)
	case superDocument(f):
		return in.superRows(f)
	}
	return in.unknown(0, fmt.Sprintf("a JSON object of %d fields that are not those of a known layout", len(f)))
}

// list reads a list whose bracket was read: rows of rccl-tests, or documents of SuperBench.
func (in *input) list(d *json.Decoder) error {
	rows := &rcclTests{in: in}
	cut := func(err error) error {
		return errors.Join(err, rows.end(result.Interrupted, notice.SourceIncomplete{}))
	}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return cut(err)
		}
		var f fields
		_ = json.Unmarshal(raw, &f) // what is no object has no fields
		var err error
		switch {
		case rcclDocument(f):
			err = rows.add(f)
		case superDocument(f):
			err = in.superRows(f)
		default:
			err = in.unknown(0, "an element of a JSON list that is no row of a known layout")
		}
		if err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return cut(err)
	}
	return rows.end(result.Complete, nil)
}
