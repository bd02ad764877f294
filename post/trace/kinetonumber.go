package trace

import (
	"math"
	"strconv"
	"strings"
)

// decimal returns a JSON number times 10^scale (scale at most 3), rounded to an integer. Numbers without an exponent
// avoid float64: microseconds since 1970 with three decimals exceed its precision. Some writers quote numbers.
func decimal(text []byte, scale int) (int64, bool) {
	spelled := string(text)
	if len(text) > 1 && text[0] == '"' {
		spelled = spelled[1 : len(text)-1]
	}
	whole, fraction, _ := strings.Cut(spelled, ".")
	digits := fraction + "0000"
	n, err := strconv.ParseInt(whole+digits[:scale], 10, 64)
	if err != nil || strings.ContainsAny(fraction, "eE") {
		v, err := strconv.ParseFloat(spelled, 64)
		v = math.Round(v * math.Pow10(scale))
		if err != nil || math.IsNaN(v) || math.Abs(v) >= math.MaxInt64 {
			return 0, false
		}
		return int64(v), true
	}
	if digits[scale] >= '5' {
		if spelled[0] == '-' {
			return n - 1, true
		}
		return n + 1, true
	}
	return n, true
}
