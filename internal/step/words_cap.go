package step

import (
	"errors"
	"fmt"
	"strings"

	"busbar/internal/coll"
)

// The spellings of caps that are no sizes.
const (
	layerWord = "layer"
	allWord   = "all"
)

// Caps are the caps that are measured when none are asked for: from much smaller than DDP's default of 25 MiB to a
// single bucket.
func Caps() []Cap {
	return []Cap{1 << 20, 5 << 20, 10 << 20, 25 << 20, 50 << 20, 100 << 20, All}
}

// ParseCap reads the cap of buckets: a size such as 25M or 512K, layer or all.
func ParseCap(s string) (Cap, error) {
	word := strings.ToLower(strings.TrimSpace(s))
	switch {
	case word == layerWord:
		return PerLayer, nil
	case word == allWord:
		return All, nil
	case word == "" || word[0] < '0' || word[0] > '9':
		return 0, coll.Unknown("bucket cap", s, []string{layerWord, allWord, "25M"})
	}
	n, err := coll.ParseSize(s)
	switch {
	case err != nil:
		return 0, fmt.Errorf("bucket cap: %w", err)
	case n == 0:
		return 0, errors.New("bucket cap must be above 0; use layer for one bucket per layer")
	}
	return Cap(n), nil
}

// String is what ParseCap reads: layer, all, or a size in the shortest exact unit.
func (c Cap) String() string {
	switch c {
	case PerLayer:
		return layerWord
	case All:
		return allWord
	}
	return coll.FormatSize(int64(c), false)
}

// MarshalText implements encoding.TextMarshaler.
func (c Cap) MarshalText() ([]byte, error) {
	if c < 0 {
		return nil, fmt.Errorf("step: %d bytes are no bucket cap", int64(c))
	}
	return []byte(c.String()), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Cap) UnmarshalText(b []byte) (err error) {
	*c, err = ParseCap(string(b))
	return err
}
