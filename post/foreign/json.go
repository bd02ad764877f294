package foreign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// notFinite is a string, or inf or nan, which JSON does not have and C programs print.
var notFinite = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|(?i:-?(?:inf(?:inity)?|nan))`)

// document reads JSON: one value or several in a row, as JSON Lines are.
func (in *input) document(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(notFinite.ReplaceAllFunc(text, func(word []byte) []byte {
		if word[0] == '"' {
			return word
		}
		return []byte("null")
	})))
	format := rcclTable
	format.layout = "rccl-tests JSON"
	rows := &table{layout: layout{in: in, shell: newStream(in).shell}, format: &format}
	for err == nil {
		var token json.Token
		if token, err = d.Token(); errors.Is(err, io.EOF) {
			return rows.close()
		}
		switch {
		case err != nil:
		case token == json.Delim('{'):
			err = in.object(d, rows)
		case token == json.Delim('['):
			err = in.elements(d, func(raw json.RawMessage) error {
				var f fields
				_ = json.Unmarshal(raw, &f) // what is no object has no fields
				return in.rcclFields(rows, f)
			})
		default:
			err = in.unknown(0, fmt.Sprint(token))
		}
	}
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return errors.Join(err, rows.close())
	}
	broken := &Error{Path: in.file.Path, Text: fmt.Sprintf("no whole JSON (%v at byte %d)", err, d.InputOffset())}
	if in.tests == 0 {
		return broken
	}
	for _, t := range rows.order {
		t.lacks("")
	}
	return errors.Join(in.torn(0, broken.Text), rows.close())
}

// fields of an object, as they were read.
type fields map[string]json.RawMessage

// text is a field as text: a string without its quotes, all else as it stands; "" where there is none.
func (f fields) text(key string) string {
	raw := f[key]
	var s string
	if json.Unmarshal(raw, &s) == nil || string(raw) == "null" {
		return s
	}
	return string(raw)
}

// words are a field that is a list of texts; nil for all else.
func (f fields) words(key string) (all []string) {
	_ = json.Unmarshal(f[key], &all)
	return all
}

// object is a field that is an object; nil for all else.
func (f fields) object(key string) (o fields) {
	_ = json.Unmarshal(f[key], &o)
	return o
}

// object reads an object whose brace was read. Of results of nccl-tests all whole rows are kept where the file breaks
// off.
func (in *input) object(d *json.Decoder, rows *table) error {
	f, results := fields{}, []json.RawMessage(nil)
	var err error
	for err == nil && d.More() {
		var key json.Token
		var raw json.RawMessage
		if key, err = d.Token(); err != nil {
			break
		}
		if key == "results" {
			if _, err = d.Token(); err == nil { // the bracket
				err = in.elements(d, func(raw json.RawMessage) error {
					results = append(results, raw)
					return nil
				})
			}
		} else if err = d.Decode(&raw); err == nil {
			f[fmt.Sprint(key)] = raw
		}
	}
	if err == nil {
		_, err = d.Token() // the closing brace
	}
	if (f["config"] != nil || f["args"] != nil) && (err == nil || results != nil) {
		return errors.Join(in.ncclJSON(rows.shell, f, results, err == nil), err)
	}
	if err != nil {
		return err
	}
	return in.rcclFields(rows, f)
}

// elements reads the elements of a list whose bracket was read.
func (in *input) elements(d *json.Decoder, use func(json.RawMessage) error) error {
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		if err := use(raw); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// rcclFields reads a row of rccl-tests: its fields are named like the columns of its CSV.
func (in *input) rcclFields(rows *table, f fields) error {
	if f["size"] == nil || f["time"] == nil || f["inPlace"] == nil {
		return in.unknown(0, fmt.Sprintf("a JSON value of %d fields that are not those of a known layout", len(f)))
	}
	row := tableRow{}
	for key := range f {
		row[strings.ToLower(key)] = f.text(key)
	}
	if known, err := rows.add(0, row); known || err != nil {
		return err
	}
	return in.torn(0, fmt.Sprintf("a row of rccl-tests without a size or time, of %s", row["name"]))
}
