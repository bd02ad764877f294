package notice

import (
	"fmt"
	"strings"

	"busbar/internal/units"
)

// Notices on nodes and links, from rank --pattern. docs/pattern.md has the rules.

// Multiple is a factor of a time: "2.41".
type Multiple float64

func (m Multiple) String() string {
	switch x := float64(m); {
	case x < 9.995:
		return fmt.Sprintf("%.2f", x)
	case x < 99.95:
		return fmt.Sprintf("%.1f", x)
	default:
		return fmt.Sprintf("%.0f", x)
	}
}

// Within is a factor as its distance from 1: "4.0 %", "2.9 times".
type Within float64

func (w Within) String() string {
	switch p := 100 * (float64(w) - 1); {
	case p < 9.95:
		return fmt.Sprintf("%.1f %%", p)
	case p < 99.5:
		return fmt.Sprintf("%.0f %%", p)
	}
	return Multiple(w).String() + " times"
}

// NodeOrLink is a node, or the two nodes of a link.
type NodeOrLink []string

func (n NodeOrLink) String() string {
	if len(n) == 2 {
		return "link " + n[0] + "+" + n[1]
	}
	return strings.Join(n, ", ")
}

// SlowPart is how slow a node or a link is.
type SlowPart struct {
	Link   bool     `json:"link,omitempty"`
	Halves bool     `json:"halves,omitempty"` // measured in halves, not in pairs
	Times  Multiple `json:"times"`            // as long as the others take
	Slow   int      `json:"slow"`             // pairs or rounds that are slow
	Of     int      `json:"of"`
	Rate   *Rate    `json:"rate,omitempty"` // of rails and GPUs
}

// Rate is the bus bandwidth of pairs, and the usual one.
type Rate struct {
	BusBW units.Bandwidth `json:"busbw"` // bytes per second
	Usual units.Bandwidth `json:"usual"`
}

func (r Rate) String() string { return units.Gigabytes(float64(r.BusBW)) + " of " + r.Usual.String() }

func (s SlowPart) String() string {
	if r := s.Rate; r != nil {
		s.Rate = nil
		return r.String() + "; " + s.String()
	}
	switch {
	case s.Link:
		return fmt.Sprintf("it takes %v times as long as the others (both ends are faster with others)", s.Times)
	case s.Halves:
		return fmt.Sprintf("its half takes %v times as long as the other (in %d of %d rounds)", s.Times, s.Slow, s.Of)
	}
	return fmt.Sprintf("its pairs take %v times as long as the others (%d of %d pairs slow)", s.Times, s.Slow, s.Of)
}

// SlowNode reports a node or a link that is slow, also when it is measured alone, or was not measured alone.
type SlowNode struct {
	Nodes  NodeOrLink `json:"nodes"`
	Part   SlowPart   `json:"part"`
	Alone  Multiple   `json:"alone,omitempty"`
	NotYet bool       `json:"not_alone,omitempty"`
}

// SlowTogether reports a node or a link that is slow only while the others measure too.
type SlowTogether struct {
	Nodes    NodeOrLink `json:"nodes"`
	Part     SlowPart   `json:"part"`
	Repeated Multiple   `json:"repeated"`
	Alone    Multiple   `json:"alone"`
}

// SlowOnce reports a node or a link that was slow once, and not alone.
type SlowOnce struct {
	Nodes NodeOrLink `json:"nodes"`
	Part  SlowPart   `json:"part"`
	Alone Multiple   `json:"alone"`
}

// SlowPath reports slow nodes that are fast among themselves.
type SlowPath struct{}

// UnevenPairs reports many slow pairs.
type UnevenPairs struct {
	Pairs int `json:"pairs"`
}

// RailsShare reports that rails slow each other down.
type RailsShare struct {
	Times Multiple `json:"times"`
	Rate  *Rate    `json:"rate,omitempty"`
}

// UnclearHalves reports halves that no single node explains.
type UnclearHalves struct {
	Spread Within `json:"spread"`
}

// NoSlowNode reports that no node or link is slow.
type NoSlowNode struct {
	What     bool      `json:"links"`
	Nodes    Within    `json:"nodes,omitempty"`
	Pairs    Within    `json:"pairs,omitempty"`
	GPUs     Within    `json:"gpus,omitempty"`
	Halves   Within    `json:"halves,omitempty"`
	Noise    Within    `json:"noise,omitempty"` // of a time, where it is large
	Unseen   Within    `json:"unseen,omitempty"`
	Suspects []Cleared `json:"suspects,omitempty"`
}

// Cleared is a node or a link that took long in the rounds, and not again.
type Cleared struct {
	Nodes    NodeOrLink `json:"nodes"`
	Times    Multiple   `json:"times"`
	Repeated Multiple   `json:"repeated,omitempty"`
	Alone    Multiple   `json:"alone,omitempty"`
}

func (c Cleared) String() string {
	text := fmt.Sprintf("%v took %v times as long in the rounds", c.Nodes, c.Times)
	var again []string
	if c.Repeated > 0 {
		again = append(again, c.Repeated.String()+" repeated")
	}
	if c.Alone > 0 {
		again = append(again, c.Alone.String()+" alone")
	}
	if again != nil {
		text += " (" + strings.Join(again, ", ") + ")"
	}
	return text
}

// NothingToCompare reports that a point has no values.
type NothingToCompare struct{}

// OnePair reports that two nodes make one pair.
type OnePair struct {
	Nodes []string `json:"nodes"`
}

// GroupsMissing reports groups without a value.
type GroupsMissing struct {
	Groups int `json:"groups"`
}
