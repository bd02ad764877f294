package session

import (
	"fmt"
	"math"
	"slices"

	"busbar/internal/bench"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/rank/backend"
	"busbar/rank/launch"
	"busbar/rank/machine"
)

// room says whether the buffers of a case fit the memory of every rank.
type room struct {
	needed float64            // bytes, of the rank that needs most
	over   bool               // more than every rank may have
	limit  notice.MemoryLimit // what they may have, on rank 0
	oom    notice.Fact        // it should have fitted, and the system refused it
}

func (r room) fits() bool { return !r.over && r.oom == nil }

// makeRoom finds for each of some points, of which this rank's bytes are given, whether it fits what is free on every
// rank, and reserves memory for the largest that does. Collective.
func (s *session) makeRoom(own []float64) ([]room, error) {
	most, limit, err := s.backend.Room()
	if err != nil {
		return nil, err
	}
	need := slices.Clone(own) // of the rank that needs most: a root has more than the others
	if err := s.world.Max(need); err != nil {
		return nil, err
	}
	rooms := make([]room, len(need))
	for i := range rooms {
		rooms[i].needed = need[i]
		if need[i] > most {
			rooms[i].over, rooms[i].limit = true, limit
		}
	}
	return rooms, s.reserve(rooms, own)
}

// HostRoom implements backend.Memory.
func (w *worldRun) HostRoom(scratch float64) (most float64, limit notice.MemoryLimit, err error) {
	bounds, err := machine.MemoryBounds("/")
	if err != nil && w.world.Rank == 0 {
		fmt.Fprintf(w.run.Stderr, "rank: %v\n", err)
	}
	most, limit, err = w.planRoom(bounds, scratch)
	limit.Libraries, limit.Groups = w.hostShares, w.neighbours
	return most / float64(max(1, w.hostShares)) / float64(max(1, w.neighbours)), limit, err
}

// DeviceRoom implements backend.Memory.
func (w *worldRun) DeviceRoom(device string, free int64) (most float64, limit notice.MemoryLimit, err error) {
	return w.planRoom([]machine.MemoryBound{{Name: device, Free: free}}, 0)
}

// hostShares counts the buffers that libraries have in host memory at the same time: those that measure on host memory
// have theirs in common, each rehearsal has its own, and a GPU's are not there.
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

// planRoom is HostRoom for any bounds of this rank.
func (w *worldRun) planRoom(
	bounds []machine.MemoryBound,
	scratch float64,
) (most float64, limit notice.MemoryLimit, err error) {
	own := w.world.Rank
	all, err := launch.GatherJSON(w.world.Group, machine.RankMemory{Rank: w.world.Name(own), Host: w.world.Hosts[own],
		Machine: w.machines[own], Bounds: bounds})
	if err != nil {
		return 0, limit, err
	}
	var bytes int64
	if w.world.Rank == 0 {
		m := machine.PlanMemory(all, scratch)
		bytes, limit = m.Bytes, m.Limit
	}
	err = launch.Broadcast(w.world.Group, &bytes)
	return float64(bytes), limit, err
}

// reserve allocates room for all points that fit. Where the system refuses it on any rank, the largest points are given
// up until it does not.
func (s *session) reserve(rooms []room, own []float64) error {
	for {
		var largest, span float64 // of any rank; on this rank
		for i, r := range rooms {
			if r.fits() {
				largest, span = max(largest, r.needed), max(span, own[i])
			}
		}
		mine := s.backend.Reserve(int64(span))
		refused := []float64{0} // the more, the lower the rank
		if mine != nil {
			refused[0] = float64(s.world.Size - s.world.Rank)
		}
		if err := s.world.Max(refused); err != nil {
			return err
		}
		if refused[0] == 0 {
			return nil
		}
		first := s.world.Size - int(refused[0])
		refusal := notice.MemoryRefused{Rank: s.world.Name(first), Host: s.world.Hosts[first]}
		if mine != nil && first == s.world.Rank {
			refusal.Problem = mine.Error()
		}
		given := false
		for i := range rooms {
			if rooms[i].fits() && rooms[i].needed == largest {
				rooms[i].oom, given = refusal, true
			}
		}
		if !given {
			return notice.Fail(refusal)
		}
	}
}

// verdict says what becomes of a point whose buffers do not fit.
func (r room) verdict() (v bench.Verdict) {
	if r.fits() {
		return v
	}
	v = bench.Verdict{Status: result.OOM, Cause: r.oom, Needed: int64(min(r.needed, math.MaxInt64/2))}
	if r.oom == nil {
		v.Status = result.Skipped
		v.Cause = notice.MemoryInsufficient{Needed: units.RoughBytes(v.Needed), Limit: r.limit}
	}
	return v
}

// leftOutByMemory is the record of a case whose buffers do not fit; nil: they do.
func (s *session) leftOutByMemory(i int) *result.Record {
	v := s.room[i].verdict()
	if !v.Over() {
		return nil
	}
	record := skipped(s.cases[i], v.Cause)
	record.Status, record.Needed = v.Status, v.Needed
	return record
}
