package report

import (
	"fmt"
	"html"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/document"
	"busbar/internal/units"
)

// listing is a table that stands in both forms of a report, with what is to be read with it.
type listing struct {
	ID    string // of its place on the page
	Name  string
	Says  []string // before it, each a sentence
	Heads []head
	Rows  [][]cell
	Open  bool // on the page, at first
	Bars  *bars
}

// bars is a small plot above a table.
type bars struct {
	Label string
	Bars  []bar
}

type bar struct {
	Says  string
	Parts []part // from the bottom
}

type part struct {
	Class string // of the style
	Value float64
}

// barsOf draws values as bars, the largest of them marked; nil where none is above 0.
func barsOf(label string, values []float64, says []string) *bars {
	most := slices.Max(values)
	if most <= 0 {
		return nil
	}
	b := &bars{Label: label}
	for i, v := range values {
		class := "bar"
		if v == most {
			class = "bar loud"
		}
		b.Bars = append(b.Bars, bar{says[i], []part{{class, v}}})
	}
	return b
}

// chart draws the bars, the longest as high as the plot.
func (b *bars) chart() *document.Chart {
	const high = 60.0
	most := 0.0
	for _, one := range b.Bars {
		sum := 0.0
		for _, p := range one.Parts {
			sum += p.Value
		}
		most = max(most, sum)
	}
	wide := max(10, min(40, 400/len(b.Bars)))
	var svg strings.Builder
	fmt.Fprintf(&svg, `<svg class="bars" width="%d" height="%g" role="img" aria-label="%s">`,
		wide*len(b.Bars), high, html.EscapeString(units.Printable(b.Label)))
	for i, one := range b.Bars {
		top := high
		for _, p := range one.Parts {
			height := max(0.5, (high-2)*p.Value/most)
			top -= height
			fmt.Fprintf(&svg, `<rect class="%s" x="%d" y="%.1f" width="%d" height="%.1f"><title>%s</title></rect>`,
				p.Class, i*wide+1, top, wide-2, height, html.EscapeString(units.Printable(one.Says)))
		}
	}
	svg.WriteString("</svg>")
	return &document.Chart{Title: b.Label, HTML: template.HTML(svg.String())}
}

// head is that of a column.
type head struct {
	Name   string
	Figure bool // figures stand to the right
	Words  bool // long texts, which want room
}

// cell is what stands in a row.
type cell struct {
	Text  string
	Value float64 // what it is sorted by, where HasValue
	Known bool    // Value is there
}

func word(text string) cell { return cell{Text: text} }

func figure(text string, value float64) cell { return cell{Text: text, Value: value, Known: true} }

// milli is a cell of milliseconds.
func milli(v float64) cell { return figure(ms(v), v) }

func number(n int) cell { return figure(strconv.Itoa(n), float64(n)) }

// may is the cell of a figure that may be unknown.
func may(v *float64, text func(float64) string) cell {
	if v == nil {
		return cell{}
	}
	return figure(text(*v), *v)
}

// heads reads names of columns: those that end in > have figures, those that end in ~ long texts.
func heads(names ...string) (all []head) {
	for _, name := range names {
		h := head{Name: name}
		switch name[len(name)-1] {
		case '>':
			h.Name, h.Figure = name[:len(name)-1], true
		case '~':
			h.Name, h.Words = name[:len(name)-1], true
		}
		all = append(all, h)
	}
	return all
}

// alike says above the table what stands in every row of a column, and takes the column away: what is left is narrow enough
// to be seen whole.
func (l listing) alike(name, says string) listing {
	i := slices.IndexFunc(l.Heads, func(h head) bool { return h.Name == name })
	if len(l.Rows) < 2 || l.Rows[0][i].Text == "" || slices.ContainsFunc(l.Rows, func(row []cell) bool { return row[i].Text != l.Rows[0][i].Text }) {
		return l
	}
	made := l
	made.Says, made.Rows = append([]string{says + l.Rows[0][i].Text + "."}, l.Says...), nil
	for _, row := range l.Rows {
		row = slices.Clone(row)
		row[i] = cell{}
		made.Rows = append(made.Rows, row)
	}
	return made
}

// trimmed leaves out columns in which nothing stands.
func (l listing) trimmed() listing {
	var keep []int
	for i := range l.Heads {
		for _, row := range l.Rows {
			if row[i].Text != "" {
				keep = append(keep, i)
				break
			}
		}
	}
	if len(keep) == len(l.Heads) || len(l.Rows) == 0 {
		return l
	}
	made := l
	made.Heads, made.Rows = nil, nil
	for _, i := range keep {
		made.Heads = append(made.Heads, l.Heads[i])
	}
	for _, row := range l.Rows {
		var kept []cell
		for _, i := range keep {
			kept = append(kept, row[i])
		}
		made.Rows = append(made.Rows, kept)
	}
	return made
}
