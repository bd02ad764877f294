package profiles

import (
	"fmt"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices on what values of a timeline depend on. docs/timeline.md has the rules.

// CUDAGraphs reports CUDA graphs of which a trace has no kernels.
type CUDAGraphs struct {
	Time units.Seconds `json:"time_s"`
}

// ClocksDisagree reports activities that ran before they were launched.
type ClocksDisagree struct {
	Early int `json:"early"`
	Of    int `json:"of"`
}

// StepPatternUnmatched reports a --step-pattern that matches nothing.
type StepPatternUnmatched struct {
	Pattern string `json:"pattern"`
}

// OnlyCopies reports a device without kernels.
type OnlyCopies struct{}

// RankClash is recordings that are named as one rank, and cannot be.
type RankClash struct {
	Rank  int      `json:"rank"`
	Files []string `json:"files"`
}

func (c RankClash) String() string { return fmt.Sprintf("rank %d (%s)", c.Rank, units.Some(c.Files)) }

// SameRank reports recordings that are named as one rank, and cannot be.
type SameRank struct {
	Ranks []RankClash `json:"ranks"`
}

// Advice has braces, which a template cannot.
func (SameRank) Advice() string {
	return "give each file the rank of the world, not the local one, and one job at a time: nsys profile -o " +
		"name_rank%q{RANK}, or torch.distributed.get_rank() in the name"
}

// NonBlockingCalls reports operations whose own time is not in the trace.
type NonBlockingCalls struct{}

// CommunicatorUnclear reports calls whose communicator several groups of ranks may have.
type CommunicatorUnclear struct {
	Name  string `json:"communicator"`
	Size  int    `json:"size"`
	Ranks int    `json:"ranks"`           // that have one of this name
	World int    `json:"world,omitempty"` // 0: more ranks than the communicator has
}

// CallsUnmatched reports that no call could be matched across ranks.
type CallsUnmatched struct {
	Calls int `json:"calls"`
}

// CommunicatorsUnknown reports that alike calls of several communicators may have been matched.
type CommunicatorsUnknown struct{}

// RanksMissing reports that not all ranks were read.
type RanksMissing struct {
	Read  int `json:"read"`
	World int `json:"world"`
}

// PartialStep reports a step that was not recorded whole.
type PartialStep struct {
	Kernels int     `json:"kernels"`
	Typical float64 `json:"typical"`
}

// Percent is a share in percent.
type Percent float64

func (p Percent) String() string { return fmt.Sprintf("%.1f %%", float64(p)) }

// MatchedBy is how calls were matched across ranks, and how many.
type MatchedBy struct {
	How   MatchMethod `json:"by"`
	Calls int         `json:"calls"`
}

// MatchMethod is how calls were matched.
type MatchMethod string

// The methods.
const (
	ByNumber MatchMethod = "number"
	ByStep   MatchMethod = "step-order"
)

func (m MatchMethod) String() string { return notice.TextOf(m) }

// MatchedByAll are all methods of one timeline.
type MatchedByAll []MatchedBy

// String follows the word "by".
func (all MatchedByAll) String() string {
	var texts []string
	for _, m := range all {
		if len(all) == 1 {
			return m.How.String()
		}
		texts = append(texts, fmt.Sprintf("%v (%d)", m.How, m.Calls))
	}
	if texts == nil {
		return "nothing"
	}
	return strings.Join(texts, ", and by ")
}

// NotInBenchmark reports collectives that the benchmark lacks.
type NotInBenchmark struct {
	Missing []MissingCurve `json:"missing"`
}

// MissingCurve is a collective of the training that cannot be compared.
type MissingCurve struct {
	Collective string           `json:"collective"`
	Type       string           `json:"type"`
	Ranks      int              `json:"ranks"`
	Size       units.RoughBytes `json:"size_bytes,omitempty"` // outside of From and To
	From       units.RoughBytes `json:"from_bytes,omitempty"`
	To         units.RoughBytes `json:"to_bytes,omitempty"`
}

func (m MissingCurve) String() string {
	if m.To > 0 {
		return fmt.Sprintf("%s %v %s over %s: the benchmark has %v to %v only", m.Collective, m.Size, m.Type,
			units.Count(m.Ranks, "rank"), m.From, m.To)
	}
	return fmt.Sprintf("the benchmark has no measured %s %s of NCCL over %s", m.Collective, m.Type,
		units.Count(m.Ranks, "rank"))
}

// Advice is the command that measures what is missing.
func (n NotInBenchmark) Advice() string {
	var all []string
	for _, m := range n.Missing {
		all = units.AddOnce(all, fmt.Sprintf("%s -d %s with %s", m.Collective, m.Type, units.Count(m.Ranks, "rank")))
	}
	return "measure on the same machine: rank --backend nccl --placement in -b 1M -e 1G -f 2 --collective " +
		strings.Join(all, ", and ")
}
