package result

// KindRanks is the kind of the lines in a sidecar file.
const KindRanks = "ranks"

// RankTimes is one line of the sidecar (…_ranks.jsonl) that worlds of more than MaxInlineRanks ranks have: the times
// of all ranks for one record.
type RankTimes struct {
	Kind   string    `json:"kind"` // KindRanks
	Run    string    `json:"run"`  // ID of the run
	N      int       `json:"n"`    // number of the record
	Median []float64 `json:"median_s"`
	Late   []float64 `json:"late_s,omitempty"`
}
