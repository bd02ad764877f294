// Package plot draws results: bandwidth and time against size, collectives side by side, and scaling over worlds.
//
// Figures chooses what is worth a plot, a Figure holds its curves and words, and WritePNG draws it.
// The package reads no files and does no statistics of its own beyond median and range over launches.
package plot

import (
	"busbar/internal/coll"
	"busbar/internal/result"
)

// Point is one measured time (status ok) and the run that it belongs to. A Point whose Time is zero was planned but has
// no value: nothing is drawn in its place, and no line is drawn across it.
type Point struct {
	Run  *result.Run
	Case coll.Case
	Time result.Time

	nodes, perNode int // of a group of a divided world
}

// Figure is one plot: curves over a pair of axes, with title and captions.
type Figure struct {
	Page
	X, Y     Axis
	Curves   []Curve
	Ceilings []Ceiling
}

// Ceiling is a value of the Y axis that curves cannot be expected to pass.
type Ceiling struct {
	At    float64 // in units of the axis
	Label string
}

// Axis is one axis of a plot.
type Axis struct {
	Label string
	Unit  Unit
}

// Unit is what an axis counts; it brings its scale and its ticks.
type Unit uint8

// The units of axes.
const (
	Bytes   Unit = iota + 1 // logarithmic, ticks at powers of two
	Seconds                 // logarithmic, 1 µs, 10 µs, …
	Linear                  // from 0: 1e9 bytes per second, nights
	Ranks                   // logarithmic, a tick at each world
	Times                   // one thing in units of another: logarithmic, 1 is no difference
)

// Curve is one series. Style is an index into the palette.
type Curve struct {
	Label  string
	Style  int
	Points []XY
}

// XY is one point of a curve in the units of the axes. Lo and Hi bound the band; without a band both are Y.
type XY struct {
	X, Y, Lo, Hi float64
	Gap          bool // a point before this one has no value: no line leads here
}

// parts are the stretches between gaps.
func (c Curve) parts() [][]XY {
	var parts [][]XY
	for _, p := range c.Points {
		if p.Gap || len(parts) == 0 {
			parts = append(parts, nil)
		}
		parts[len(parts)-1] = append(parts[len(parts)-1], p)
	}
	return parts
}
