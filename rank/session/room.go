package session

import (
	"math"
	"slices"

	"busbar/internal/bench"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// makeRoom decides for each point whether its buffers fit into the free memory of every rank, and reserves memory for
// the largest that fits. own has this rank's bytes. The verdict of a point that does not fit is over. Collective.
func (s *session) makeRoom(own []float64) ([]bench.Verdict, error) {
	most, limit, err := s.backend.Room()
	if err != nil {
		return nil, err
	}
	need := slices.Clone(own) // of the rank that needs most: a root needs more
	if err := s.world.Max(need); err != nil {
		return nil, err
	}
	verdicts := make([]bench.Verdict, len(need))
	for i, bytes := range need {
		if bytes > most {
			v := bench.Verdict{Status: result.Skipped, Needed: int64(min(bytes, math.MaxInt64/2))}
			v.Cause = notice.MemoryInsufficient{Needed: units.RoughBytes(v.Needed), Limit: limit}
			verdicts[i] = v
		}
	}
	return verdicts, s.reserve(verdicts, need, own)
}

// reserve allocates memory for all points that fit. If the system refuses it on any rank, it drops the largest points
// and retries.
func (s *session) reserve(verdicts []bench.Verdict, need, own []float64) error {
	for {
		var largest, span float64 // of any rank; on this rank
		for i, v := range verdicts {
			if !v.Over() {
				largest, span = max(largest, need[i]), max(span, own[i])
			}
		}
		mine := s.backend.Reserve(int64(span))
		refused := []float64{0} // the larger, the lower the rank
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
		for i, v := range verdicts {
			if !v.Over() && need[i] == largest {
				verdicts[i] = bench.Verdict{Status: result.OOM, Cause: refusal,
					Needed: int64(min(largest, math.MaxInt64/2))}
				given = true
			}
		}
		if !given {
			return notice.Fail(refusal)
		}
	}
}

// leftOutByMemory returns the record of a case whose buffers do not fit; nil if they fit.
func (s *session) leftOutByMemory(i int) *result.Record {
	v := s.room[i]
	if !v.Over() {
		return nil
	}
	record := bench.NotMeasured(result.Record{Case: s.cases[i]}, v.Status, v.Cause)
	record.Needed = v.Needed
	return record
}
