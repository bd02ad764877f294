package backend

import (
	"fmt"

	"busbar/rank/launch"
)

// NewBarrier binds a barrier of these ranks as a step of the timed loop, for loops over something else than MPI.
func NewBarrier(group launch.Comm) (*launch.Barrier, error) {
	b, ok := group.(launch.LoopBarrier)
	if !ok {
		return nil, fmt.Errorf("the ranks have no barrier for the timed loop: %T lacks it", group)
	}
	return b.NewBarrier()
}
