package plot

import (
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	labelGap    = 16 // from the axes' right edge to the sample of a label
	sampleWidth = 26 // of the piece of line in front of the words
	labelRow    = bodySize * 1.18
)

// labelWidths are how wide labels may be, where longer they take another line; the first at which all find room beside
// the axes.
var labelWidths = []vg.Length{150, 210, 270}

// endLabel names a curve beside its last point: a piece of the line and the words.
type endLabel struct {
	curve Curve
	lines []string
}

func newEndLabels(p pen, curves []Curve, room vg.Length) (labels []endLabel) {
	for _, width := range labelWidths {
		labels = nil
		high := vg.Length(0)
		for _, c := range curves {
			e := endLabel{curve: c, lines: wrap(p, strings.Fields(c.Label), " ", width)}
			labels, high = append(labels, e), high+e.height()
		}
		if high <= room {
			break
		}
	}
	return labels
}

func (e endLabel) height() vg.Length { return vg.Length(len(e.lines)) * labelRow }

func (e endLabel) width(p pen) vg.Length {
	w := vg.Length(0)
	for _, line := range e.lines {
		w = max(w, p.width(line))
	}
	return sampleWidth + 5 + w
}

// endLabels draws the labels right of the axes, each as near to the end of its curve as the others let it be.
func (l *layout) endLabels() {
	p := regular(bodySize, ink)
	slices.SortStableFunc(l.labels, func(a, b endLabel) int {
		ya, yb := l.end(a).Y, l.end(b).Y
		switch {
		case ya < yb:
			return -1
		case ya > yb:
			return 1
		}
		return 0
	})
	want, heights := make([]vg.Length, len(l.labels)), make([]vg.Length, len(l.labels))
	for i, e := range l.labels {
		want[i] = l.end(e).Y
		heights[i] = e.height()
	}
	got := spread(want, heights, l.data.Min.Y-bodySize/2, l.data.Max.Y+bodySize/2)
	for i, e := range l.labels {
		l.endLabel(p, e, got[i])
	}
}

// end is the place of the last point of the label's curve.
func (l *layout) end(e endLabel) vg.Point {
	last := e.curve.Points[len(e.curve.Points)-1]
	return l.at(last.X, last.Y)
}

func (l *layout) endLabel(p pen, e endLabel, y vg.Length) {
	x, end := l.data.Max.X+labelGap, l.end(e)
	thin := draw.LineStyle{Color: leader, Width: vg.Points(0.6)}
	l.c.StrokeLine2(thin, end.X, end.Y, l.data.Max.X+1, end.Y)
	l.c.StrokeLine2(thin, l.data.Max.X+1, end.Y, x-2, y)
	l.c.StrokeLine2(e.curve.line(), x, y, x+sampleWidth, y)
	e.curve.marker().draw(l.c, vg.Point{X: x + sampleWidth/2, Y: y}, e.curve.line().Color)
	baseline := y + vg.Length(len(e.lines)-1)*labelRow/2 - p.cap()/2
	for i, line := range e.lines {
		p.put(l.c, x+sampleWidth+5, baseline-vg.Length(i)*labelRow, 0, line)
	}
}

// spread moves boxes of the given heights, wanted with their centres at want (ascending), apart so that none overlaps
// another; together they move as little as possible (least squares), and stay within lo and hi where they fit.
func spread(want, heights []vg.Length, lo, hi vg.Length) []vg.Length {
	type block struct{ bottom, sum, n, height vg.Length } // boxes that touch; sum is of the bottoms that each would like
	var blocks []block
	for i, w := range want {
		b := block{sum: w - heights[i]/2, n: 1, height: heights[i]}
		b.bottom = clamp(b.sum, lo, hi-b.height)
		for len(blocks) > 0 && blocks[len(blocks)-1].bottom+blocks[len(blocks)-1].height > b.bottom {
			under := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			b = block{sum: under.sum + b.sum - b.n*under.height, n: under.n + b.n, height: under.height + b.height}
			b.bottom = clamp(b.sum/b.n, lo, hi-b.height)
		}
		blocks = append(blocks, b)
	}
	centres := make([]vg.Length, 0, len(want))
	for _, b := range blocks {
		y := b.bottom
		for range int(b.n) {
			h := heights[len(centres)]
			centres = append(centres, y+h/2)
			y += h
		}
	}
	return centres
}

func clamp(v, lo, hi vg.Length) vg.Length { return max(min(v, hi), lo) }
