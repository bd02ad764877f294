package step

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"busbar/internal/coll"
)

const (
	noneWord = "none"
	powerSGD = "powersgd-"
	maxRank  = 1 << 20
)

// ParseCompression reads none, a factor of volume (8x) or PowerSGD's rank (powersgd-4), the last two with what
// compressing all gradients costs, or without: 8x:5ms.
func ParseCompression(s string) (Compression, error) {
	var c Compression
	word, cost, priced := strings.Cut(strings.ToLower(strings.TrimSpace(s)), ":")
	rank, low := strings.CutPrefix(word, powerSGD)
	factor, times := strings.CutSuffix(word, "x")
	var err error
	switch {
	case word == noneWord && priced:
		return c, fmt.Errorf("compression %q: none costs nothing", s)
	case word == noneWord:
		return c, nil
	case low:
		if c.Rank, err = strconv.Atoi(rank); err != nil || c.Rank < 1 || c.Rank > maxRank {
			return Compression{}, fmt.Errorf("compression %q: want a whole rank from 1 to %d behind %s, such as %s4", s, maxRank,
				powerSGD, powerSGD)
		}
	case times && factor != "" && strings.Trim(factor, "0123456789.") == "":
		if c.Factor, err = strconv.ParseFloat(factor, 64); err != nil || c.Factor <= 1 {
			return Compression{}, fmt.Errorf("compression %q: want a factor above 1, such as 8x for an eighth of the volume", s)
		}
	default:
		return c, coll.Unknown("compression", s, []string{noneWord, "8x", powerSGD + "4", "8x:5ms", powerSGD + "4:2ms"})
	}
	if priced {
		c.Cost, err = parseCost(cost)
	}
	if err != nil {
		return Compression{}, fmt.Errorf("compression %q: %w", s, err)
	}
	return c, nil
}

func parseCost(s string) (float64, error) {
	cost, err := parseTime(s)
	if err == nil && cost == 0 {
		return 0, fmt.Errorf("want a time above 0 (1ns is as good as nothing), not %q; without one it is estimated", s)
	}
	return cost, err
}

// parseTime reads a time with its unit, as seconds.
func parseTime(s string) (float64, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is no time such as 5ms", s)
	case d < 0:
		return 0, fmt.Errorf("%q: want a time of 0 or more", s)
	}
	return d.Seconds(), nil
}

// String is what ParseCompression reads.
func (c Compression) String() string {
	var s string
	switch {
	case c.Factor > 0:
		s = strconv.FormatFloat(c.Factor, 'f', -1, 64) + "x"
	case c.Rank > 0:
		s = powerSGD + strconv.Itoa(c.Rank)
	default:
		return noneWord
	}
	if c.Cost > 0 {
		s += ":" + duration(c.Cost).String()
	}
	return s
}

// MarshalText implements encoding.TextMarshaler.
func (c Compression) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Compression) UnmarshalText(b []byte) (err error) {
	*c, err = ParseCompression(string(b))
	return err
}
