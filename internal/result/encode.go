package result

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// encodeLine is v as one line of JSON. The error of an infinite value or NaN, which JSON does not have, is a
// *json.UnsupportedValueError.
func encodeLine(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// sixDigits rounds to six significant digits, which is all that a time of one rank is worth.
func sixDigits(x []float64) []float64 {
	if x == nil {
		return nil
	}
	short := make([]float64, len(x))
	for i, v := range x {
		short[i], _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	}
	return short
}
