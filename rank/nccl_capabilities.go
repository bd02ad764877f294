package main

import (
	"cmp"

	"busbar/internal/result"
)

var (
	_ accelerator = (*ncclLibrary)(nil)
	_ describer   = (*ncclLibrary)(nil)
	_ connecting  = (*ncclLibrary)(nil)
	_ diagnosing  = (*ncclLibrary)(nil)
	_ describer   = (*glooLibrary)(nil)
	_ warner      = (*glooLibrary)(nil)
	_ prepared    = (*glooBackend)(nil)
	_ prepared    = (*ncclBackend)(nil)
	_ throttling  = (*ncclBackend)(nil)
)

// describeRank implements accelerator.
func (l *ncclLibrary) describeRank(rank int, line *result.Rank) {
	g := l.ranks[rank]
	line.Device, line.PCI, line.UUID, line.State = g.Name, g.PCI, g.UUID, g.State
}

// link implements accelerator.
func (l *ncclLibrary) link(rank int) *result.PCIe { return l.ranks[rank].PCIe }

// eventStep implements accelerator.
func (l *ncclLibrary) eventStep() float64 { return l.eventTick }

// graph implements accelerator.
func (l *ncclLibrary) graph(iterations int) int {
	if l.h.Options.GPU.graph == 0 {
		return 0
	}
	return cmp.Or(iterations, graphOperations)
}

// adjusted implements accelerator.
func (l *ncclLibrary) adjusted(worlds []int, size int) string { return l.worlds.adjusted(worlds, size) }

// setup implements prepared.
func (b *ncclBackend) setup() []result.Setup { return b.prepared }

// throttled implements throttling.
func (b *ncclBackend) throttled() []result.Throttled { return b.held }

// connectsAtFirstUse implements connecting.
func (l *ncclLibrary) connectsAtFirstUse() bool { return true }
