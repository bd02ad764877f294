package notice

import (
	"cmp"
	"fmt"
	"strings"
)

// Notices on the differences between two NCCL logs, A and B.

// LogDifference reports a difference in what the library did, with what may have caused it.
type LogDifference struct {
	What   string    `json:"what"`
	A      string    `json:"a"`
	B      string    `json:"b"`
	Causes LogCauses `json:"causes"`
}

// LogCauses are differences in what the library was given.
type LogCauses struct {
	All    []LogCause `json:"all"`
	Before bool       `json:"as_before"` // the same as of the difference before
}

// String states how likely causes are: logs show that both differ, never that one follows from the other.
func (c LogCauses) String() string {
	const most = 3
	var texts []string
	for _, one := range c.All {
		texts = append(texts, one.String())
	}
	switch n := len(texts); {
	case c.Before:
		return "The same may explain it."
	case n == 0:
		return "Nothing in the logs explains it."
	case n == 1:
		return "The most likely cause: " + texts[0] + "."
	case n > most:
		return fmt.Sprintf("Likely causes: %s; and %d more.", strings.Join(texts[:most], "; "), n-most)
	}
	return "Likely causes: " + strings.Join(texts, "; ") + "."
}

// LogCause is a difference in what the library was given.
type LogCause struct {
	What   string `json:"what"` // a variable, "world", "library", …
	A      string `json:"a"`    // "" where that log does not have it
	B      string `json:"b"`
	Effect Effect `json:"effect,omitempty"` // of a variable
}

func (c LogCause) String() string {
	switch {
	case c.Effect == "":
		return fmt.Sprintf("%s differs (%s in A, %s in B)", c.What, cmp.Or(c.A, "none"), cmp.Or(c.B, "none"))
	case c.A == "":
		return fmt.Sprintf("%s is set only in B (%s), and it %v", c.What, c.B, c.Effect)
	case c.B == "":
		return fmt.Sprintf("%s is set only in A (%s), and it %v", c.What, c.A, c.Effect)
	}
	return fmt.Sprintf("%s is %s in A and %s in B, and it %v", c.What, c.A, c.B, c.Effect)
}

// LogsAlike reports that no difference in effect was found.
type LogsAlike struct {
	Causes CausesAlone `json:"causes"` // differences that may have an effect that the logs do not show
}

// CausesAlone is a number of differences without an effect.
type CausesAlone int

func (c CausesAlone) String() string {
	if c == 0 {
		return "no difference that is known to matter"
	}
	return "settings, versions or machines differ, but the logs show no effect of it"
}

// WorldsDiffer reports logs of different worlds.
type WorldsDiffer struct {
	A string `json:"a"`
	B string `json:"b"`
}

// SettingsNotRecorded reports a log without settings.
type SettingsNotRecorded struct {
	Log string `json:"log"` // A or B
}

func (LogDifference) Code() Code       { return "log-difference" }
func (LogsAlike) Code() Code           { return "logs-alike" }
func (WorldsDiffer) Code() Code        { return "worlds-differ" }
func (SettingsNotRecorded) Code() Code { return "settings-not-recorded" }

var ncclDiffer = []Entry{
	{
		Example: LogDifference{
			"collective channels", "24", "2", LogCauses{[]LogCause{{"NCCL_TOPO_FILE", "", "/x.xml", "NCCL_TOPO_FILE"}}, false},
		},
		Severity: Info,
		Text:     "{What}: {A} in A; {B} in B",
		Details:  []string{"{Causes}"},
		Doc: `post log --against compares what the library did and what it was given. A cause is a difference that can
			have this effect; the logs do not prove that it has.`,
	},
	{
		Example:  LogsAlike{0},
		Severity: Info,
		Text:     "{Causes}",
		Doc:      "The logs were compared and show the same network, channels, topology, transports and choices.",
	},
	{
		Example:  WorldsDiffer{"8 ranks on 1 node", "16 ranks on 2 nodes"},
		Severity: Warning,
		Text:     "the world sizes differ ({A} in A, {B} in B): other differences may follow from that",
		Advice:   "compare logs of the same number of ranks and nodes",
		Doc:      "Channels, transports and choices depend on the number of ranks and nodes.",
	},
	{
		Example:  SettingsNotRecorded{"A"},
		Severity: Warning,
		Text:     "{Log} has no setting: which variables were set there is unknown",
		Advice:   "record the log with ENV in NCCL_DEBUG_SUBSYS",
		Doc:      "NCCL records settings only with ENV in NCCL_DEBUG_SUBSYS.",
	},
}
