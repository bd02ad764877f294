package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strconv"
)

// encodeLine is v as one line of JSON. JSON has no infinity and no NaN: where v, which must be a pointer, holds one, it
// is set to 0 and odd is true.
func encodeLine(v any) (line []byte, odd bool, err error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err = e.Encode(v)
	var unsupported *json.UnsupportedValueError
	if errors.As(err, &unsupported) && zeroOdd(reflect.ValueOf(v)) {
		b.Reset()
		odd, err = true, e.Encode(v)
	}
	return b.Bytes(), odd, err
}

// zeroOdd sets every float that JSON cannot hold to 0, and says whether there was one.
func zeroOdd(v reflect.Value) bool {
	odd := false
	switch v.Kind() {
	case reflect.Float64:
		if odd = math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0); odd {
			v.SetFloat(0)
		}
	case reflect.Pointer:
		return !v.IsNil() && zeroOdd(v.Elem())
	case reflect.Interface: // what a notice holds: its copy takes its place
		if v.IsNil() {
			return false
		}
		whole := reflect.New(v.Elem().Type()).Elem()
		whole.Set(v.Elem())
		if odd = zeroOdd(whole); odd {
			v.Set(whole)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			odd = zeroOdd(v.Field(i)) || odd
		}
	case reflect.Slice:
		for i := range v.Len() {
			odd = zeroOdd(v.Index(i)) || odd
		}
	}
	return odd
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
