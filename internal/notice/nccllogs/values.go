package nccllogs

import (
	"fmt"
	"strings"

	"busbar/internal/units"
)

// Values of NCCL's logs that notices and tables show.

// PathsFound are how many paths of a kind NCCL found.
type PathsFound struct {
	Paths int     `json:"paths"`
	Type  string  `json:"type"` // NVL, PIX, …
	Rate  float64 `json:"rate_GBps"`
}

func (p PathsFound) String() string {
	return fmt.Sprintf("%d × %s %.1f GB/s", p.Paths, p.Type, p.Rate)
}

// ChannelsFound are the rings or trees that NCCL found.
type ChannelsFound struct {
	Channels int     `json:"channels"`
	Rate     float64 `json:"rate_GBps"`
	Types    string  `json:"types"` // of the paths within nodes, and between them
}

func (c ChannelsFound) String() string {
	return fmt.Sprintf("%d of %.1f GB/s (%s)", c.Channels, c.Rate, c.Types)
}

// TransportKind is how many pairs of ranks reach each other in one way.
type TransportKind struct {
	Kind  string `json:"kind"`
	How   string `json:"how"` // "" if unknown
	GDR   bool   `json:"gdr"`
	Pairs int    `json:"pairs"`
}

// String is "P2P/CUMEM between 56 pairs", "NET/IB with GPUDirect RDMA between 16 pairs".
func (k TransportKind) String() string {
	text := strings.ToUpper(k.Kind)
	if k.How != "" {
		text += "/" + k.How
	}
	if k.GDR {
		text += " with GPUDirect RDMA"
	}
	return fmt.Sprintf("%s between %s", text, units.Count(k.Pairs, "pair"))
}

// SlowestInit is the rank whose initialization took longest.
type SlowestInit struct {
	Rank  int
	Total float64 // s
	Parts []InitPart
}

func (s SlowestInit) String() string {
	var parts []string
	for _, p := range s.Parts {
		parts = append(parts, fmt.Sprintf("%s %.2f", p.Name, p.Seconds))
	}
	return fmt.Sprintf("max %.2f s (rank %d: %s)", s.Total, s.Rank, strings.Join(parts, ", "))
}

// NCCLCall is a call of a collective as far as all ranks must have it the same.
type NCCLCall struct {
	Name  string
	Count int64 // negative where it may differ
	Type  string
	Op    string // "" of what does not reduce
	Root  int    // negative of what has no root
}

func (c NCCLCall) String() string {
	text := c.Name
	if c.Count >= 0 {
		text = fmt.Sprintf("%s of %d %s", c.Name, c.Count, c.Type)
	}
	if c.Op != "" {
		text += ", " + c.Op
	}
	if c.Root >= 0 {
		text += fmt.Sprintf(", root %d", c.Root)
	}
	return text
}
