package result

import (
	"encoding"
	"encoding/json"
	"strconv"
)

// cursor reads JSON as rank writes it: no space between tokens, no escapes, ASCII. Whatever else it meets sets odd, and
// the line is left to encoding/json; what it takes, it takes as encoding/json would, which a fuzz test sees to. It has
// many methods because each reads one kind of value or one object of the format.
type cursor struct {
	b   []byte
	i   int
	odd bool

	lists bool // the times of all ranks and the network's counters are wanted
}

func (c *cursor) next() byte {
	if c.i >= len(c.b) {
		c.odd = true
		return 0
	}
	c.i++
	return c.b[c.i-1]
}

func (c *cursor) expect(want byte) {
	if c.next() != want {
		c.odd = true
	}
}

// empty says whether the list or object that was just opened closes at once.
func (c *cursor) empty(closing byte) bool {
	if c.i < len(c.b) && c.b[c.i] == closing {
		c.i++
		return true
	}
	return false
}

// object hands each key to field, which reads the value.
func (c *cursor) object(field func(key string)) {
	if c.expect('{'); c.empty('}') {
		return
	}
	for !c.odd {
		key := c.bytes()
		c.expect(':')
		if c.odd {
			return
		}
		field(string(key))
		switch c.next() {
		case ',':
		case '}':
			return
		default:
			c.odd = true
		}
	}
}

// list calls item for each value of a list.
func (c *cursor) list(item func()) {
	if c.expect('['); c.empty(']') {
		return
	}
	for !c.odd {
		item()
		switch c.next() {
		case ',':
		case ']':
			return
		default:
			c.odd = true
		}
	}
}

func (c *cursor) bytes() []byte {
	c.expect('"')
	begin := c.i
	for !c.odd {
		switch b := c.next(); {
		case b == '"':
			return c.b[begin : c.i-1]
		case b < ' ' || b >= 0x7f || b == '\\':
			c.odd = true
		}
	}
	return nil
}

func (c *cursor) text(to *string) { *to = string(c.bytes()) }

func (c *cursor) word(to encoding.TextUnmarshaler) {
	if text := c.bytes(); !c.odd && to.UnmarshalText(text) != nil {
		c.odd = true
	}
}

func (c *cursor) texts(to *[]string) {
	*to = []string{}
	c.list(func() { *to = append(*to, string(c.bytes())) })
}

// value leaves a list or an object to encoding/json.
func (c *cursor) value(to any) {
	begin, depth, quoted := c.i, 0, false
	for done := false; !done && !c.odd; done = depth == 0 && !quoted {
		switch b := c.next(); {
		case quoted:
			if b == '\\' {
				c.next()
			}
			quoted = b != '"'
		case b == '"':
			quoted = true
		case b == '[' || b == '{':
			depth++
		case b == ']' || b == '}':
			depth--
		}
	}
	if c.odd || json.Unmarshal(c.b[begin:c.i], to) != nil {
		c.odd = true
	}
}

func (c *cursor) int64(to *int64) {
	digits, isInt := c.number()
	n, err := strconv.ParseInt(string(digits), 10, 64)
	if *to = n; err != nil || !isInt {
		c.odd = true
	}
}

func (c *cursor) int(to *int) {
	var n int64
	c.int64(&n)
	if *to = int(n); int64(*to) != n {
		c.odd = true
	}
}

func (c *cursor) float(to *float64) {
	digits, _ := c.number()
	x, err := strconv.ParseFloat(string(digits), 64)
	if *to = x; err != nil {
		c.odd = true
	}
}

// number reads one number by JSON's grammar.
func (c *cursor) number() (text []byte, isInt bool) {
	begin := c.i
	c.empty('-')
	if !c.empty('0') {
		c.digits()
	}
	isInt = true
	if c.empty('.') {
		isInt = false
		c.digits()
	}
	if c.empty('e') || c.empty('E') {
		isInt = false
		if !c.empty('+') {
			c.empty('-')
		}
		c.digits()
	}
	return c.b[begin:c.i], isInt
}

func (c *cursor) digits() {
	begin := c.i
	for c.i < len(c.b) && c.b[c.i] >= '0' && c.b[c.i] <= '9' {
		c.i++
	}
	if c.i == begin {
		c.odd = true
	}
}

// floats reads a list of numbers where lists are wanted, and passes over it where they are not.
func (c *cursor) floats(to *[]float64) {
	if !c.lists {
		c.list(func() { c.number() })
		return
	}
	all := make([]float64, 0, 8)
	c.list(func() {
		var x float64
		c.float(&x)
		all = append(all, x)
	})
	*to = all
}
