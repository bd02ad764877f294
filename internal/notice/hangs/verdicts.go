package hangs

import (
	"strings"

	"busbar/internal/notice"
)

// RankMissing is that ranks never entered a collective in which others wait.
type RankMissing struct {
	Ranks      Ranks      `json:"ranks"`
	Host       string     `json:"host,omitempty"` // of a single rank
	Call       Call       `json:"call"`
	Waiting    Waiting    `json:"waiting,omitempty"`
	Last       Number     `json:"last_common,omitempty"`
	NotNetwork bool       `json:"not_network,omitempty"`
	Confidence Confidence `json:"confidence"`
}

// CollectiveMismatch is that ranks called different collectives.
type CollectiveMismatch struct {
	Sides      Sides      `json:"sides"`
	Sequence   Number     `json:"sequence,omitempty"`
	Group      string     `json:"group,omitempty"`
	Last       Number     `json:"last_common,omitempty"`
	NotNetwork bool       `json:"not_network,omitempty"`
	Confidence Confidence `json:"confidence"`
}

// SizeMismatch is that ranks called a collective with sizes or types that do not fit together.
type SizeMismatch CollectiveMismatch

// RankDied is that processes ended before the others failed.
type RankDied struct {
	Ranks      Ranks      `json:"ranks,omitempty"`
	Host       string     `json:"host,omitempty"` // of a single rank
	Task       string     `json:"task,omitempty"` // of a launcher, instead of ranks
	How        Death      `json:"how"`
	Call       *Call      `json:"call,omitempty"`
	Last       Number     `json:"last_common,omitempty"`
	Confidence Confidence `json:"confidence"`
}

// AllWaiting is that all ranks entered a collective, and it did not finish.
type AllWaiting struct {
	Ranks      Ranks      `json:"ranks"`
	Call       Call       `json:"call"`
	Last       Number     `json:"last_common,omitempty"`
	Confidence Confidence `json:"confidence"`
}

// NoHang is that all collectives of all ranks finished.
type NoHang struct {
	Ranks      Ranks      `json:"ranks"`
	Confidence Confidence `json:"confidence"`
}

// InsufficientEvidence is that the evidence does not decide.
type InsufficientEvidence struct {
	Absent     Ranks      `json:"absent,omitempty"` // ranks without evidence
	Call       *Call      `json:"call,omitempty"`
	Known      *WaitsIn   `json:"known,omitempty"` // of a group whose members are unknown
	Last       Number     `json:"last_common,omitempty"`
	Confidence Confidence `json:"confidence"`
}

// VerdictCode is the code of a verdict as post hang has it in JSON.
func VerdictCode(of notice.Fact) string {
	return strings.TrimPrefix(string(notice.CodeOf(of)), "hang-")
}
