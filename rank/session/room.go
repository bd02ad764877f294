package session

import (
	"math"
	"slices"

	"busbar/internal/bench"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// room is whether the buffers of a case fit the memory of every rank.
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

// verdict is what becomes of a point whose buffers do not fit.
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
