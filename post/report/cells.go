package report

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// listing is a table that stands in both forms of a report, with what is to be read with it.
type listing struct {
	ID    string // of its place on the page
	Name  string
	Says  []string // before it, each a sentence
	Heads []head
	Rows  [][]cell
	More  int  // rows that did not fit
	Open  bool // on the page, at first
	Bars  *bars
}

// bars is a small chart above a table.
type bars struct {
	Label string
	Each  float64 // width of a bar
	Width float64
	Bars  []bar
}

type bar struct {
	At, Top, Height float64
	Loud            bool
	Says            string
}

// barsOf draws figures as bars, the loudest of them marked.
func barsOf(label string, values []float64, says []string) *bars {
	most := slices.Max(values)
	if most <= 0 {
		return nil
	}
	b := &bars{Label: label, Each: 8, Width: float64(10 * len(values))}
	for i, v := range values {
		height := max(0.5, 58*v/most)
		b.Bars = append(b.Bars, bar{At: float64(10*i) + 1, Top: 60 - height, Height: height, Loud: v == most, Says: says[i]})
	}
	return b
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
	Parts *parts  // a bar behind the text, on the page
}

// Short says whether it stands in one line.
func (c cell) Short() bool { return utf8.RuneCountInString(c.Text) <= 28 }

// parts is a bar of two parts, as shares of the longest bar in percent.
type parts struct{ First, Second float64 }

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

// upTo keeps so many rows.
func (l listing) upTo(most int) listing {
	if n := len(l.Rows) - most; n > 0 {
		l.Rows, l.More = l.Rows[:most], l.More+n
	}
	return l
}

// Sortable says whether it is long enough to be sorted.
func (l listing) Sortable() bool { return len(l.Rows) > 1 }

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
			if row[i].Text != "" || row[i].Parts != nil {
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
