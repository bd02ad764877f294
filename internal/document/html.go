package document

import (
	"crypto/sha256"
	_ "embed" // of the style and the script
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var (
	//go:embed html.css
	style string
	//go:embed html.js
	script string
)

// writeHTML writes one page that loads nothing: its policy names the one style and the one script by their hashes.
// Every text is escaped, and control characters are shown.
func writeHTML(d *Document, w io.Writer) error {
	h := &page{}
	h.blocks(2, d.Blocks)
	style, script := style+d.Page.Style, script+d.Page.Script
	policy := fmt.Sprintf("default-src 'none'; base-uri 'none'; form-action 'none'; script-src '%s'; style-src '%s'",
		hashOf(script), hashOf(style))
	data := ""
	if d.Page.Data != nil {
		encoded, err := json.Marshal(d.Page.Data) // escapes <, > and &, so that no text ends the element
		if err != nil {
			return err
		}
		data = `<script type="application/json" id="data">` + string(encoded) + "</script>\n"
	}
	first := "main"
	if len(h.sections) > 0 {
		first = h.sections[0].id
	}
	_, err := fmt.Fprintf(w, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="%s">
<title>%s</title>
<style>%s</style>
</head>
<body>
<a class="skip" href="#%s">Skip to the content</a>
<header class="top">
%s</header>
<main id="main">
<h1 dir="auto">%s</h1>
%s</main>
%s<script>%s</script>
</body>
</html>
`, policy, escaped(d.Tool), escaped(d.Title), style, first, h.contents(), escaped(d.Title), h.String(), data, script)
	return err
}

// hashOf is how a policy names the style or the script that it allows.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// page collects the elements of a page, and where its sections are.
type page struct {
	strings.Builder
	sections, parts []anchor // of level 2, and of level 3 with an ID
}

type anchor struct{ id, title string }

func escaped(s string) string { return html.EscapeString(Printable(s)) }

// put writes a line; texts are escaped.
func (h *page) put(format string, texts ...string) {
	all := make([]any, len(texts))
	for i, s := range texts {
		all[i] = escaped(s)
	}
	fmt.Fprintf(h, format+"\n", all...)
}

// fewSections is up to how many sections the table of contents has their parts too.
const fewSections = 3

// contents is the table of contents.
func (h *page) contents() string {
	all := h.sections
	if len(all) <= fewSections {
		all = append(all[:len(all):len(all)], h.parts...)
	}
	if len(all) < 2 {
		return ""
	}
	c := &page{}
	c.put(`<nav aria-label="Sections">`)
	for _, s := range all {
		c.put(`<a href="#%s">%s</a>`, s.id, s.title)
	}
	c.put("</nav>")
	return c.String()
}

func (h *page) blocks(level int, all []Block) {
	for _, b := range all {
		switch b := b.(type) {
		case *Section:
			h.section(level, b)
		case Paragraph:
			h.put(`<p dir="auto">%s</p>`, string(b))
		case Lines:
			h.list("ul", `class="lines"`, b)
		case List:
			h.list("ul", "", b)
		case Fields:
			h.put("<dl>")
			for _, f := range b {
				h.put(`<div><dt><bdi>%s</bdi></dt><dd dir="auto">%s</dd></div>`, f.Name, f.Value)
			}
			h.put("</dl>")
		case *Table:
			h.table(b)
		case Findings:
			h.items(3, b.items())
		case Items:
			h.items(level, b)
		case Code:
			h.put(`<pre class="copy"><code>%s</code></pre>`, strings.Trim(string(b), "\n"))
		case Callout:
			h.put(`<p class="callout %s" role="note">%s</p>`, b.Severity.String(), b.Text)
		case Links:
			h.put("<ul>")
			for _, l := range b {
				h.WriteString("<li>" + link(l) + "</li>\n")
			}
			h.put("</ul>")
		case *Chart:
			h.chart(b)
		case Tiles:
			h.tiles(b)
		case Footnotes:
			h.list("ol", `class="footnotes"`, b)
		}
	}
}

// attribute is one of an element, with a space before it; "" where it has no value. It may be a part of a format.
func attribute(name, value string) string {
	if value == "" {
		return ""
	}
	return " " + name + `="` + strings.ReplaceAll(escaped(value), "%", "&#37;") + `"`
}

// section is one that the table of contents links to, where it is of the first level, and one that opens, where it
// folds.
func (h *page) section(level int, s *Section) {
	id := s.ID
	switch {
	case level == 2:
		if id == "" {
			id = fmt.Sprintf("section-%d", len(h.sections)+1)
		}
		h.sections = append(h.sections, anchor{id, s.Title})
	case level == 3 && id != "" && s.Fold != Folded:
		h.parts = append(h.parts, anchor{id, s.Title})
	}
	if s.Fold != Flat {
		open := ""
		if s.Fold == Open {
			open = " open"
		}
		h.put("<details"+attribute("id", id)+open+`><summary dir="auto">%s</summary>`, s.Title)
		h.blocks(level+1, s.Blocks)
		h.put("</details>")
		return
	}
	name := fmt.Sprintf("h%d", min(level, 6))
	h.put("<section"+attribute("id", id)+">\n<"+name+` dir="auto">%s</`+name+">", s.Title)
	h.blocks(level+1, s.Blocks)
	h.put("</section>")
}

func (h *page) list(name, attributes string, texts []string) {
	if len(texts) == 0 {
		return
	}
	h.put(strings.TrimSpace("<"+name+" "+attributes) + ">")
	for _, s := range texts {
		h.put(`<li dir="auto">%s</li>`, s)
	}
	h.put("</" + name + ">")
}

// items have their label in bold and the colour of their severity.
func (h *page) items(level int, b Items) {
	if len(b.All) == 0 {
		return
	}
	name, start := "ul", ""
	if b.First > 0 {
		name = "ol"
	}
	if b.First > 1 {
		start = strconv.Itoa(b.First)
	}
	h.put("<" + name + ` class="items"` + attribute("start", start) + ">")
	for _, one := range b.All {
		h.WriteString("<li" + attribute("id", one.ID) + ` class="` + one.Severity.String() + `"><p dir="auto">`)
		if one.Label != "" {
			h.WriteString("<b>" + escaped(one.Label) + "</b>: ")
		}
		h.WriteString(escaped(one.Text))
		if one.Ref.Name != "" {
			h.WriteString(" " + link(one.Ref))
		}
		h.put("</p>")
		for _, below := range one.Below {
			switch b := below.(type) {
			case Paragraph:
				h.below(string(b))
			case Fields:
				for _, f := range b {
					h.below(f.Name + ": " + f.Value)
				}
			default:
				h.blocks(level+1, []Block{below})
			}
		}
		h.put("</li>")
	}
	h.put("</" + name + ">")
}

func (h *page) tiles(all Tiles) {
	if len(all) == 0 {
		return
	}
	h.put(`<dl class="tiles">`)
	for _, t := range all {
		h.put(`<div class="%s"><dt>%s</dt>`, t.Severity.String(), t.Name)
		h.WriteString("<dd><b>" + link(Link{Name: t.Value, Href: t.Href}) + "</b>")
		h.put(`<span dir="auto">%s</span></dd></div>`, t.Note)
	}
	h.put("</dl>")
}

func (h *page) below(s string) { h.WriteString(`<p class="below" dir="auto">` + linked(s) + "</p>\n") }

func link(l Link) string {
	if l.Href == "" {
		return "<bdi>" + escaped(l.Name) + "</bdi>" + escaped(l.About)
	}
	return `<a href="` + escaped(l.Href) + `"><bdi>` + escaped(l.Name) + "</bdi></a>" + escaped(l.About)
}

// address is a web page in a text.
var address = regexp.MustCompile(`https://[^\s<>"()]*[^\s<>"().,;:]`)

// linked is a text, escaped, in which web pages are links.
func linked(s string) string {
	var b strings.Builder
	rest := s
	for _, url := range address.FindAllString(s, -1) {
		before, after, _ := strings.Cut(rest, url)
		b.WriteString(escaped(before) + `<a href="` + escaped(url) + `" rel="noreferrer">` + escaped(url) + "</a>")
		rest = after
	}
	return b.String() + escaped(rest)
}

// chart is a figure; for one that a script draws, the page has a note if scripts are off.
func (h *page) chart(c *Chart) {
	if c.Scripted {
		h.put("<noscript><p>Scripts are off, so this is missing: %s.</p></noscript>", c.Title)
		h.put(`<div class="scripted"`+attribute("id", c.ID)+` role="group" aria-label="%s" hidden>`, c.Title)
		h.WriteString(string(c.HTML))
		h.put("</div>")
		return
	}
	h.put(`<figure class="wide"`+attribute("id", c.ID)+` role="group" aria-label="%s">`, c.Title)
	h.WriteString(string(c.HTML))
	h.WriteString(`<figcaption dir="auto"><b>` + escaped(c.Title) + "</b>")
	if c.Caption != "" {
		h.WriteString(": " + escaped(c.Caption))
	}
	h.put("</figcaption></figure>")
}

// table scrolls where it is wider than the page, and is sorted by a press on a column where it has values.
func (h *page) table(t *Table) {
	class := func(i int) string {
		switch {
		case t.Columns[i].Right:
			return ` class="n"`
		case t.Columns[i].Wrap:
			return ` class="words"`
		}
		return ""
	}
	sortable := ""
	if t.Values != nil && len(t.Rows) > 1 {
		sortable = ` class="sortable"`
	}
	h.put(`<div class="scroll" tabindex="0"><table` + sortable + `><thead><tr>`)
	for i, c := range t.Columns {
		h.put(`<th scope="col"`+class(i)+">%s</th>", c.Name)
	}
	h.put("</tr></thead><tbody>")
	for n, row := range t.Rows {
		h.put("<tr>")
		for i, cell := range row {
			more := ""
			if n := len(t.Columns) - i; i == len(row)-1 && n > 1 {
				more = fmt.Sprintf(` colspan="%d"`, n)
			}
			if t.Values != nil && !math.IsNaN(t.Values[n][i]) {
				more += attribute("data-v", strconv.FormatFloat(t.Values[n][i], 'g', 6, 64))
			}
			h.put("<td"+class(i)+more+"><bdi>%s</bdi></td>", cell)
		}
		h.put("</tr>")
	}
	h.put("</tbody></table></div>")
}
