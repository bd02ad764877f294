package nccllogs

import (
	"cmp"
	"fmt"

	"busbar/internal/units"
)

// Notices on what ranks did, from NCCL's logs.

// Called is what some ranks called.
type Called struct {
	Call  string `json:"call"`
	Ranks Ranks  `json:"ranks"`
}

func (c Called) String() string {
	if len(c.Ranks) == 1 {
		return fmt.Sprintf("%v calls %s", c.Ranks, c.Call)
	}
	return fmt.Sprintf("%v call %s", c.Ranks, c.Call)
}

// Sides are the different calls, that of the most ranks first.
type Sides []Called

func (s Sides) String() string { return units.First(s, 3, "other call") }

// Doubt is why a difference between ranks may be of the log alone.
type Doubt struct {
	Cause DoubtCause `json:"cause"`
	A     int64      `json:"a,omitempty"` // numbers of the cause
	B     int64      `json:"b,omitempty"`
}

// DoubtCause is the kind of a doubt.
type DoubtCause string

// The causes of doubts.
const (
	CutCalls     DoubtCause = "cut-calls"      // A cut messages may have been calls
	ComparedUpTo DoubtCause = "compared-up-to" // call A
	SameSize     DoubtCause = "same-size"      // several communicators have this size
	PartOfRanks  DoubtCause = "part-of-ranks"  // A of B ranks wrote their calls
)

func (d Doubt) String() string {
	switch d.Cause {
	case CutCalls:
		return units.Count(int(d.A), "cut message") + " may have been calls"
	case ComparedUpTo:
		return fmt.Sprintf("calls were compared up to number %d", d.A)
	case SameSize:
		return "several communicators have this size; the log distinguishes them by order alone"
	}
	return fmt.Sprintf("%d of %d ranks wrote their calls", d.A, d.B)
}

// OpCount is NCCL's number of a call.
type OpCount int64

func (n OpCount) String() string { return fmt.Sprintf("%d (%x in the log)", int64(n), int64(n)) }

// RanksDisagree reports calls that ranks of one communicator made differently.
type RanksDisagree struct {
	Communicator Communicator `json:"communicator"`
	Call         int64        `json:"call"` // from 1, among the collectives
	Sides        Sides        `json:"sides"`
	OpCount      *OpCount     `json:"op_count,omitempty"`
	Doubt        *Doubt       `json:"doubt,omitempty"`
}

// RanksBehind is ranks that made fewer calls, and the last of them.
type RanksBehind struct {
	Ranks Ranks  `json:"ranks"`
	Calls int64  `json:"calls"`
	By    int64  `json:"by"` // fewer than the furthest rank
	Last  string `json:"last,omitempty"`
}

func (b RanksBehind) String() string {
	text := fmt.Sprintf("%v: %s, %d fewer than the furthest", b.Ranks, units.Count(int(b.Calls), "call"), b.By)
	if b.Last != "" {
		text += "; the last was " + b.Last
	}
	return text
}

// RanksStopped reports ranks that made fewer calls than others.
type RanksStopped struct {
	Communicator Communicator  `json:"communicator"`
	Ranks        Ranks         `json:"ranks"`
	By           int           `json:"by"` // of the rank that is furthest behind
	Each         []RanksBehind `json:"each"`
	Doubt        *Doubt        `json:"doubt,omitempty"`
}

// InitUnfinished reports a communicator that some ranks did not finish creating.
type InitUnfinished struct {
	Communicator Communicator `json:"communicator"`
	Ranks        Ranks        `json:"ranks"`
	Started      int          `json:"started"`
	Completed    Completed    `json:"completed"`
	Silent       int          `json:"silent,omitempty"` // ranks that did not write
	Warned       bool         `json:"warned"`           // the log has warnings
}

// FirstCollectiveHung reports that all ranks were set up, and the first collective did not finish.
type FirstCollectiveHung struct {
	Operation string `json:"operation"`       // as PyTorch names it
	Pairs     int    `json:"pairs,omitempty"` // of ranks with direct access over PCIe
}

// EndAfterInit reports a log that ends when all ranks are set up.
type EndAfterInit struct {
	Pairs int `json:"pairs"` // of ranks with direct access
}

// RanksTimedOutApart reports ranks that waited for different collectives when PyTorch's watchdog gave up.
type RanksTimedOutApart struct {
	Group  string      `json:"group,omitempty"`
	Waited []WaitedFor `json:"waited"`
}

// WaitedFor is a collective of a process group, and the ranks that waited for it.
type WaitedFor struct {
	Call      int64  `json:"call"`
	Operation string `json:"operation"`
	Elements  int64  `json:"elements,omitempty"`
	Ranks     Ranks  `json:"ranks"`
}

func (w WaitedFor) String() string {
	text := fmt.Sprintf("%v: call %d, %s", w.Ranks, w.Call, w.Operation)
	if w.Elements > 0 {
		text += " of " + units.Count(int(w.Elements), "element")
	}
	return text
}

// Completed is a number of ranks; 0 is written as "no rank".
type Completed int

func (c Completed) String() string {
	if c == 0 {
		return "no rank"
	}
	return units.Count(int(c), "rank")
}

// CommunicatorAborted reports a communicator that was given up.
type CommunicatorAborted struct {
	Communicator Communicator `json:"communicator"`
	Ranks        Ranks        `json:"ranks"`
	N            int          `json:"aborted"`
	Clean        bool         `json:"clean,omitempty"`
}

// Build is a build of a library, and who runs it.
type Build struct {
	Library string `json:"library"` // with its version
	CUDA    string `json:"cuda,omitempty"`
	Git     string `json:"git,omitempty"`
	Who     string `json:"who,omitempty" alike:"-"`
}

func (b Build) String() string {
	text := b.Library
	if b.CUDA != "" {
		text += " for CUDA " + b.CUDA
	}
	if b.Git != "" {
		text += ", " + b.Git
	}
	if b.Who != "" {
		text += ": " + b.Who
	}
	return text
}

// MixedLibraryVersions reports processes with different libraries.
type MixedLibraryVersions struct {
	Libraries []string `json:"libraries"`
	Builds    []Build  `json:"builds"`
}

// MixedLibraryBuilds reports processes with different builds of one version.
type MixedLibraryBuilds struct {
	Library string  `json:"library"`
	Builds  []Build `json:"builds"`
}

// InitPart is a part of creating a communicator.
type InitPart struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

func (p InitPart) String() string { return fmt.Sprintf("%s %.2f s", p.Name, p.Seconds) }

// SlowInit reports a communicator that took long to create.
type SlowInit struct {
	Communicator Communicator `json:"communicator"`
	Rank         int          `json:"rank" alike:"-"`
	Took         TenthSeconds `json:"took_s" alike:"-"`
	Parts        []InitPart   `json:"parts" alike:"-"` // the three longest
}

// TenthSeconds is a time in seconds that is written to a tenth.
type TenthSeconds float64

func (s TenthSeconds) String() string { return fmt.Sprintf("%.1f s", float64(s)) }

// FailedCalls reports calls that failed without a warning.
type FailedCalls struct {
	Result ResultCode `json:"result"` // of ncclResult_t
	Lines  []string   `json:"lines" alike:"-"`
}

// ResultCode is a number of ncclResult_t.
type ResultCode string

var resultCodes = map[ResultCode]string{
	"1": "unhandled CUDA error", "2": "unhandled system error", "3": "internal error", "4": "invalid argument",
	"5": "invalid usage", "6": "remote error",
}

func (r ResultCode) String() string { return cmp.Or(resultCodes[r], "code "+string(r)) }
