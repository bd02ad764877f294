package flight

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"busbar/post/hang/evidence"
)

// number is an integer that some versions write as a text.
type number int64

func (n *number) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 64)
	if err != nil {
		v = 0 // null, or a float that nothing here depends on
	}
	*n = number(v)
	return nil
}

// document is the JSON form of a dump.
type document struct {
	Version string                       `json:"version"`
	Entries []jsonEntry                  `json:"entries"`
	Config  map[string]groupConfig       `json:"pg_config"`
	Status  map[string]map[string]number `json:"pg_status"`
}

// jsonEntry has a field for each key that is used.
type jsonEntry struct {
	Record    number     `json:"record_id"`
	GroupID   number     `json:"pg_id"`
	Group     []string   `json:"process_group"`
	Seq       number     `json:"collective_seq_id"`
	OldSeq    number     `json:"seq_id"`
	P2PSeq    number     `json:"p2p_seq_id"`
	Name      string     `json:"profiling_name"`
	In        [][]number `json:"input_sizes"`
	Out       [][]number `json:"output_sizes"`
	Types     []string   `json:"input_dtypes"`
	State     string     `json:"state"`
	Created   number     `json:"time_created_ns"`
	Started   number     `json:"time_discovered_started_ns"`
	Completed number     `json:"time_discovered_completed_ns"`
	Retired   bool       `json:"retired"`
	Timeout   number     `json:"timeout_ms"`
	P2P       bool       `json:"is_p2p"`
}

func (b *builder) readJSON(data []byte) error {
	var d document
	var err error
	if text := strings.TrimSpace(string(data[:min(len(data), 64)])); strings.HasPrefix(text, "[") {
		err = json.Unmarshal(data, &d.Entries)
	} else {
		err = json.Unmarshal(data, &d)
	}
	if err != nil {
		return &NotError{err.Error()}
	}
	if d.Config == nil && d.Status == nil && len(d.Entries) == 0 {
		return &NotError{"it has neither entries nor process groups"}
	}
	b.JSON, b.Version = true, d.Version
	for name, c := range d.Config {
		b.config[name] = c
	}
	for id, s := range d.Status {
		known := groupStatus{-1, -1}
		if n, has := s["last_enqueued_collective"]; has {
			known.enqueued = int64(n)
		}
		if n, has := s["last_completed_collective"]; has {
			known.finished = int64(n)
		}
		b.status[id] = known
	}
	b.Entries = make([]evidence.Entry, 0, len(d.Entries))
	for i := range d.Entries {
		if err := b.add(b.jsonRaw(&d.Entries[i])); err != nil {
			return err
		}
	}
	return nil
}

func (b *builder) jsonRaw(e *jsonEntry) *raw {
	r := &raw{
		name: e.Name, record: int64(e.Record), seq: max(int64(e.Seq), int64(e.OldSeq)), p2p: int64(e.P2PSeq),
		timeout: int64(e.Timeout), state: e.State, started: e.Started > 0, end: e.Completed > 0,
	}
	r.entry = evidence.Entry{Created: int64(e.Created), Retired: e.Retired, P2P: e.P2P}
	r.group.id = fmt.Sprint(int64(e.GroupID))
	if len(e.Group) >= 2 {
		r.group.name, r.group.desc = e.Group[0], e.Group[1]
	}
	b.in, b.out, b.types = jsonSizes(b.in[:0], e.In), jsonSizes(b.out[:0], e.Out), e.Types
	return r
}

func jsonSizes(to []int64, shapes [][]number) []int64 {
	for _, shape := range shapes {
		n := int64(1)
		for _, d := range shape {
			n = elements(n, int64(d))
		}
		to = append(to, n)
	}
	return to
}
