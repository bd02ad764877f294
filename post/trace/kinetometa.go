package trace

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// metadata is what stands beside the events, as JSON.
type metadata struct {
	schema, devices, distributed, base, name, own json.RawMessage
}

// place is where the value of a key belongs; nil of a key that says nothing here.
func (m *metadata) place(key []byte) *json.RawMessage {
	switch string(key) {
	case `"schemaVersion"`:
		return &m.schema
	case `"deviceProperties"`:
		return &m.devices
	case `"distributedInfo"`:
		return &m.distributed
	case `"baseTimeNanoseconds"`:
		return &m.base
	case `"traceName"`:
		return &m.name
	case `"busbar"`:
		return &m.own
	}
	return nil
}

// busbar is what busbar says of a step of its own; nil where another program wrote the file.
func (m *metadata) busbar() *Own {
	var own Own
	if json.Unmarshal(m.own, &own) != nil || own.Tool == "" {
		return nil
	}
	return &own
}

// baseTime is what times are counted from, in nanoseconds since 1970; 0 where the file does not say.
func (m *metadata) baseTime() int64 {
	base, _ := decimal(m.base, 0)
	return base
}

// gpu is the name of a device, by its number. A rank lists all GPUs of its host.
func (m *metadata) gpu(id int) string {
	var devices []struct {
		ID   json.RawMessage `json:"id"`
		Name string          `json:"name"`
	}
	if json.Unmarshal(m.devices, &devices) != nil {
		return ""
	}
	for _, d := range devices {
		if n, ok := decimal(d.ID, 0); ok && n == int64(id) {
			return d.Name
		}
	}
	return ""
}

// distributed is what torch.distributed said of itself. Numbers that it does not say are Unknown.
type distributed struct {
	rank, world int
	nccl        string
	groups      map[string]processGroup // by name
}

// processGroup is one of distributedInfo's pg_config.
type processGroup struct {
	about string
	size  int
	ranks []int // nil where the list is cut short
}

func (m *metadata) info() distributed {
	d := distributed{rank: Unknown, world: Unknown, groups: map[string]processGroup{}}
	var raw map[string]json.RawMessage
	if json.Unmarshal(m.distributed, &raw) != nil {
		return d
	}
	d.rank, d.world, d.nccl = ordinal(raw["rank"]), ordinal(raw["world_size"]), text(raw["nccl_version"])
	if d.world <= 0 || d.rank >= d.world {
		d.world = Unknown
	}
	var groups []map[string]json.RawMessage
	if json.Unmarshal(raw["pg_config"], &groups) != nil {
		return d
	}
	for _, g := range groups {
		d.groups[text(g["pg_name"])] = processGroup{about: text(g["pg_desc"]), size: ordinal(g["pg_size"]),
			ranks: rankList(g["ranks"])}
	}
	return d
}

// ordinal is a number of ranks or devices; Unknown where there is none.
func ordinal(value []byte) int {
	n, ok := decimal(value, 0)
	if !ok || n < 0 || n > 1<<24 {
		return Unknown
	}
	return int(n)
}

// rankList reads a list, or the text of one; nil where it is cut short by an ellipsis, as torch does with more than
// thirty.
func rankList(value []byte) []int {
	words := bytes.Trim(value, `"[] `)
	if len(words) == 0 {
		return nil
	}
	var ranks []int
	for word := range strings.SplitSeq(string(words), ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 0 {
			return nil
		}
		ranks = append(ranks, n)
	}
	return ranks
}
