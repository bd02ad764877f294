package nccl

import (
	"fmt"
	"strings"
)

// Config is what a communicator is created with beyond NCCL's defaults. The zero value passes nothing.
//
// It reaches the library as the shortest beginning of ncclConfig_t that carries what is set, with the version of NCCL
// in which the structure ended there: vendors put fields of their own at its end, so a long one would be misread.
type Config struct {
	// 0 is not set.
	CTAPolicy        int // 1: efficiency, 2: no CTAs where possible; since 2.27
	MinCTAs, MaxCTAs int // thread blocks of an operation, at least and at most; since 2.17
}

// prefix is the shortest ncclConfig_t that carries the fields: its bytes and version; 0 for none.
func (c Config) prefix() (bytes, version int) {
	switch {
	case c.CTAPolicy != 0:
		return 72, 22700
	case c.MinCTAs != 0 || c.MaxCTAs != 0:
		return 40, 21700
	}
	return 0, 0
}

// openCTAs is passed as maxCTAs if only minCTAs is set: NCCL 2.17 to 2.30 reject a minimum without a maximum. It
// exceeds any NCCL's number of channels, and NCCL lowers it to its own.
const openCTAs = 1024

// maxCTAs returns the value to pass; 0 for none.
func (c Config) maxCTAs() int {
	if c.MinCTAs != 0 && c.MaxCTAs == 0 {
		return max(c.MinCTAs, openCTAs)
	}
	return c.MaxCTAs
}

// String describes the passed configuration, for the record: "ncclConfig_t (40 bytes, version 21700): blocking=1
// minCTAs=4".
func (c Config) String() string {
	bytes, version := c.prefix()
	if bytes == 0 {
		return "no ncclConfig_t: the library's defaults"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "ncclConfig_t (%d bytes, version %d): blocking=1", bytes, version)
	for _, field := range []struct {
		name  string
		value int
	}{{"minCTAs", c.MinCTAs}, {"maxCTAs", c.maxCTAs()}, {"CTAPolicy", c.CTAPolicy}} {
		if field.value != 0 {
			fmt.Fprintf(&b, " %s=%d", field.name, field.value)
		}
	}
	return b.String()
}
