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

// notFinite matches a string, or inf or nan, which C programs print and JSON lacks.
var notFinite = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|(?i:-?(?:inf(?:inity)?|nan))`)

// document reads JSON: one or several values, as in JSON Lines.
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
	for {
		var raw json.RawMessage
		if err = d.Decode(&raw); err != nil {
			break
		}
		if err = in.value(rows, raw); err != nil {
			return errors.Join(err, rows.close())
		}
	}
	if errors.Is(err, io.EOF) {
		return rows.close()
	}
	broken := &Error{Path: in.file.Path, Text: fmt.Sprintf("no whole JSON (%v at byte %d)", err, d.InputOffset())}
	if in.tests == 0 {
		return broken
	}
	for _, t := range rows.tests {
		t.lacks("")
	}
	return errors.Join(in.torn(0, broken.Text), rows.close())
}

// fields are the raw fields of an object.
type fields map[string]json.RawMessage

// text returns a field as text: a string without its quotes, other values unchanged; "" if missing.
func (f fields) text(key string) string {
	raw := f[key]
	var s string
	if json.Unmarshal(raw, &s) == nil || string(raw) == "null" {
		return s
	}
	return string(raw)
}

// words returns a list of texts; nil for other values.
func (f fields) words(key string) (all []string) {
	_ = json.Unmarshal(f[key], &all)
	return all
}

// object returns an object; nil for other values.
func (f fields) object(key string) (o fields) {
	_ = json.Unmarshal(f[key], &o)
	return o
}

// value reads a run of nccl-tests, a row of rccl-tests, or a list of them.
func (in *input) value(rows *table, raw json.RawMessage) error {
	if raw[0] == '[' {
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		for _, element := range list {
			if err := in.value(rows, element); err != nil {
				return err
			}
		}
		return nil
	}
	var f fields
	_ = json.Unmarshal(raw, &f) // other values have no fields
	if f["config"] != nil || f["args"] != nil {
		return in.ncclJSON(rows.shell, f)
	}
	return in.rcclFields(rows, f)
}

// rcclFields reads a row of rccl-tests: its fields are named like its CSV columns.
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
