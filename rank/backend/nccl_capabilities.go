package backend

import (
	"cmp"

	"busbar/internal/result"
	"busbar/rank/machine"
)

var (
	_ Accelerator = (*ncclLibrary)(nil)
	_ Describer   = (*ncclLibrary)(nil)
	_ Connector   = (*ncclLibrary)(nil)
	_ Diagnoser   = (*ncclLibrary)(nil)
	_ Warner      = (*glooLibrary)(nil)
	_ Prepared    = (*glooBackend)(nil)
	_ Prepared    = (*ncclBackend)(nil)
	_ Throttling  = (*ncclBackend)(nil)
)

// Graph implements Accelerator.
func (l *ncclLibrary) Graph(iterations int) int {
	if l.h.Options.GPU.Graph == 0 {
		return 0
	}
	return cmp.Or(iterations, GraphOperations)
}

// Links implements Accelerator.
func (l *ncclLibrary) Links() string {
	if l.Simulated() {
		return ""
	}
	return machine.GPULinks()
}

// Setup implements Prepared.
func (b *ncclBackend) Setup() []result.Setup { return b.prepared }

// Throttled implements Throttling.
func (b *ncclBackend) Throttled() []result.Throttled { return b.held }

// ConnectsAtFirstUse implements Connector.
func (l *ncclLibrary) ConnectsAtFirstUse() bool { return true }
