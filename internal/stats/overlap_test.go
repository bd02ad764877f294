package stats

import (
	"math"
	"testing"
)

func TestOverlapAndScaling(t *testing.T) {
	nan := math.NaN()
	for what, c := range map[string]struct{ got, want float64 }{
		"the worked example":              {WallClockOverlap(100, 30, 115), 0.5},
		"one after the other":             {WallClockOverlap(100, 30, 130), 0},
		"all hidden":                      {WallClockOverlap(100, 30, 100), 1},
		"idle":                            {WallClockOverlap(100, 30, 145), -0.5},
		"communication called compute":    {WallClockOverlap(100, 30, 85), 1.5},
		"without communication":           {WallClockOverlap(100, 0, 100), nan},
		"unknown communication":           {WallClockOverlap(100, nan, 100), nan},
		"strong, one to two":              {StrongScaling(100, 1, 60, 2), 5.0 / 6},
		"strong, two to eight":            {StrongScaling(60, 2, 20, 8), 0.75},
		"weak":                            {WeakScaling(100, 125), 0.8},
		"strong, without the first time":  {StrongScaling(0, 1, 60, 2), nan},
		"strong, without ranks":           {StrongScaling(100, 0, 60, 2), nan},
		"strong, without the second time": {StrongScaling(100, 1, 0, 2), nan},
		"weak, without the first time":    {WeakScaling(0, 1), nan},
		"weak, without the second time":   {WeakScaling(1, 0), nan},
	} {
		if math.Abs(c.got-c.want) > 1e-12 || math.IsNaN(c.got) != math.IsNaN(c.want) {
			t.Errorf("%s: %g, want %g", what, c.got, c.want)
		}
	}
}
