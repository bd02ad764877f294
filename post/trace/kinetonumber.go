package trace

import "math"

// decimal is the number that a JSON text spells, times ten to the power of scale, rounded to the next integer. It never
// passes through a float64: microseconds since 1970 with three decimals have more digits than one holds. Numbers may
// stand in quotes, as some writers do.
func decimal(text []byte, scale int) (int64, bool) {
	if len(text) > 1 && text[0] == '"' && text[len(text)-1] == '"' {
		text = text[1 : len(text)-1]
	}
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	digits, power, ok := significand(text)
	if !ok {
		return 0, false
	}
	n, ok := timesPowerOfTen(digits, power+scale)
	if negative {
		n = -n
	}
	return n, ok
}

// significand reads digits with a point and an exponent: the number is digits times ten to the power of power. What no
// uint64 holds is cut off.
func significand(text []byte) (digits uint64, power int, ok bool) {
	const full = math.MaxUint64/10 - 1
	point, i := false, 0
	for ; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '.' && !point:
			point = true
			continue
		case c < '0' || c > '9':
			if c != 'e' && c != 'E' || !ok {
				return 0, 0, false
			}
			e, good := exponent(text[i+1:])
			return digits, power + e, good
		case digits < full:
			digits = digits*10 + uint64(c-'0')
			if point {
				power--
			}
		case !point:
			power++
		}
		ok = true
	}
	return digits, power, ok
}

// exponent reads what follows the e; it is cut off where no number of ours is that large or small.
func exponent(text []byte) (e int, ok bool) {
	sign := 1
	if len(text) > 0 && (text[0] == '+' || text[0] == '-') {
		if text[0] == '-' {
			sign = -1
		}
		text = text[1:]
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		e = min(e*10+int(c-'0'), 1000)
	}
	return sign * e, len(text) > 0
}

func timesPowerOfTen(digits uint64, power int) (int64, bool) {
	if digits == 0 {
		return 0, true
	}
	for ; power > 0; power-- {
		if digits > math.MaxInt64/10 {
			return 0, false
		}
		digits *= 10
	}
	for ; power < -1 && digits > 0; power++ {
		digits /= 10
	}
	if power == -1 {
		digits = (digits + 5) / 10
	}
	return int64(digits), digits <= math.MaxInt64
}
