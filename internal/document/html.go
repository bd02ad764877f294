package document

import (
	"crypto/sha256"
	_ "embed" // of the style
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"

	"busbar/internal/notice"
)

//go:embed html.css
var style string

// writeHTML writes one page that loads nothing and runs nothing. Every text is escaped, and control characters are shown.
func writeHTML(d *Document, w io.Writer) error {
	h := &page{}
	h.blocks(2, d.Blocks)
	sum := sha256.Sum256([]byte(style))
	policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	title := escaped(d.Title)
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
<main>
<h1 dir="auto">%s</h1>
%s%s</main>
</body>
</html>
`, policy, escaped(d.Tool), title, style, title, h.contents(), h.String())
	return err
}

// page collects the elements of a page, and the titles of its sections.
type page struct {
	strings.Builder
	sections []string // of level 2
}

func escaped(s string) string { return html.EscapeString(Printable(s)) }

// put writes a line; texts are escaped.
func (h *page) put(format string, texts ...string) {
	all := make([]any, len(texts))
	for i, s := range texts {
		all[i] = escaped(s)
	}
	fmt.Fprintf(h, format+"\n", all...)
}

// contents is the table of contents.
func (h *page) contents() string {
	if len(h.sections) < 2 {
		return ""
	}
	c := &page{}
	c.put(`<nav aria-label="Contents"><ul>`)
	for i, title := range h.sections {
		c.put(`<li><a href="#section-%s">%s</a></li>`, fmt.Sprint(i+1), title)
	}
	c.put("</ul></nav>")
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
			h.findings(b)
		case Items:
			h.items(level, b)
		case Code:
			h.put("<pre><code>%s</code></pre>", strings.Trim(string(b), "\n"))
		case Callout:
			h.put(`<p class="callout" role="note">%s</p>`, string(b))
		case Links:
			h.put("<ul>")
			for _, l := range b {
				h.put(`<li><a href="%s"><bdi>%s</bdi></a>%s</li>`, l.Href, l.Name, l.About)
			}
			h.put("</ul>")
		case *Chart:
			h.put(`<figure class="scroll" role="group" aria-label="%s">`, b.Title)
			h.WriteString(string(b.SVG))
			h.put(`<figcaption dir="auto"><b>%s</b>: %s</figcaption></figure>`, b.Title, b.Caption)
		case Footnotes:
			h.list("ol", `class="footnotes"`, b)
		}
	}
}

// section has an address where it is of the first level.
func (h *page) section(level int, s *Section) {
	id := ""
	if level == 2 {
		h.sections = append(h.sections, s.Title)
		id = fmt.Sprintf(` id="section-%d"`, len(h.sections))
	}
	name := fmt.Sprintf("h%d", min(level, 6))
	h.put("<section"+id+">\n<"+name+` dir="auto">%s</`+name+">", s.Title)
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

// items have their label in bold, and what is below them indented.
func (h *page) items(level int, b Items) {
	name := "ul"
	if b.Numbered {
		name = "ol"
	}
	h.put("<" + name + ">")
	for _, one := range b.All {
		h.WriteString(`<li dir="auto">`)
		if one.Label != "" {
			h.put("<b>%s</b>:", one.Label)
		}
		h.put("%s", one.Text)
		h.blocks(level+1, one.Below)
		h.put("</li>")
	}
	h.put("</" + name + ">")
}

// findings have the colour of their severity.
func (h *page) findings(all []notice.Notice) {
	h.put(`<ol class="findings">`)
	for _, n := range all {
		h.put(`<li class="%s"><p dir="auto">%s</p>`, n.Severity.String(), headOf(n))
		var rest List
		for _, r := range restOf(n) {
			if r.Name != "" {
				r.Value = r.Name + ": " + r.Value
			}
			rest = append(rest, r.Value)
		}
		h.list("ul", "", rest)
		h.put("</li>")
	}
	h.put("</ol>")
}

// table scrolls where it is wider than the page.
func (h *page) table(t *Table) {
	class := func(i int) string {
		if t.Columns[i].Right {
			return ` class="n"`
		}
		return ""
	}
	h.put(`<div class="scroll" tabindex="0"><table><thead><tr>`)
	for i, c := range t.Columns {
		h.put(`<th scope="col"`+class(i)+">%s</th>", c.Name)
	}
	h.put("</tr></thead><tbody>")
	for _, row := range t.Rows {
		h.put("<tr>")
		for i, cell := range row {
			span := ""
			if n := len(t.Columns) - i; i == len(row)-1 && n > 1 {
				span = fmt.Sprintf(` colspan="%d"`, n)
			}
			h.put("<td"+class(i)+span+"><bdi>%s</bdi></td>", cell)
		}
		h.put("</tr>")
	}
	h.put("</tbody></table></div>")
}
