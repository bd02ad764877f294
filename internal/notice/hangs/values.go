package hangs

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"busbar/internal/ranges"
	"busbar/internal/units"
)

// Ranks are global ranks, ascending.
type Ranks []int

// String is "rank 2", "ranks 0, 1 and 3", "ranks 0-11 and 14-31", "1,024 ranks".
func (r Ranks) String() string {
	switch len(r) {
	case 0:
		return "no rank"
	case 1:
		return fmt.Sprintf("rank %d", r[0])
	}
	var parts []string
	for _, part := range strings.Split(ranges.Format(r), ",") {
		from, to, _ := strings.Cut(part, "-")
		if a, b := number(from), number(to); a+1 == b { // two are no range
			parts = append(parts, from, to)
			continue
		}
		parts = append(parts, part)
	}
	const most = 12
	if n := len(parts) - most; n > 0 {
		return fmt.Sprintf("ranks %s and %d more ranges", strings.Join(parts[:most], ", "), n)
	}
	if n := len(parts); n > 1 {
		return "ranks " + strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return "ranks " + parts[0]
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// Waiting are ranks that wait.
type Waiting Ranks

func (w Waiting) String() string {
	if len(w) == 1 {
		return Ranks(w).String() + " waits"
	}
	return Ranks(w).String() + " wait"
}

// Call is what was called, as far as it is known.
type Call struct {
	Operation string `json:"operation"`
	Sequence  Number `json:"sequence,omitempty"` // in its group
	Group     string `json:"group,omitempty"`
	Elements  *int64 `json:"elements,omitempty"`
	Type      string `json:"type,omitempty"`
}

// String is "all_reduce #6 of group "dp" (1,024 float32)".
func (c Call) String() string {
	text := cmp.Or(c.Operation, "a collective")
	if c.Sequence > 0 {
		text += " " + c.Sequence.String()
	}
	if c.Group != "" {
		text += fmt.Sprintf(" of group %q", c.Group)
	}
	if c.Elements != nil {
		text += fmt.Sprintf(" (%s %s)", units.Grouped(*c.Elements), cmp.Or(c.Type, "elements"))
	}
	return text
}

// WaitsIn is ranks that wait in a call.
type WaitsIn struct {
	Ranks Ranks `json:"ranks"`
	Call  Call  `json:"call"`
}

func (w WaitsIn) String() string { return fmt.Sprintf("%v in %v", Waiting(w.Ranks), w.Call) }

// Side is what some ranks called.
type Side struct {
	Ranks Ranks `json:"ranks"`
	Call  Call  `json:"call"`
}

func (s Side) String() string { return fmt.Sprintf("%v called %v", s.Ranks, s.Call) }

// Sides are the different calls, that of the most ranks first.
type Sides []Side

func (s Sides) String() string { return units.First(s, 4, "other call") }

// Confidence is how sure a verdict is.
type Confidence string

// The confidences.
const (
	Certain Confidence = "certain"
	Likely  Confidence = "likely"
	Unclear Confidence = "unclear"
)

func (c Confidence) String() string { return string(c) }

// Number is the number of a collective; 0 is none.
type Number int64

func (n Number) String() string { return fmt.Sprintf("#%d", int64(n)) }

// Death is why a process ended.
type Death string

// The ways.
const (
	Exception   Death = "exception"
	Signal      Death = "signal"
	OutOfMemory Death = "out-of-memory"
	Unreachable Death = "unreachable" // by NCCL's RAS
	Silent      Death = "silent"      // its peers lost the connection, and it left neither an error nor a dump
)

func (d Death) String() string {
	return map[Death]string{
		Exception: "an exception ended it", Signal: "a signal ended it", OutOfMemory: "it ran out of memory",
		Unreachable: "NCCL's RAS cannot reach it", Silent: "it ended without a message",
	}[d]
}
