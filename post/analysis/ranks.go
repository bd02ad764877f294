package analysis

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/result"
	"busbar/internal/stats"
)

// RankUse is which ranks stood out in the records of a curve.
type RankUse struct {
	Records int               // with times of their ranks
	Slowest map[int]*Standout // by rank: its own times were the longest
	Latest  map[int]*Standout // by rank: it issued last, by more than the clocks' uncertainty
}

// Standout is one rank in the records in which it stood out.
type Standout struct {
	Rank  int
	Hosts []string // on which it ran, each once: other launches may have laid it elsewhere
	// of each record: how much longer than the median rank's time (Slowest), or how late (Latest), as a share of the
	// time that was waited for
	Excess []float64
	Late   []float64 // s, of each record (Latest only)
}

// Median is the median excess.
func (s *Standout) Median() float64 { return stats.Median(s.Excess) }

// add adds the times of a record's ranks; u may be nil.
func (u *RankUse) add(r *result.Record) *RankUse {
	k := r.Ranks
	if k == nil || r.World < 2 || r.Time.Seconds <= 0 {
		return u
	}
	if u == nil {
		u = &RankUse{Slowest: map[int]*Standout{}, Latest: map[int]*Standout{}}
	}
	u.Records++
	middle := 0.0
	switch {
	case len(k.Median) > 0:
		middle = stats.Median(k.Median)
	case len(k.Spread) == 5:
		middle = k.Spread[2]
	}
	if middle > 0 && k.SlowestS > middle {
		s := standout(u.Slowest, k.Slowest, k.SlowestHost)
		s.Excess = append(s.Excess, k.SlowestS/middle-1)
	}
	if k.Latest >= 0 && k.Lateness > k.Uncertainty {
		s := standout(u.Latest, k.Latest, k.LatestHost)
		s.Excess = append(s.Excess, k.Lateness/waited(r))
		s.Late = append(s.Late, k.Lateness)
	}
	return u
}

// waited is the time, in seconds, that lateness refers to: of one operation, or of a batch that is issued back to back,
// which a rank starts late once.
func waited(r *result.Record) float64 {
	if r.Mode == coll.Throughput {
		return r.Time.Seconds * float64(max(1, r.Time.Batch))
	}
	return r.Time.Seconds
}

func standout(of map[int]*Standout, rank int, host string) *Standout {
	s := of[rank]
	if s == nil {
		s = &Standout{Rank: rank}
		of[rank] = s
	}
	s.ranOn(host)
	return s
}

func (s *Standout) ranOn(host string) {
	if host != "" && !slices.Contains(s.Hosts, host) {
		s.Hosts = append(s.Hosts, host)
	}
}
