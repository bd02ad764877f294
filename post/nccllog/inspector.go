package nccllog

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"busbar/internal/stats"
	"busbar/internal/units"
)

// sampler keeps a bounded number of values, evenly over all that came: when it is full, every second one goes, and from
// then on only every second one comes in.
type sampler struct {
	values []float64
	every  int64
	seen   int64
}

func (s *sampler) add(v float64, most int) {
	if s.every == 0 {
		s.every = 1
	}
	if s.seen%s.every == 0 {
		if len(s.values) == most {
			for i := range most / 2 {
				s.values[i] = s.values[2*i]
			}
			s.values = s.values[:most/2]
			s.every *= 2
		}
		if s.seen%s.every == 0 {
			s.values = append(s.values, v)
		}
	}
	s.seen++
}

func (s *sampler) median() float64 { return stats.Summarise(s.values).Median }

const (
	maxSamples     = 4096 // of one collective and size
	maxRankSamples = 64   // of one rank in it
)

// inspectorRecord is one line of the Inspector.
type inspectorRecord struct {
	Header struct {
		ID    string `json:"id"`
		Rank  int    `json:"rank"`
		Ranks int    `json:"n_ranks"`
	} `json:"header"`
	Call *inspectorCall `json:"coll_perf"`
}

// inspectorCall is one call; keys of sends and receives begin with p2p instead of coll.
type inspectorCall struct {
	Name   string  `json:"coll"`
	Bytes  int64   `json:"coll_msg_size_bytes"`
	Time   float64 `json:"coll_exec_time_us"`
	Source string  `json:"coll_timing_source"`
	Busbw  float64 `json:"coll_busbw_gbs"`
}

// inspectorLine reads one JSON object a line.
func (r *Reader) inspectorLine(line string, _ bool) {
	if strings.TrimSpace(line) == "" {
		return
	}
	r.log.Reading.Said++
	var rec inspectorRecord
	if err := json.Unmarshal([]byte(strings.ReplaceAll(line, `"p2p`, `"coll`)), &rec); err != nil {
		r.log.Reading.Damaged++
		return
	}
	c := rec.Call
	if c == nil || c.Name == "" || c.Bytes < 0 || c.Time < 0 {
		return
	}
	r.log.Reading.Understood++
	type key struct {
		comm, name, source string
		bytes              int64
	}
	m := row(r, &r.log.Inspected, key{rec.Header.ID, c.Name, c.Source, c.Bytes},
		Inspected{Comm: rec.Header.ID, Name: c.Name, Source: c.Source, Bytes: c.Bytes, byRank: map[int]*sampler{}})
	m.Ranks, m.Most = rec.Header.Ranks, max(m.Most, c.Time)
	m.Calls++
	m.busbw.add(c.Busbw, maxSamples)
	m.times.add(c.Time, maxSamples)
	rank := rec.Header.Rank
	if m.byRank[rank] == nil {
		m.byRank[rank] = &sampler{}
	}
	m.byRank[rank].add(c.Time, maxRankSamples)
}

// slowest is how many ranks are named.
const slowest = 8

// finishInspected summarises what the Inspector measured.
func finishInspected(all []Inspected) {
	for m := range units.Each(all) {
		m.Median, m.Busbw = m.times.median(), m.busbw.median()
		for rank, times := range m.byRank {
			m.Slow = append(m.Slow, SlowRank{rank, times.median()})
		}
		slices.SortFunc(m.Slow, func(a, b SlowRank) int {
			return cmp.Or(cmp.Compare(b.Median, a.Median), cmp.Compare(a.Rank, b.Rank))
		})
		m.Slow = m.Slow[:min(len(m.Slow), slowest)]
	}
	slices.SortFunc(all, func(a, b Inspected) int {
		return cmp.Or(cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Bytes, b.Bytes),
			cmp.Compare(a.Source, b.Source))
	})
}
