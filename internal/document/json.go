package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"busbar/internal/notice"
)

// Schema is the number of the form of the JSON.
const Schema = 2

// writeJSON writes {"schema":2,"kind":…,"notices":[…], and the fields of Data}. Lists that are empty are [], not null.
func writeJSON(d *Document, w io.Writer) error {
	head := struct {
		Schema  int             `json:"schema"`
		Kind    string          `json:"kind"`
		Tool    string          `json:"tool,omitempty"`
		Notices []notice.Notice `json:"notices"`
	}{Schema, d.Kind, d.Tool, append([]notice.Notice{}, d.Notices...)}
	all, err := encode(&head)
	if err != nil {
		return err
	}
	if d.Data != nil {
		values, err := encode(notice.WithLists(d.Data))
		if err != nil {
			return err
		}
		if values[0] != '{' {
			return fmt.Errorf("document: data of %q is no JSON object", d.Kind)
		}
		if len(values) > len("{}") {
			all = append(append(all[:len(all)-1], ','), values[1:]...)
		}
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, all, "", "  "); err != nil {
		return err
	}
	indented.WriteByte('\n')
	_, err = w.Write(indented.Bytes())
	return err
}

// encode leaves < and > as they are, for people who read it.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
