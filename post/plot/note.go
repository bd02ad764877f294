package plot

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	noteIndent = 16 // of the words behind a note's number
	noteGap    = 7  // above the first note
	noteRow    = 11 // of the brackets above the axes
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

// noteRows deals the ranges of notes out to rows above the axes, such that none touches another in its row.
func (f Figure) noteRows() (row []int, rows int) {
	const apart = 1.5 // factor of sizes, for the numbers
	row = make([]int, len(f.Notes))
	for i, n := range f.Notes {
		for slices.ContainsFunc(f.Notes[:i], func(other Note) bool {
			return row[slices.Index(f.Notes, other)] == row[i] && n.From < other.To*apart*apart && other.From < n.To*apart*apart
		}) {
			row[i]++
		}
		rows = max(rows, row[i]+1)
	}
	return row, rows
}

// span is where a note's range lies on the canvas, a little wider than it is, lest a single size vanishes.
func (l *layout) span(n Note) (left, right vg.Length) {
	const wider = 4
	return max(l.data.X(l.x.norm(n.From))-wider, l.data.Min.X), min(l.data.X(l.x.norm(n.To))+wider, l.data.Max.X)
}

// shades fills the ranges that notes are about, and puts brackets with their numbers above, so that ranges that lie on
// one another can be told apart.
func (l *layout) shades() {
	for _, n := range l.Notes {
		left, right := l.span(n)
		l.c.SetColor(shade)
		l.c.Fill(vg.Rectangle{Min: vg.Point{X: left, Y: l.data.Min.Y}, Max: vg.Point{X: right, Y: l.data.Max.Y}}.Path())
	}
	p, line := strong(smallSize, muted), draw.LineStyle{Color: muted, Width: vg.Points(0.8)}
	row, _ := l.noteRows()
	for i, n := range l.Notes {
		left, right := l.span(n)
		text, middle, y := strconv.Itoa(n.Number), (left+right)/2, l.data.Max.Y+6+vg.Length(row[i])*noteRow
		if gap := p.width(text)/2 + 2; right-middle > gap+1 {
			l.c.StrokeLine2(line, left, y, middle-gap, y)
			l.c.StrokeLine2(line, middle+gap, y, right, y)
			l.c.StrokeLine2(line, left, y, left, y-3)
			l.c.StrokeLine2(line, right, y, right, y-3)
		}
		p.put(l.c, middle, y-p.cap()/2, 0.5, text)
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

// ceilings draws what curves cannot be expected to pass, each with its label on the left, where curves are low. Lines
// that leave no room for one between them have theirs above the highest of them.
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
