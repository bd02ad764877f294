package document_test

import (
	"encoding/json"
	"strings"
	"testing"

	"busbar/internal/document"
	"busbar/internal/golden"
	"busbar/internal/notice"
)

// whole is a document with each kind of block.
func whole() *document.Document {
	straggler := notice.New(notice.Find("straggler").Example)
	straggler.At = notice.Location{File: "trace.json", Line: 3}
	d := &document.Document{
		Kind:  "test",
		Title: "A *title* that is | long enough to need more than the eighty columns of a terminal",
		Data: struct {
			Values []int `json:"values"`
		}{},
	}
	d.Report(straggler)
	d.Report(straggler)
	t := &document.Table{
		Columns: []document.Column{{Name: "size", Right: true}, {Name: "name", Narrow: true}, {Name: ""}},
	}
	t.Row("8 B", "a|b", "[1]")
	t.Row("16 MiB", strings.Repeat("long_kernel_name<T>", 5), "")
	t.Row(
		"1 KiB",
		"skipped: a reason that spans the other columns and is longer than what a line of the terminal has left",
	)
	wrapped := &document.Table{Columns: []document.Column{{Name: "check"}, {Name: "found", Wrap: true}}}
	wrapped.Row("limits", "a text that is longer than what a line of the terminal has left beside the first column")
	wrapped.Row("", "short")
	d.Add(
		document.Lines{"first line", "second line"},
		&document.Section{Title: "Section", Blocks: []document.Block{
			document.Paragraph(
				"A paragraph with a number, of which it is the \x1b[31mcolour, and a share of exactly 12 % of it.",
			),
			document.List{
				"an item",
				"an item that is so long that the terminal has to break it into two lines, behind its dash",
			},
			document.Callout("Simulated: no device was measured"),
			document.Items{Numbered: true, All: []document.Item{
				{Label: "overlap", Text: "a text", Below: []document.Block{document.Paragraph("why"), document.Code("key: [value]\nnext: 1")}},
				{Text: "without a label"},
			}},
			document.Items{All: []document.Item{{Label: "warning", Text: "a text"}}},
			document.Code("post report"),
			document.Links{{"a[1].jsonl", "results/a[1].jsonl", ", 2 records"}},
			document.Fields{{"hosts", "node1, node2"}, {"NCCL", "2.27.7"}},
			t,
			wrapped,
			&document.Section{Title: "Below", Blocks: []document.Block{document.Findings(d.Notices)}},
			document.Footnotes{"a [link](somewhere)", "another"},
		}},
	)
	return d
}

func TestFormats(t *testing.T) {
	for _, name := range append(document.FormatNames(), "md") {
		t.Run(name, func(t *testing.T) {
			var format document.Format
			if err := format.Set(name); err != nil {
				t.Fatalf("%v", err)
			}
			var b strings.Builder
			if err := whole().Write(&b, format); err != nil {
				t.Fatalf("%v", err)
			}
			golden.Text(t, "testdata/whole."+string(format), b.String())
		})
	}
	if err := new(document.Format).Set("markdwn"); err == nil || !strings.Contains(err.Error(), "markdown") {
		t.Errorf("unknown format: %v, want one that names markdown", err)
	}
}

func TestTextFitsTerminal(t *testing.T) {
	var b strings.Builder
	if err := whole().Write(&b, document.Text); err != nil {
		t.Fatalf("%v", err)
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > document.Width {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

func TestJSONSchema(t *testing.T) {
	var b strings.Builder
	if err := (&document.Document{Kind: "empty"}).Write(&b, document.JSON); err != nil {
		t.Fatalf("%v", err)
	}
	var got struct {
		Schema  int
		Kind    string
		Notices []any
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil || got.Schema != 2 || got.Kind != "empty" ||
		got.Notices == nil {
		t.Errorf("%+v, %v, want schema 2 and an empty list of notices", got, err)
	}
	if err := (&document.Document{Data: []int{1}}).Write(&b, document.JSON); err == nil {
		t.Errorf("a list as data made no error")
	}
}

func TestReportCountsEqualNotices(t *testing.T) {
	if n := whole().Notices; len(n) != 1 || n[0].Count != 2 {
		t.Errorf("%d notices, the first %d times, want 1 that counts 2", len(n), n[0].Count)
	}
}
