package report

import (
	"math"
	"strconv"
)

// digits is how many of a figure stand on the page: more than any measurement holds, few enough for many points.
const digits = 5

// Figures are numbers that are written with five digits, and those that are no numbers as null.
type Figures []float64

// MarshalJSON writes a list, which is never null.
func (f Figures) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 2+8*len(f)), '[')
	for i, x := range f {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendFigure(b, x)
	}
	return append(b, ']'), nil
}

func appendFigure(b []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(b, "null"...)
	}
	short := rounded(x)
	if math.IsInf(short, 0) { // the greatest numbers may be rounded up beyond all
		return append(b, "null"...)
	}
	format := byte('f') // shorter than with an exponent, but for very large and small ones
	if size := math.Abs(short); size >= 1e7 || size > 0 && size < 1e-3 {
		format = 'e'
	}
	return strconv.AppendFloat(b, short, format, -1, 64)
}

// rounded is a number of five digits.
func rounded(x float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64) // the only error is that of a number beyond all
	return short
}
