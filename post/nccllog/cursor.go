package nccllog

import (
	"strconv"
	"strings"
)

// cursor walks over one message. A step that finds something else than asked for makes it bad, and all steps after that
// do nothing. Where the end of the message may not be its true end (open), what stands at the end is not believed: a
// number could have more digits, a word more letters.
type cursor struct {
	s    string
	open bool
	bad  bool
	free bool // the last thing read was a number or a free word, not a literal
}

func (c *cursor) lit(s string) bool {
	if c.bad || !strings.HasPrefix(c.s, s) {
		c.bad = true
		return false
	}
	c.s, c.free = c.s[len(s):], false
	return true
}

// maybe steps over s where it stands next.
func (c *cursor) maybe(s string) bool {
	if c.bad || !strings.HasPrefix(c.s, s) {
		return false
	}
	return c.lit(s)
}

func (c *cursor) spaces() { c.s = strings.TrimLeft(c.s, " \t") }

// take steps over n bytes of a free value, which must end where a value may end.
func (c *cursor) take(n int) string {
	if n == 0 || n == len(c.s) && c.open || n < len(c.s) && wordly(c.s[n]) {
		c.bad = true
		return ""
	}
	v := c.s[:n]
	c.s, c.free = c.s[n:], true
	return v
}

func wordly(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

func run(s string, from int, of string) int {
	for from < len(s) && strings.IndexByte(of, s[from]) >= 0 {
		from++
	}
	return from
}

func (c *cursor) integer() int64 {
	if c.bad {
		return 0
	}
	c.spaces()
	start := 0
	if strings.HasPrefix(c.s, "-") {
		start = 1
	}
	v, err := strconv.ParseInt(c.take(run(c.s, start, "0123456789")), 10, 64)
	c.bad = c.bad || err != nil
	return v
}

// small is an integer that must fit where ranks, devices and channels are kept.
func (c *cursor) small() int {
	v := c.integer()
	if v < -1<<31 || v >= 1<<31 {
		c.bad = true
	}
	return int(v)
}

// hexadecimal reads digits with or without 0x and gives them as they stand.
func (c *cursor) hexadecimal() string {
	if c.bad {
		return ""
	}
	c.spaces()
	start := 0
	if strings.HasPrefix(c.s, "0x") {
		start = 2
	}
	n := run(c.s, start, "0123456789abcdefABCDEF")
	if n == start {
		c.bad = true
		return ""
	}
	return c.take(n)
}

func (c *cursor) float() float64 {
	if c.bad {
		return 0
	}
	c.spaces()
	n := run(c.s, 0, "-0123456789.")
	v, err := strconv.ParseFloat(c.take(n), 64)
	c.bad = c.bad || err != nil
	return v
}

// until reads up to s and steps over it; what stands before it is complete, since s comes after it.
func (c *cursor) until(s string) string {
	i := strings.Index(c.s, s)
	if c.bad || i < 0 {
		c.bad = true
		return ""
	}
	v := c.s[:i]
	c.s, c.free = c.s[i+len(s):], false
	return v
}

// word reads what stands before the next blank.
func (c *cursor) word() string {
	if c.bad {
		return ""
	}
	c.spaces()
	n := strings.IndexAny(c.s, " \t")
	if n < 0 {
		n = len(c.s)
	}
	if n == 0 || n == len(c.s) && c.open {
		c.bad = true
		return ""
	}
	v := c.s[:n]
	c.s, c.free = c.s[n:], true
	return v
}

// rest reads all that is left.
func (c *cursor) rest() string {
	if c.bad || c.open {
		c.bad = true
		return ""
	}
	v := strings.TrimSpace(c.s)
	c.s, c.free = "", true
	return v
}

// done says whether all steps found what they asked for, and what was read last is whole. More may follow after a blank
// or a comma, as later versions add to their messages.
func (c *cursor) done() bool {
	if c.bad || c.open && c.free {
		return false
	}
	return !c.free || c.s == "" || strings.IndexByte(" \t,.;)", c.s[0]) >= 0
}
