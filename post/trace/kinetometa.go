package trace

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// metadata holds the values beside the events, as JSON by key.
type metadata map[string]json.RawMessage

// metadataKeys are the keys to read.
var metadataKeys = map[string]bool{"schemaVersion": true, "deviceProperties": true, "distributedInfo": true,
	"baseTimeNanoseconds": true, "traceName": true, "busbar": true}

// busbar returns what busbar recorded of its own step; nil for files of other programs.
func (m metadata) busbar() *Own {
	var own Own
	if json.Unmarshal(m["busbar"], &own) != nil || own.Tool == "" {
		return nil
	}
	return &own
}

// gpus returns the names of devices by number. A rank lists all GPUs of its host.
func (m metadata) gpus() map[int]string {
	var devices []struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
	_ = json.Unmarshal(m["deviceProperties"], &devices) // values of another type are skipped
	names := map[int]string{}
	for _, d := range devices {
		names[d.ID] = d.Name
	}
	return names
}

// distributed returns torch.distributed's own metadata.
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
	_ = json.Unmarshal(m["distributedInfo"], &d) // values of another type are skipped
	if d.Rank != nil && (*d.Rank < 0 || *d.Rank >= mostRanks) {
		d.Rank = nil
	}
	if d.World < 0 || d.World > mostRanks || d.Rank != nil && *d.Rank >= d.World {
		d.World = 0
	}
	return d
}

// rankList reads a list, or a text with one; nil if torch truncated it with an ellipsis (more than thirty).
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
