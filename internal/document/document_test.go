package document_test

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"

	"busbar/internal/document"
	"busbar/internal/golden"
	"busbar/internal/notice"
	_ "busbar/internal/notice/profiles"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// whole is a document with each kind of block.
func whole() *document.Document {
	straggler := notice.New(notice.Find("straggler").Example())
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
	t.Values = [][]float64{{8, math.NaN(), math.NaN()}, {16 << 20, math.NaN(), math.NaN()}, {1024, math.NaN()}}
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
			document.Callout{Severity: notice.Warning, Text: "Simulated: no device was measured"},
			document.Items{First: 3, All: []document.Item{
				{Label: "overlap", Text: "a text",
					Below: []document.Block{document.Paragraph("why"), document.Code("key: [value]\nnext: 1")}},
				{Text: "without a label"},
			}},
			document.Items{All: []document.Item{{
				ID: "first", Severity: notice.Warning, Label: "warning", Text: "a text",
				Ref: document.Link{Name: "finding 1", Href: "#finding-1"},
				Below: []document.Block{
					document.Paragraph("Source: https://example.org/a_page."),
					&document.Section{Title: "More (1)", Fold: document.Folded,
						Blocks: []document.Block{document.Paragraph("folded")}},
				},
			}}},
			document.Code("post report"),
			&document.Section{
				Title:  "Folded",
				Fold:   document.Folded,
				Blocks: []document.Block{document.List{"a", "b"}},
			},
			document.Tiles{{Name: "Peak", Value: "1 GB/s", Note: "mpi", Severity: notice.Error, Href: "#first"}},
			document.Links{{"a[1].jsonl", "results/a[1].jsonl", ", 2 records"}},
			document.Fields{{"hosts", "node1, node2"}, {"NCCL", "2.27.7"}},
			t,
			wrapped,
			&document.Section{Title: "Below", Blocks: []document.Block{document.Findings(d.Notices)}},
			document.Footnotes{"a [link](somewhere)", "another"},
		}},
		&document.Section{Title: "Charts", Blocks: []document.Block{&document.Chart{
			Title: "Bandwidth", Caption: "2.49 GB/s at 4 MiB, peak 5.60 GB/s.",
			HTML: `<svg viewBox="0 0 20 10" role="img"><path d="M0 9 20 1" stroke="currentColor" fill="none"/></svg>`,
		}, &document.Chart{ID: "by-script", Title: "All points", HTML: `<div id="points"></div>`, Scripted: true}}},
	)
	return d
}

func TestFormats(t *testing.T) {
	for _, name := range append(document.FormatNames(), "md") {
		t.Run(name, func(t *testing.T) {
			var format document.Format
			must.NoError(t, format.Set(name))
			var b strings.Builder
			must.NoError(t, whole().Write(&b, format))
			golden.Text(t, "testdata/whole."+string(format), b.String())
		})
	}
	test.ErrorContains(t, new(document.Format).Set("markdwn"), "markdown")
}

// embedded are the style and the script, whose text is in files of their own, and their hashes.
var embedded = regexp.MustCompile(`(?s)(sha256-)[^']*('|$)|(<style>).*?(</style>)|(<script>).*?(</script>)`)

func TestHTML(t *testing.T) {
	var b strings.Builder
	must.NoError(t, whole().WriteHTML(&b))
	golden.Text(t, "testdata/whole.html", embedded.ReplaceAllString(b.String(), "$1$3$5…$2$4$6"))
}

// hostile is a text that must not end an element or an attribute, or start a script.
const hostile = "\x1b[31m\"'><script>alert(1)</script><img src=x onerror=alert(1)>"

func TestHTMLEscapesText(t *testing.T) {
	list, column := []string{hostile}, []document.Column{{Name: hostile}}
	item := document.Item{
		ID: hostile, Label: hostile, Text: hostile, Ref: document.Link{Name: hostile, Href: hostile},
		Below: []document.Block{document.Paragraph(hostile), document.Paragraph("https://a/" + hostile)},
	}
	d := &document.Document{Tool: hostile, Title: hostile, Page: document.Page{Data: list}}
	d.Add(
		&document.Section{Title: hostile, Blocks: []document.Block{document.Paragraph(hostile), document.Lines(list)}},
		&document.Section{Title: hostile, Blocks: []document.Block{document.List(list), document.Code(hostile)}},
		document.Fields{{Name: hostile, Value: hostile}}, &document.Table{Columns: column, Rows: [][]string{list}},
		document.Findings{notice.New(notice.Recorded{Text: hostile})}, document.Footnotes(list),
		document.Items{All: []document.Item{item}}, document.Callout{Text: hostile},
		document.Links{{Name: hostile, Href: hostile, About: hostile}},
		&document.Chart{ID: hostile, Title: hostile, Caption: hostile},
		&document.Chart{ID: hostile, Title: hostile, Scripted: true},
		&document.Section{ID: hostile, Title: hostile, Fold: document.Folded},
	)
	var b strings.Builder
	must.NoError(t, d.WriteHTML(&b))
	test.EqOp(t, 2, strings.Count(b.String(), "<script"))
	for _, bad := range []string{"<img", "\"'>", "\x1b"} {
		test.StrNotContains(t, b.String(), bad)
	}
	if n := strings.Count(b.String(), "&lt;script&gt;"); n < 20 {
		t.Errorf("%d texts are in the page, want at least 20", n)
	}
}

func TestTextWidth(t *testing.T) {
	var b strings.Builder
	must.NoError(t, whole().Write(&b, document.Text))
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > document.Width {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

func TestJSONSchema(t *testing.T) {
	var b strings.Builder
	must.NoError(t, (&document.Document{Kind: "empty"}).Write(&b, document.JSON))
	var got struct {
		Schema  int
		Kind    string
		Notices []any
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil || got.Schema != 2 || got.Kind != "empty" ||
		got.Notices == nil {
		t.Errorf("%+v, %v, want schema 2 and an empty list of notices", got, err)
	}
	test.Error(t, (&document.Document{Data: []int{1}}).Write(&b, document.JSON))
}

func TestReportCountsNoticesOnce(t *testing.T) {
	if n := whole().Notices; len(n) != 1 || n[0].Count != 2 {
		t.Errorf("%d notices, the first %d times, want 1 that counts 2", len(n), n[0].Count)
	}
}
