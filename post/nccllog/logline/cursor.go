// Package logline has what lines of NCCL's logs are made of: text, numbers, and codes of types, reductions,
// algorithms and protocols.
package logline

import (
	"fmt"
	"strconv"
	"strings"
)

// Format is what a message, or a part of one, looks like. A % is a value, and a blank is one or more blanks.
type Format string

// MustCompile returns a format, which has text between any two values.
func MustCompile(text string) Format {
	if strings.Contains(text, "%%") {
		panic(fmt.Errorf("no end of a value in %s", text))
	}
	return Format(text)
}

// Cursor walks over one message.
type Cursor struct{ S string }

// Read steps over what matches pattern, and stores its values; it changes nothing and returns false where the text does
// not match. What a value may be follows from where it goes: *int (which must fit 32 bits), *int64, *float64, or
// *string, which ends before the next character of the pattern, or, at its end, before a blank. No letter, digit or _
// may follow a number.
func (c *Cursor) Read(pattern Format, into ...any) bool {
	s := c.S
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case ' ':
			rest := strings.TrimLeft(s, " \t")
			if len(rest) == len(s) {
				return false
			}
			s = rest
		case '%':
			end := byte(' ')
			if i+1 < len(pattern) {
				end = pattern[i+1]
			}
			n := value(s, end, into[0])
			if n == 0 {
				return false
			}
			s, into = s[n:], into[1:]
		default:
			if s == "" || s[0] != pattern[i] {
				return false
			}
			s = s[1:]
		}
	}
	c.S = s
	return true
}

// value stores what s begins with and returns its length; 0 where there is no such value.
func value(s string, end byte, into any) int {
	if text, ok := into.(*string); ok {
		n := strings.IndexByte(s, end)
		if n < 0 && end == ' ' {
			n = len(s)
		}
		*text = s[:max(n, 0)]
		return max(n, 0)
	}
	digits, from := "0123456789", 0
	if _, ok := into.(*float64); ok {
		digits += "."
	}
	if strings.HasPrefix(s, "-") {
		from = 1
	}
	n := Run(s, from, digits)
	if n < len(s) && Wordly(s[n]) {
		return 0
	}
	var err error
	var whole int64
	var fraction float64
	switch into := into.(type) {
	case *int:
		if whole, err = strconv.ParseInt(s[:n], 10, 32); err == nil {
			*into = int(whole)
		}
	case *int64:
		if whole, err = strconv.ParseInt(s[:n], 10, 64); err == nil {
			*into = whole
		}
	case *float64:
		if fraction, err = strconv.ParseFloat(s[:n], 64); err == nil {
			*into = fraction
		}
	}
	if err != nil {
		return 0
	}
	return n
}

// All reads the pattern, and reports whether nothing but further words follows, as later versions add to their
// messages.
func (c *Cursor) All(pattern Format, into ...any) bool {
	return c.Read(pattern, into...) && (c.S == "" || strings.IndexByte(" \t,.;)", c.S[0]) >= 0)
}

// Spaces steps over blanks and tabs.
func (c *Cursor) Spaces() { c.S = strings.TrimLeft(c.S, " \t") }

// Wordly reports whether b is a letter, a digit or _.
func Wordly(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// Run returns the end of the characters of a set that begin at from.
func Run(s string, from int, of string) int {
	for from < len(s) && strings.IndexByte(of, s[from]) >= 0 {
		from++
	}
	return from
}

// Peer reads "0[101c0]" or "0".
func (c *Cursor) Peer(rank *int) bool {
	var device string
	return c.Read("%[%]", rank, &device) || c.Read("%", rank)
}
