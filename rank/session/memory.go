package session

import (
	"fmt"
	"io"

	"busbar/internal/notice"
	"busbar/rank/backend"
	"busbar/rank/launch"
	"busbar/rank/machine"
)

// memory plans the buffers of a world. It implements backend.Memory.
type memory struct {
	group  launch.Comm
	rank   machine.RankMemory // this rank, without its bounds
	stderr io.Writer
	// hostShares is the number of backends with buffers in host memory at the same time; 0 means 1.
	hostShares int
	// neighbours is the number of groups of a pattern with such buffers on one machine at the same time; 0 means 1.
	neighbours int
}

// HostRoom implements backend.Memory.
func (m *memory) HostRoom(scratch float64) (most float64, limit notice.MemoryLimit, err error) {
	bounds, err := machine.MemoryBounds("/")
	if err != nil && m.group.Rank() == 0 {
		fmt.Fprintf(m.stderr, "rank: %v\n", err)
	}
	most, limit, err = m.plan(bounds, scratch)
	limit.Libraries, limit.Groups = m.hostShares, m.neighbours
	return most / float64(max(1, m.hostShares)) / float64(max(1, m.neighbours)), limit, err
}

// DeviceRoom implements backend.Memory.
func (m *memory) DeviceRoom(device string, free int64) (most float64, limit notice.MemoryLimit, err error) {
	return m.plan([]machine.MemoryBound{{Name: device, Free: free}}, 0)
}

// plan implements HostRoom for any bounds of this rank.
func (m *memory) plan(bounds []machine.MemoryBound, scratch float64) (float64, notice.MemoryLimit, error) {
	own := m.rank
	own.Bounds = bounds
	var limit notice.MemoryLimit
	all, err := launch.GatherJSON(m.group, own)
	if err != nil {
		return 0, limit, err
	}
	var bytes int64
	if m.group.Rank() == 0 {
		p := machine.PlanMemory(all, scratch)
		bytes, limit = p.Bytes, p.Limit
	}
	err = launch.Broadcast(m.group, &bytes)
	return float64(bytes), limit, err
}

// hostShares counts the buffers in host memory at the same time. Libraries on hosts share theirs, each simulation has
// its own, and those of a GPU do not count.
func hostShares(libraries []backend.Library) int {
	common, own := 0, 0
	for _, l := range libraries {
		gpu, ok := l.(backend.Accelerator)
		switch {
		case !ok:
			common = 1
		case gpu.Simulated():
			own++
		}
	}
	return common + own
}
