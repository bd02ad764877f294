package profiles

import (
	"encoding"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Notices on timelines: what profilers recorded of a training job. docs/timeline.md has the rules.

// Straggler reports a rank that other ranks wait for.
type Straggler struct {
	Rank     string          `json:"rank"`
	Last     int             `json:"last"` // collectives that it began last
	Of       int             `json:"of"`   // collectives that ranks began at different times
	Waited   units.Seconds   `json:"waited_s"`
	Share    units.Share     `json:"share"` // of the other ranks' time
	Steps    int             `json:"steps,omitempty"`
	OfSteps  int             `json:"of_steps,omitempty"` // in which it was last in at least half of the collectives
	FewSteps bool            `json:"few_steps,omitempty"`
	Causes   StragglerCauses `json:"causes"` // the largest first; none: unknown
}

// Cause is what a straggler spends its time on.
type Cause uint8

// The causes.
const (
	SlowCompute Cause = iota // it computes longer
	HostBound                // its GPU waits for its host to launch work
	Dependency               // its GPU is idle though work was launched: events, copies, other streams
	SlowCopies               // copies while nothing else runs
	Idle                     // idle time that the trace does not explain
)

var _ encoding.TextMarshaler = Cause(0)

var causes = []struct{ name, text string }{
	{"slow-compute", "it computes longer"},
	{"host-bound", "its GPU waits longer for its host to launch work (data loading, or a busy or slow CPU)"},
	{"dependency", "its GPU is idle longer although work was launched (waiting for events, copies or other streams)"},
	{"slow-copies", "its copies take longer while nothing else runs"},
	{"idle", "its GPU is idle longer, for a reason that the trace does not show"},
}

func (c Cause) String() string { return causes[c].name }

// MarshalText returns the name.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText accepts a name.
func (c *Cause) UnmarshalText(text []byte) error {
	for i, k := range causes {
		if k.name == string(text) {
			*c = Cause(i)
			return nil
		}
	}
	return fmt.Errorf("unknown cause %q", text)
}

// StragglerCause is a cause with its times.
type StragglerCause struct {
	Cause  Cause         `json:"cause"`
	Own    units.Seconds `json:"own_s"`
	Others units.Seconds `json:"others_s"` // median over the other ranks
}

func (s StragglerCause) String() string {
	return fmt.Sprintf("%s: %v, other ranks %v (median)", causes[s.Cause].text, s.Own, s.Others)
}

// StragglerCauses are all causes of one straggler.
type StragglerCauses []StragglerCause

func (all StragglerCauses) String() string {
	if len(all) == 0 {
		return "Cause unknown: computing, copies and idle time are about the same as on other ranks"
	}
	var texts []string
	for _, c := range all {
		texts = append(texts, c.String())
	}
	return "Cause: " + strings.Join(texts, "; ")
}

// Advice depends on the main cause.
func (s Straggler) Advice() string {
	main := slices.Clone(s.Causes)
	if len(main) == 0 {
		main = StragglerCauses{{Cause: Idle}}
	}
	switch main[0].Cause {
	case HostBound:
		return "look at how " + s.Rank +
			" gets its data and what else its host does: more workers of its DataLoader, " +
			"pin_memory, a shard of its own, logging and saving of rank 0 outside the step; and " +
			notice.Phrase("AdviceCores")
	case SlowCompute:
		return "give " + s.Rank + " as much work as the others (sequences of similar length together, stages or " +
			"experts " +
			"of similar size); if it has as much, its GPU is slower: " + notice.Phrase("AdviceHeldClocks")
	case SlowCopies:
		return "look at the copies of " + s.Rank +
			": pinned memory (pin_memory=True, non_blocking=True), and whether " +
			"the link of its GPU has all its lanes (nvidia-smi -q, section PCI)"
	}
	return "compare " + s.Rank + " and its host with the others: rank --preflight on all hosts; " +
		notice.Phrase("AdviceHeldClocks")
}
