package main

import (
	"encoding/json"
	"fmt"
	"math"

	"busbar/internal/result"
)

// room says whether the buffers of a case fit the memory of every rank.
type room struct {
	needed float64 // bytes, of the rank that needs most
	over   bool    // more than every rank may have
	why    string  // … because of this, on rank 0
	oom    string  // it should have fitted, and the system refused it
}

func (r room) fits() bool { return !r.over && r.oom == "" }

// prepareMemory finds which cases fit what is free on every rank, and allocates the buffers for those.
func (s *session) prepareMemory() error {
	limit, why, err := s.backend.room()
	if err != nil {
		return err
	}
	need := make([]float64, len(s.cases)) // of the rank that needs most: a root has more than the others
	for i, c := range s.cases {
		need[i] = s.backend.memory(c)
	}
	if err := s.world.Max(need); err != nil {
		return err
	}
	s.room = make([]room, len(s.cases))
	for i := range s.cases {
		s.room[i].needed = need[i]
		if need[i] > limit {
			s.room[i].over, s.room[i].why = true, why
		}
	}
	return s.reserve()
}

// hostMemory is how many bytes of buffers in host memory every rank may have where a library allocates scratch beside
// them (as a share of them), and what bounds them, in words for rank 0. Collective.
func (s *session) hostMemory(scratch float64) (limit float64, why string, err error) {
	bounds, err := memoryBounds("/")
	if err != nil && s.world.Rank == 0 {
		fmt.Fprintf(s.j.stderr, "rank: %v\n", err)
	}
	limit, why, err = s.planRoom(bounds, scratch)
	if s.hostShares > 1 {
		limit, why = limit/float64(s.hostShares), fmt.Sprintf("%s; backends that are interleaved share that by %d", why, s.hostShares)
	}
	if s.neighbours > 1 {
		limit, why = limit/float64(s.neighbours), fmt.Sprintf("%s; groups on one machine share that by %d", why, s.neighbours)
	}
	return limit, why, err
}

// hostShares counts the buffers that libraries have in host memory at the same time: those that measure on host memory
// have theirs in common, each rehearsal has its own, and a GPU's are not there.
func hostShares(libraries []library) int {
	common, own := 0, 0
	for _, l := range libraries {
		gpu, ok := l.(*ncclLibrary)
		switch {
		case !ok:
			common = 1
		case gpu.rehearsed():
			own++
		}
	}
	return common + own
}

// planRoom is hostMemory for any bounds of this rank.
func (s *session) planRoom(bounds []memoryBound, scratch float64) (limit float64, why string, err error) {
	mine, err := json.Marshal(rankMemory{Rank: s.j.rank, Host: s.hosts[s.world.Rank], Machine: s.machines[s.world.Rank], Bounds: bounds})
	if err != nil {
		return 0, "", err
	}
	all, err := s.comm.Gatherv(mine, 0)
	if err != nil {
		return 0, "", err
	}
	x := []float64{0}
	if s.world.Rank == 0 {
		memory := make([]rankMemory, len(all))
		for i, b := range all {
			if err := json.Unmarshal(b, &memory[i]); err != nil {
				return 0, "", err
			}
		}
		m := planMemory(memory, scratch)
		x[0], why = float64(m.Bytes), m.Why
	}
	err = s.world.Bcast(x)
	return x[0], why, err
}

// reserve allocates room for all cases that fit. Where the system refuses it on any rank, the largest cases are given
// up until it does not.
func (s *session) reserve() error {
	for {
		var largest float64
		for i := range s.cases {
			if s.room[i].fits() {
				largest = max(largest, s.room[i].needed)
			}
		}
		span := 0.0 // what the largest of the cases that fit takes on this rank
		for i, c := range s.cases {
			if s.room[i].fits() {
				span = max(span, s.backend.memory(c))
			}
		}
		mine := s.backend.reserve(int64(span))
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
		text := fmt.Sprintf("memory: rank %d on %s was refused the buffers although they should fit", s.world.Name(first), s.hosts[first])
		if mine != nil && first == s.world.Rank {
			text += fmt.Sprintf(": %v", mine)
		}
		given := false
		for i := range s.cases {
			if s.room[i].fits() && s.room[i].needed == largest {
				s.room[i].oom, given = text, true
			}
		}
		if !given {
			return fmt.Errorf("%s", text)
		}
	}
}

// leftOutByMemory is the record of a case whose buffers do not fit; nil: they do.
func (s *session) leftOutByMemory(i int) *result.Record {
	r := s.room[i]
	if r.fits() {
		return nil
	}
	needed := int64(min(r.needed, math.MaxInt64/2))
	record := skipped(s.cases[i], fmt.Sprintf("memory: it takes %s of buffers a rank; %s", binary(needed), r.why))
	if r.oom != "" {
		record.Status, record.Reason = result.OOM, r.oom
	}
	record.Needed = needed
	return record
}
