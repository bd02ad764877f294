package plot

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	noteIndent = 16 // of the words behind a note's number
	noteGap    = 7  // above the first note
)

// noteLine is one line of the notes under a picture; number is empty where a note goes on.
type noteLine struct{ number, text string }

// noteLines are the notes, broken into lines.
func (f Figure) noteLines() (lines []noteLine) {
	small := regular(smallSize, muted)
	for _, n := range f.Notes {
		number := strconv.Itoa(n.Number)
		for _, text := range wrap(small, strings.Fields(n.Says), " ", width-2*margin-noteIndent) {
			lines = append(lines, noteLine{number, text})
			number = ""
		}
	}
	return lines
}

func noteHeight(lines []noteLine) vg.Length {
	if len(lines) == 0 {
		return 0
	}
	return noteGap + vg.Length(len(lines))*lineHeight
}

// height is that of the picture: notes make it higher, lest they take the room of the curves.
func (f Figure) height() vg.Length { return height + noteHeight(f.noteLines()) }

// span is where a note's range lies on the canvas, a little wider than it is, lest a single size vanishes.
func (l *layout) span(n Note) (left, right vg.Length) {
	const wider = 4
	return max(l.data.X(l.x.norm(n.From))-wider, l.data.Min.X), min(l.data.X(l.x.norm(n.To))+wider, l.data.Max.X)
}

// sortedNotes are the notes from small sizes to large ones.
func (l *layout) sortedNotes() []Note {
	return slices.SortedFunc(slices.Values(l.Notes), func(a, b Note) int { return cmp.Compare(a.From+a.To, b.From+b.To) })
}

// shades fills the ranges that notes are about, and puts their numbers above them, in a second row where they would touch.
func (l *layout) shades() {
	p := strong(smallSize, muted)
	taken := [2]vg.Length{vg.Length(math.Inf(-1)), vg.Length(math.Inf(-1))} // right end of the last number in each row
	for _, n := range l.sortedNotes() {
		left, right := l.span(n)
		l.c.SetColor(shade)
		l.c.Fill(vg.Rectangle{Min: vg.Point{X: left, Y: l.data.Min.Y}, Max: vg.Point{X: right, Y: l.data.Max.Y}}.Path())
	}
	for _, n := range l.sortedNotes() {
		left, right := l.span(n)
		text := strconv.Itoa(n.Number)
		half := p.width(text) / 2
		row, at := 0, (left+right)/2
		if at-half < taken[0]+2 {
			row = 1
		}
		if at-half < taken[row]+2 {
			at = taken[row] + 2 + half
		}
		taken[row] = at + half
		p.put(l.c, at, l.data.Max.Y+2+vg.Length(row)*(p.cap()+2), 0.5, text)
	}
}

// writeNotes writes what the numbers stand for, under everything else.
func (l *layout) writeNotes() {
	number, small := strong(smallSize, muted), regular(smallSize, muted)
	for i, line := range l.notes {
		y := l.c.Min.Y + margin + vg.Length(len(l.notes)-1-i)*lineHeight
		number.put(l.c, l.c.Min.X+margin, y, 0, line.number)
		small.put(l.c, l.c.Min.X+margin+noteIndent, y, 0, line.text)
	}
}

// labelRoom is how far the axis goes past a ceiling, for its label.
const labelRoom = 1.06

// ceilings draws what curves cannot be expected to pass, each with its label on the left, where curves are low. Lines that
// leave no room for one between them have theirs above the highest of them.
func (l *layout) ceilings() {
	p := regular(smallSize, muted)
	style := draw.LineStyle{Color: muted, Width: vg.Points(1), Dashes: []vg.Length{5, 3}}
	sorted := slices.SortedFunc(slices.Values(l.Ceilings), func(a, b Ceiling) int { return cmp.Compare(a.At, b.At) })
	var labels []string
	for i, v := range sorted {
		y := l.data.Y(l.y.norm(v.At))
		l.c.StrokeLine2(style, l.data.Min.X, y, l.data.Max.X, y)
		labels = append(labels, v.Label)
		if i+1 < len(sorted) && l.data.Y(l.y.norm(sorted[i+1].At))-y < smallSize+3 {
			continue
		}
		p.put(l.c, l.data.Min.X+5, y+3.5, 0, shorten(p, strings.Join(labels, ", "), l.data.Max.X-l.data.Min.X-10))
		labels = nil
	}
}
