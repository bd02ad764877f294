package notices

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/document"
	"busbar/internal/golden"
	"busbar/internal/notice"

	"github.com/shoenig/test/must"
)

// The page of all codes is made from the catalogue; -update writes it anew.
func TestNoticesPage(t *testing.T) {
	d := &document.Document{Title: "Notices"}
	d.Add(document.Paragraph(
		"Each warning, finding and problem has a code that never changes; its wording may. `post explain CODE` " +
			"prints " +
			"the same as this page, which is made from the catalogue (internal/notice). Parameters are in base " +
			"units: bytes, seconds, bytes per second, and shares and ratios as numbers.",
	))
	for _, e := range notice.Entries() {
		d.Add(explain(e).section())
	}
	var page bytes.Buffer
	must.NoError(t, d.Write(&page, document.Markdown))
	golden.Text(t, filepath.Join("..", "..", "docs", "reference", "notices.md"), page.String())
}

// The list has every code, and fits 80 columns.
func TestList(t *testing.T) {
	var text, page bytes.Buffer
	must.NoError(t, errors.Join(List().Write(&text, document.Text), List().Write(&page, document.JSON)))
	for line := range strings.Lines(text.String()) {
		if len([]rune(strings.TrimSpace(line))) > document.Width {
			t.Errorf("too long: %s", line)
		}
	}
	var d struct {
		Schema int
		explainData
	}
	must.NoError(t, json.Unmarshal(page.Bytes(), &d))
	for i, e := range notice.Entries() {
		if d.Schema != document.Schema || i >= len(d.Codes) || d.Codes[i].Code != e.Code() ||
			d.Codes[i].Example != notice.Text(e.Example()) {
			t.Fatalf("code %d of %d is not that of %s", i, len(d.Codes), e.Code())
		}
	}
}

// The error of an unknown code names the nearest one, and does not list the whole catalogue.
func TestUnknownCode(t *testing.T) {
	_, err := Explain("stragler")
	for _, err := range []error{err, (&Selection{Ignore: []string{"stragler"}}).Check()} {
		if err == nil || !strings.Contains(err.Error(), `"straggler"`) || len(err.Error()) > 200 {
			t.Error(err)
		}
	}
}
