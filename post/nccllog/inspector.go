package nccllog

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"busbar/internal/stats"
)

// measuredKey tells what the Inspector measured apart.
type measuredKey struct {
	comm, name, source string
	bytes              int64
}

// measured is what was measured of one collective and size, while it is read.
type measured struct {
	ranks, nodes int
	label        string
	hosts        map[string]bool
	calls        int64
	times        sampler
	algbw, busbw sampler
	least, most  float64
	byRank       map[int]*ofRank
}

type ofRank struct {
	calls int64
	times sampler
}

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
	maxMeasured    = 1 << 14
)

// inspectorRecord is one line of the Inspector.
type inspectorRecord struct {
	Header struct {
		ID    string `json:"id"`
		Name  string `json:"comm_name"`
		Rank  int    `json:"rank"`
		Ranks int    `json:"n_ranks"`
		Nodes int    `json:"nnodes"`
	} `json:"header"`
	Metadata struct {
		Host string `json:"hostname"`
	} `json:"metadata"`
	Coll *struct {
		Name   string  `json:"coll"`
		Bytes  int64   `json:"coll_msg_size_bytes"`
		Time   float64 `json:"coll_exec_time_us"`
		Source string  `json:"coll_timing_source"`
		Algbw  float64 `json:"coll_algobw_gbs"`
		Busbw  float64 `json:"coll_busbw_gbs"`
	} `json:"coll_perf"`
	Peer *struct {
		Name   string  `json:"p2p"`
		Bytes  int64   `json:"p2p_msg_size_bytes"`
		Time   float64 `json:"p2p_exec_time_us"`
		Source string  `json:"p2p_timing_source"`
		Algbw  float64 `json:"p2p_algobw_gbs"`
		Busbw  float64 `json:"p2p_busbw_gbs"`
	} `json:"p2p_perf"`
}

// inspectorLine reads one JSON object a line.
func (r *Reader) inspectorLine(line string, _ bool) {
	if strings.TrimSpace(line) == "" {
		return
	}
	r.log.Reading.Said++
	var rec inspectorRecord
	if err := json.Unmarshal([]byte(line), &rec); err != nil {
		r.log.Reading.Damaged++
		return
	}
	key := measuredKey{comm: rec.Header.ID}
	var time, algbw, busbw float64
	switch {
	case rec.Coll != nil:
		key.name, key.bytes, key.source = rec.Coll.Name, rec.Coll.Bytes, rec.Coll.Source
		time, algbw, busbw = rec.Coll.Time, rec.Coll.Algbw, rec.Coll.Busbw
	case rec.Peer != nil:
		key.name, key.bytes, key.source = rec.Peer.Name, rec.Peer.Bytes, rec.Peer.Source
		time, algbw, busbw = rec.Peer.Time, rec.Peer.Algbw, rec.Peer.Busbw
	}
	if key.name == "" || key.bytes < 0 || time < 0 {
		r.log.Reading.NotUnderstood++
		return
	}
	m := r.measure(key)
	r.log.Reading.Understood++
	m.ranks, m.nodes, m.label = rec.Header.Ranks, rec.Header.Nodes, kept(rec.Header.Name)
	if name := rec.Metadata.Host; name != "" && len(m.hosts) < maxLabels {
		m.hosts[kept(name)] = true
	}
	m.algbw.add(algbw, maxSamples)
	m.busbw.add(busbw, maxSamples)
	m.took(time)
	k := m.byRank[rec.Header.Rank]
	if k == nil {
		k = &ofRank{}
		m.byRank[rec.Header.Rank] = k
	}
	k.calls++
	k.times.add(time, maxRankSamples)
}

// furtherNames is the collective of what is counted together beyond the limit of kinds.
const furtherNames = "further ones"

// measure is where a record counts. Beyond the limit of kinds further sizes of one collective count together, and where
// even those are too many, all collectives.
func (r *Reader) measure(key measuredKey) *measured {
	m := r.measured[key]
	if m == nil && len(r.measured) >= maxMeasured {
		key = measuredKey{comm: key.comm, name: key.name, source: key.source, bytes: Unknown}
		if m = r.measured[key]; m == nil && len(r.measured) >= 2*maxMeasured {
			key = measuredKey{name: furtherNames, bytes: Unknown}
			m = r.measured[key]
		}
	}
	if m == nil {
		m = &measured{hosts: map[string]bool{}, byRank: map[int]*ofRank{}}
		key.comm, key.name, key.source = kept(key.comm), kept(key.name), kept(key.source)
		r.measured[key] = m
	}
	return m
}

func (m *measured) took(us float64) {
	if m.calls == 0 || us < m.least {
		m.least = us
	}
	m.most = max(m.most, us)
	m.calls++
	m.times.add(us, maxSamples)
}

// slowest is how many ranks are named.
const slowest = 8

func (r *Reader) inspected() []Inspected {
	all := []Inspected{}
	for key, m := range r.measured {
		s := stats.Summarise(m.times.values)
		out := Inspected{Comm: key.comm, Label: m.label, Ranks: m.ranks, Nodes: m.nodes, Name: key.name,
			What: collective(key.name), Bytes: key.bytes,
			Source: key.source, Calls: m.calls, Median: s.Median, P99: s.P99, Least: m.least, Most: m.most,
			Algbw: m.algbw.median(), Busbw: m.busbw.median(),
			Sampled: m.times.every > 1, Hosts: slices.Sorted(maps.Keys(m.hosts)),
			Seen: slices.Sorted(maps.Keys(m.byRank)),
			Slow: []SlowRank{}}
		out.Hosts, out.Seen = list(out.Hosts), list(out.Seen)
		for rank, k := range m.byRank {
			out.Slow = append(out.Slow, SlowRank{rank, k.times.median(), k.calls})
		}
		slices.SortFunc(out.Slow, func(a, b SlowRank) int {
			return cmp.Or(cmp.Compare(b.Median, a.Median), cmp.Compare(a.Rank, b.Rank))
		})
		out.Slow = out.Slow[:min(len(out.Slow), slowest)]
		all = append(all, out)
	}
	slices.SortFunc(all, func(a, b Inspected) int {
		return cmp.Or(cmp.Compare(a.Comm, b.Comm), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Bytes, b.Bytes),
			cmp.Compare(a.Source, b.Source))
	})
	return all
}
