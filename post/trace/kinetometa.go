package trace

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// metadata are the values beside the events, as JSON by their keys.
type metadata map[string]json.RawMessage

// metadataKeys are the keys that are read.
var metadataKeys = map[string]bool{"schemaVersion": true, "deviceProperties": true, "distributedInfo": true,
	"baseTimeNanoseconds": true, "traceName": true, "busbar": true}

// busbar is what busbar recorded of a step of its own; nil where another program wrote the file.
func (m metadata) busbar() *Own {
	var own Own
	if json.Unmarshal(m["busbar"], &own) != nil || own.Tool == "" {
		return nil
	}
	return &own
}

// gpus are the names of devices, by their number. A rank lists all GPUs of its host.
func (m metadata) gpus() map[int]string {
	var devices []struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
	_ = json.Unmarshal(m["deviceProperties"], &devices) // what is of another type is left out
	names := map[int]string{}
	for _, d := range devices {
		names[d.ID] = d.Name
	}
	return names
}

// distributed is what torch.distributed recorded of itself.
type distributed struct {
	Rank   *int           `json:"rank"`
	World  int            `json:"world_size"`
	NCCL   string         `json:"nccl_version"`
	Groups []processGroup `json:"pg_config"`
}

type processGroup struct {
	Name  string          `json:"pg_name"`
	About string          `json:"pg_desc"`
	Size  int             `json:"pg_size"`
	Ranks json.RawMessage `json:"ranks"`
}

func (m metadata) info() (d distributed) {
	_ = json.Unmarshal(m["distributedInfo"], &d) // what is of another type is left out
	if d.Rank != nil && (*d.Rank < 0 || *d.Rank >= mostRanks) {
		d.Rank = nil
	}
	if d.World < 0 || d.World > mostRanks || d.Rank != nil && *d.Rank >= d.World {
		d.World = 0
	}
	return d
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
