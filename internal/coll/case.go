package coll

import (
	"fmt"
	"math"
)

// Case is one point of a sweep: what is measured, and in which mode.
//
// Count and SizeBytes follow nccl-tests (doc/PERFORMANCE.md and the parameters of each *_perf). SizeBytes is the S of
// algbw = S/t, after trimming. Count is what nccl-tests prints in its column, the elements of one rank's tensor: c for
// unshared collectives, and base, the share of one rank, for shared ones. For alltoallv SizeBytes is what the busiest
// rank sends or receives, its own part included, and Count is that number of elements before parts are trimmed.
//
// A case of another tool may be incomplete: then Type, Placement, Mode and World are 0, and SizeBytes and Count -1.
type Case struct {
	Collective Collective `json:"collective"`
	Type       DataType   `json:"type,omitzero"`
	Op         RedOp      `json:"op"`   // none where nothing is reduced
	Root       int        `json:"root"` // -1 without a root
	Placement  Placement  `json:"placement,omitzero"`
	Mode       Mode       `json:"mode,omitzero"`
	World      int        `json:"world,omitzero"`      // ranks
	SizeBytes  int64      `json:"size_bytes"`          // S, in bytes
	Count      int64      `json:"count"`               // elements of one rank's tensor
	Imbalance  Imbalance  `json:"imbalance,omitempty"` // of an alltoallv
	Groups     Groups     `json:"groups,omitzero"`     // World is then the size of a group
}

// WithSize sets Count and SizeBytes from a size in bytes: the share of one rank is trimmed to 16 bytes as nccl-tests
// does. A count of 0 means that the size is too small for this world and type; SizeBytes is then the size asked for.
func (c Case) WithSize(bytes int64) Case {
	s := int64(c.Type.Size())
	parts := int64(1)
	c.Count = bytes / s
	if c.Collective == AllToAllV {
		return c.withSplits(bytes)
	}
	if c.Collective.Shared() {
		parts = int64(c.World)
		c.Count = c.Count / parts &^ (16/s - 1)
	}
	c.SizeBytes = c.Count * parts * s
	if c.Count == 0 {
		c.SizeBytes = bytes
	}
	return c
}

// WithElements sets Count and SizeBytes from the number of elements in one rank's tensor. An error reports that the
// total does not fit 63 bits, or that the type or the world is unknown.
func (c Case) WithElements(elements int64) (Case, error) {
	parts := int64(c.Type.Size())
	if c.Collective.Shared() {
		parts *= int64(c.World)
	}
	if parts <= 0 {
		return c, fmt.Errorf("the size of %d elements is unknown: no data type, or no world size", elements)
	}
	if elements > math.MaxInt64/parts {
		return c, fmt.Errorf("%d elements of %s in a world of %d overflow the size in bytes", elements, c.Type, c.World)
	}
	c.Count, c.SizeBytes = elements, elements*parts
	if c.Collective == AllToAllV {
		c = c.withSplits(c.SizeBytes)
	}
	return c, nil
}

// SendCount is the number of elements that a rank's input holds; 0 where the rank has no input.
func (c Case) SendCount(rank int) int64 {
	switch c.Collective {
	case ReduceScatter, AllToAll:
		return c.Count * int64(c.World)
	case AllToAllV:
		return Total(c.Sends(rank))
	case Scatter:
		if rank != c.Root {
			return 0
		}
		return c.Count * int64(c.World)
	case Broadcast:
		if rank != c.Root {
			return 0
		}
	}
	return c.Count
}

// RecvCount is the number of elements that a rank's output holds; 0 where the rank has no output.
func (c Case) RecvCount(rank int) int64 {
	switch c.Collective {
	case AllGather, AllToAll:
		return c.Count * int64(c.World)
	case AllToAllV:
		return Total(c.Receives(rank))
	case Gather:
		if rank != c.Root {
			return 0
		}
		return c.Count * int64(c.World)
	case Reduce:
		if rank != c.Root {
			return 0
		}
	}
	return c.Count
}

// MemoryBytes returns the size of one rank's buffers: input and output, or the larger of them when in place.
func (c Case) MemoryBytes(rank int) int64 {
	s := int64(c.Type.Size())
	if c.Placement == InPlace {
		return max(c.SendCount(rank), c.RecvCount(rank)) * s
	}
	return (c.SendCount(rank) + c.RecvCount(rank)) * s
}

// AlgBW is the algorithm bandwidth in bytes per second: SizeBytes divided by the time of one operation in seconds.
func (c Case) AlgBW(seconds float64) float64 {
	if seconds <= 0 || c.SizeBytes < 0 {
		return 0
	}
	return float64(c.SizeBytes) / seconds
}

// BusBW is the bus bandwidth in bytes per second: AlgBW times BusFactor.
func (c Case) BusBW(seconds float64) float64 {
	return c.AlgBW(seconds) * c.Collective.BusFactor(c.World)
}

// BusFactor is busbw/algbw in a world of n ranks, as in nccl-tests' doc/PERFORMANCE.md.
func (c Collective) BusFactor(n int) float64 {
	w := float64(n)
	switch {
	case n < 1 || c == Other:
		return 0
	case c == AllReduce:
		return 2 * (w - 1) / w
	case c.Shared() || c == AllToAllV:
		return (w - 1) / w
	}
	return 1
}

// Point is the case without its mode, in one line for people: "all_reduce float32 sum 64 KiB in-place".
func (c Case) Point() string {
	s := c.Collective.String() + " " + c.Type.String()
	if c.Op != 0 {
		s += " " + c.Op.String()
	}
	if c.Imbalance != "" {
		s += " " + string(c.Imbalance)
	}
	if c.Groups.Divided() {
		s += " " + c.Groups.String()
	}
	if c.Root > 0 {
		s += fmt.Sprintf(" root %d", c.Root)
	}
	s += " " + FormatSize(c.SizeBytes, true)
	if c.Placement == InPlace {
		s += " in-place"
	}
	return s
}

func (c Case) String() string { return c.Point() + " " + c.Mode.String() }
