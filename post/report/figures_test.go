package report

import (
	"encoding/json"
	"math"
	"testing"
)

func TestFigures(t *testing.T) {
	for _, c := range []struct {
		figures Figures
		want    string
	}{
		{nil, "[]"},
		{Figures{0, 1, 2.5, 1234567, 0.1}, "[0,1,2.5,1234600,0.1]"},
		{Figures{1.0 / 3, 123.456789, 99999.6}, "[0.33333,123.46,100000]"},
		{Figures{1.23456789e-7, 6.02214076e23, -4e-5}, "[1.2346e-07,6.0221e+23,-4e-05]"},
		{Figures{math.NaN(), math.Inf(1), math.MaxFloat64}, "[null,null,null]"},
	} {
		b, err := json.Marshal(c.figures)
		if err != nil || string(b) != c.want {
			t.Errorf("%v: %s, %v, want %s", []float64(c.figures), b, err, c.want)
		}
	}
}
