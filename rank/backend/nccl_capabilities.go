package backend

import (
	"cmp"

	"busbar/internal/result"
)

var (
	_ Accelerator = (*ncclLibrary)(nil)
	_ Describer   = (*ncclLibrary)(nil)
	_ Connector   = (*ncclLibrary)(nil)
	_ Diagnoser   = (*ncclLibrary)(nil)
	_ Describer   = (*glooLibrary)(nil)
	_ Warner      = (*glooLibrary)(nil)
	_ Prepared    = (*glooBackend)(nil)
	_ Prepared    = (*ncclBackend)(nil)
	_ Throttling  = (*ncclBackend)(nil)
)

// DescribeRank implements Accelerator.
func (l *ncclLibrary) DescribeRank(rank int, line *result.Rank) {
	g := l.ranks[rank]
	line.Device, line.PCI, line.UUID, line.State = g.Name, g.PCI, g.UUID, g.State
}

// Link implements Accelerator.
func (l *ncclLibrary) Link(rank int) *result.PCIe { return l.ranks[rank].PCIe }

// EventStep implements Accelerator.
func (l *ncclLibrary) EventStep() float64 { return l.eventTick }

// Graph implements Accelerator.
func (l *ncclLibrary) Graph(iterations int) int {
	if l.h.Options.GPU.Graph == 0 {
		return 0
	}
	return cmp.Or(iterations, GraphOperations)
}

// Adjusted implements Accelerator.
func (l *ncclLibrary) Adjusted(worlds []int, size int) string { return l.worlds.adjusted(worlds, size) }

// Setup implements Prepared.
func (b *ncclBackend) Setup() []result.Setup { return b.prepared }

// Throttled implements Throttling.
func (b *ncclBackend) Throttled() []result.Throttled { return b.held }

// ConnectsAtFirstUse implements Connector.
func (l *ncclLibrary) ConnectsAtFirstUse() bool { return true }
