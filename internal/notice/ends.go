package notice

import "fmt"

// Notices on why a run ended early: the cause at the end of its results file, and of the points that it left in hand.

// RunSignalled is that a signal ended the run.
type RunSignalled struct {
	Signal string `json:"signal"`         // SIGTERM, SIGINT; SIGUSR1: after the point in hand
	Rank   *int   `json:"rank,omitempty"` // a single rank that got it; nil: the whole job did
	Host   string `json:"host,omitempty"`
}

// RunHung is that ranks did not arrive in time.
type RunHung struct {
	Ranks   []HungRank `json:"ranks,omitempty"` // that the others wait for; none: the library or the network hangs
	Problem string     `json:"problem"`         // what is known of all ranks
}

// HungRank is a rank that others wait for, and what it did last.
type HungRank struct {
	PlacedRank
	Standing  Standing `json:"standing"`
	Phase     string   `json:"phase,omitempty"`
	Case      string   `json:"case,omitempty"`
	Iteration uint64   `json:"iteration,omitempty"`
}

func (r HungRank) String() string {
	return fmt.Sprintf("rank %d on %s (%s)", r.Rank, r.Host, r.Standing)
}

// Standing is why others wait for a rank.
type Standing string

// The reasons.
const (
	StandingGone   Standing = "gone"   // its process ended
	StandingSilent Standing = "silent" // it does not answer
	StandingLeft   Standing = "left"   // it ended before the others
	StandingBehind Standing = "behind" // it is alive, and not as far as the others
)

// RankGone is that the process of a rank ended.
type RankGone struct {
	PlacedRank
	PID     int    `json:"pid"`
	During  InHand `json:"during"`
	Without string `json:"without,omitempty"` // its host, where there are others
}

// InHand is what a run was doing.
type InHand struct {
	Case  string `json:"case,omitempty"`
	Phase string `json:"phase"`
}

func (h InHand) String() string {
	if h.Case == "" {
		return "while the run was in phase " + h.Phase
	}
	return fmt.Sprintf("during %s (%s)", h.Case, h.Phase)
}

// RankCrashed is a defect of busbar on a rank.
type RankCrashed struct {
	PlacedRank
	Problem string `json:"problem"`
	Stack   string `json:"stack,omitempty"`
}

// SourceIncomplete is that the output of another tool breaks off.
type SourceIncomplete struct {
	Lacks SourceEnd `json:"lacks,omitempty"`
}

// SourceEnd is what an output lacks at its end; "" where it breaks off anywhere.
type SourceEnd string

// The ends.
const (
	SourceFooter   SourceEnd = "footer"
	SourceTable    SourceEnd = "table"
	SourceLastLine SourceEnd = "last-line"
	SourceFinalize SourceEnd = "mpi-finalize"
)

func (e SourceEnd) String() string { return TextOf(e) }

// PlacedRank is a rank and its host.
type PlacedRank struct {
	Rank int    `json:"rank"`
	Host string `json:"host"`
}
