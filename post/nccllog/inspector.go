package nccllog

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/stats"
)

// measuredKey tells what the Inspector measured apart.
type measuredKey struct {
	comm, name, source, sizes, how string
	bytes                          int64
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
	m.host(rec.Metadata.Host)
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

// furtherSizes is the size of what is counted together beyond the limit of kinds, and furtherNames its collective.
const (
	furtherSizes = "further sizes"
	furtherNames = "further ones"
)

// measure is where a record counts. Beyond the limit of kinds further sizes of one collective count together, and where
// even those are too many, all collectives.
func (r *Reader) measure(key measuredKey) *measured {
	m := r.measured[key]
	if m == nil && len(r.measured) >= maxMeasured {
		key = measuredKey{comm: key.comm, name: key.name, source: key.source, bytes: Unknown, sizes: furtherSizes}
		if m = r.measured[key]; m == nil && len(r.measured) >= 2*maxMeasured {
			key = measuredKey{name: furtherNames, bytes: Unknown, sizes: furtherSizes}
			m = r.measured[key]
		}
	}
	if m == nil {
		m = &measured{hosts: map[string]bool{}, byRank: map[int]*ofRank{}}
		key.comm, key.name, key.source, key.sizes, key.how = kept(key.comm), kept(key.name), kept(key.source),
			kept(key.sizes), kept(key.how)
		r.measured[key] = m
	}
	return m
}

func (m *measured) host(name string) {
	if name != "" && len(m.hosts) < maxLabels {
		m.hosts[kept(name)] = true
	}
}

func (m *measured) took(us float64) {
	if m.calls == 0 || us < m.least {
		m.least = us
	}
	m.most = max(m.most, us)
	m.calls++
	m.times.add(us, maxSamples)
}

// Names of what the Inspector writes for Prometheus.
const (
	promBusbw = "nccl_bus_bandwidth_gbs"
	promTime  = "nccl_collective_exec_time_microseconds"
)

// promLine reads one line of Prometheus' text format: the last snapshot of one GPU.
func (r *Reader) promLine(line string, _ bool) {
	name, rest, ok := strings.Cut(line, "{")
	labels, value, ok2 := strings.Cut(rest, "} ")
	if !ok || !ok2 || strings.HasPrefix(line, "#") {
		return
	}
	r.log.Reading.Said++
	name = strings.TrimSpace(name)
	if name != promBusbw && name != promTime {
		r.log.Reading.Passed++
		return
	}
	f := promLabels(labels)
	v, err := strconv.ParseFloat(firstWord(value), 64)
	if err != nil || v != v || v < 0 || v > 1e15 || f["collective"] == "" {
		r.log.Reading.NotUnderstood++
		return
	}
	m := r.measure(measuredKey{comm: f["comm_name"], name: f["collective"], bytes: Unknown, sizes: f["message_size"],
		how: f["algo_proto"]})
	r.log.Reading.Understood++
	m.ranks, _ = strconv.Atoi(f["nranks"])
	m.nodes, _ = strconv.Atoi(f["n_nodes"])
	m.host(f["node"])
	if name == promBusbw {
		m.busbw.add(v, maxSamples)
	} else {
		m.took(v)
	}
}

// promLabels reads a="b",c="d", of which values may have commas.
func promLabels(s string) map[string]string {
	f := map[string]string{}
	for s != "" {
		name, rest, ok := strings.Cut(s, `="`)
		if !ok {
			break
		}
		value, after, ok := strings.Cut(rest, `"`)
		if !ok {
			break
		}
		f[strings.Trim(name, ", ")] = value
		s = after
	}
	return f
}

// slowest is how many ranks are named.
const slowest = 8

func (r *Reader) inspected() []Inspected {
	all := []Inspected{}
	for key, m := range r.measured {
		s := stats.Summarise(m.times.values)
		out := Inspected{Comm: key.comm, Label: m.label, Ranks: m.ranks, Nodes: m.nodes, Name: key.name,
			What: collective(key.name), Bytes: key.bytes, Sizes: key.sizes, How: key.how,
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
			cmp.Compare(a.Sizes, b.Sizes), cmp.Compare(a.How, b.How), cmp.Compare(a.Source, b.Source))
	})
	return all
}
