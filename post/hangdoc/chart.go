package hangdoc

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"maps"
	"slices"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice/hangs"
	"busbar/post/hang"
)

// Sizes of the chart in pixels.
const (
	cell   = 22
	gutter = 90 // for the ranks
	header = 30 // for the numbers
)

// states have a fill, and a letter that distinguishes them without colour.
var states = [hang.States]struct{ name, fill, letter string }{
	hang.Done: {"completed", "#9ecae1", ""}, hang.Waiting: {"waiting", "#fdae6b", "w"},
	hang.Missing: {"not called", "#de2d26", "–"}, hang.Other: {"other call", "#756bb1", "x"},
	hang.Silent: {"unknown", "#d9d9d9", "?"}, hang.Ended: {"ended or failed", "#c7e9c0", "e"},
}

// row is ranks that did the same in all columns.
type row struct {
	ranks  hangs.Ranks
	states string // an index for each column
}

// maxRows is how many rows a chart has; ranks that did the same share one.
const maxRows = 40

// chart is the last collectives by rank.
func chart(of []hang.Column) *document.Chart {
	rows := rowsOf(of)
	left := len(rows) - maxRows
	rows = rows[:min(len(rows), maxRows)]
	var b strings.Builder
	width, height := gutter+cell*len(of), header+cell*(len(rows)+2)
	fmt.Fprintf(&b, `<svg viewBox="0 0 %d %d" width="%d" role="img" aria-label="Last collectives by rank" `+
		`font-family="sans-serif" font-size="10" fill="currentColor">`, max(width, 420), height, max(width, 420))
	for i, c := range of {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%d</text>`, gutter+cell*i+cell/2, header-8,
			c.Sequence)
	}
	for y, r := range rows {
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, gutter-6, header+cell*y+cell/2+4,
			html.EscapeString(strings.TrimPrefix(strings.TrimPrefix(r.ranks.String(), "ranks "), "rank ")))
		for x := range of {
			square(&b, gutter+cell*x, header+cell*y, int(r.states[x]-'0'), of[x].Call.String())
		}
	}
	x := gutter
	for i, s := range states {
		square(&b, x, header+cell*len(rows)+cell/2, i, s.name)
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`, x+cell+2, header+cell*len(rows)+cell+4, s.name)
		x += cell + 10 + 6*len(s.name)
	}
	b.WriteString(`</svg>`)
	if left > 0 {
		fmt.Fprintf(&b, `<p>%d more rows are not shown.</p>`, left)
	}
	return &document.Chart{ID: "hang-collectives", Title: "Last collectives by rank", HTML: template.HTML(b.String())}
}

func square(b *strings.Builder, x, y, state int, title string) {
	s := states[state]
	fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="%s"><title>%s: %s</title></rect>`, x, y, cell-2,
		cell-2, s.fill, html.EscapeString(title), s.name)
	if s.letter != "" {
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle" fill="#000">%s</text>`, x+cell/2-1, y+cell/2+3,
			s.letter)
	}
}

// rowsOf joins ranks that did the same.
func rowsOf(of []hang.Column) (rows []row) {
	byRank := map[int][]byte{}
	for i, c := range of {
		for state, ranks := range c.Ranks {
			for _, rank := range ranks {
				if byRank[rank] == nil {
					byRank[rank] = bytes.Repeat([]byte{'0' + byte(hang.Silent)}, len(of))
				}
				byRank[rank][i] = '0' + byte(state)
			}
		}
	}
	index := map[string]int{}
	for _, rank := range slices.Sorted(maps.Keys(byRank)) {
		key := string(byRank[rank])
		i, known := index[key]
		if !known || len(byRank) <= maxRows {
			i = len(rows)
			index[key] = i
			rows = append(rows, row{states: key})
		}
		rows[i].ranks = append(rows[i].ranks, rank)
	}
	return rows
}
