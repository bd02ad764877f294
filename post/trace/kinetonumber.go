package trace

import (
	"bytes"
	"math"
	"strconv"
)

// decimal is the number that a JSON text spells, times ten to the power of scale, rounded to the next integer. Without
// an exponent it never passes through a float64: microseconds since 1970 with three decimals have more digits than one
// holds. Numbers may stand in quotes, as some writers do.
func decimal(text []byte, scale int) (int64, bool) {
	if len(text) > 1 && text[0] == '"' {
		text = text[1 : len(text)-1]
	}
	if bytes.ContainsAny(text, "eE") {
		return rounded(string(text), scale)
	}
	digits, negative := bytes.CutPrefix(text, []byte("-"))
	n, left, ok := int64(0), -1, len(digits) > 0 // left are the decimals still wanted; -1 before the point
	for _, c := range digits {
		switch {
		case c == '.' && left < 0:
			left = scale
		case c < '0' || c > '9' || n > math.MaxInt64/10-1:
			return rounded(string(text), scale)
		case left == 0:
			if c >= '5' {
				n++
			}
			return signed(n, negative), true
		default:
			n = n*10 + int64(c-'0')
			if left > 0 {
				left--
			}
		}
	}
	if left < 0 {
		left = scale
	}
	for ; left > 0; left-- {
		if n > math.MaxInt64/10 {
			return 0, false
		}
		n *= 10
	}
	return signed(n, negative), ok
}

func signed(n int64, negative bool) int64 {
	if negative {
		return -n
	}
	return n
}

// rounded is a number that is not spelled as plain digits.
func rounded(text string, scale int) (int64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	v = math.Round(v * math.Pow10(scale))
	if err != nil || math.Abs(v) >= math.MaxInt64 {
		return 0, false
	}
	return int64(v), true
}
