package nccllogs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/ranges"
	"busbar/internal/units"
)

// Values that notices on NCCL's logs share. docs/log.md has the rules.

// Ranks are ranks of one communicator.
type Ranks []int

// mostGroups is how many groups of ranks are written; of more, some and their number.
const mostGroups = 12

// String is "rank 3", "ranks 0-7,12", "205 ranks (0,5,10,15,20,25,…)".
func (r Ranks) String() string { return r.after("rank ", "ranks ") }

// Numbers is "3", "0-7,12", "205 ranks (0,5,10,15,20,25,…)".
func (r Ranks) Numbers() string { return r.after("", "") }

func (r Ranks) after(one, several string) string {
	ranks := slices.Compact(slices.Sorted(slices.Values(r)))
	if len(ranks) == 1 {
		return fmt.Sprint(one, ranks[0])
	}
	groups := strings.Split(ranges.Format(ranks), ",")
	if len(groups) > mostGroups {
		return fmt.Sprintf("%d ranks (%s,…)", len(ranks), strings.Join(groups[:mostGroups/2], ","))
	}
	return several + strings.Join(groups, ",")
}

// Hosts are names of hosts.
type Hosts []string

// String names the first four.
func (h Hosts) String() string {
	const most = 4
	hosts := slices.Sorted(slices.Values(h))
	if len(hosts) > most {
		return fmt.Sprintf("%s and %d more hosts", strings.Join(hosts[:most], ", "), len(hosts)-most)
	}
	return strings.Join(hosts, ", ")
}

// Communicator is a communicator of a log: its name there, and its ranks where they are known.
type Communicator struct {
	Name  string `json:"name" alike:"-"`
	Ranks int    `json:"ranks,omitempty"`
}

func (c Communicator) String() string {
	name := cmp.Or(c.Name, "an unnamed communicator")
	if c.Ranks > 0 {
		return fmt.Sprintf("%s (%s)", name, units.Count(c.Ranks, "rank"))
	}
	return name
}

// Assigned is a variable of the environment with its value.
type Assigned struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (a Assigned) String() string { return a.Name + "=" + a.Value }

// unset is the advice to unset variables.
func unset(all []Assigned) string {
	var names []string
	for _, a := range all {
		names = append(names, a.Name)
	}
	return "unset " + strings.Join(names, " and ")
}

// Quoted is a message as the log has it.
type Quoted struct {
	Level string `json:"level"`
	Text  string `json:"text"`
	Place string `json:"place,omitempty"` // file and line of the library's source
	Times int    `json:"times"`
	Line  int    `json:"line,omitempty"` // of the first
	File  string `json:"file,omitempty"` // "" where there is one file
}

func (q Quoted) String() string {
	text := fmt.Sprintf("%s: %q", cmp.Or(q.Level, "WARN"), q.Text)
	if q.Place != "" {
		text += " at " + q.Place
	}
	if q.Times > 1 {
		text += fmt.Sprintf(", %d times", q.Times)
	}
	if q.Line > 0 {
		text += fmt.Sprintf(", first in line %d", q.Line)
		if q.File != "" {
			text += " of " + q.File
		}
	}
	return text
}

// Vendor is whose GPUs a log is of; their tools differ.
type Vendor bool

// The vendors.
const (
	NVIDIA Vendor = false
	AMD    Vendor = true
)

// MarshalText returns the name.
func (v Vendor) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText accepts a name.
func (v *Vendor) UnmarshalText(text []byte) error {
	*v = Vendor(string(text) == AMD.String())
	return nil
}

func (v Vendor) String() string {
	if v == AMD {
		return "amd"
	}
	return "nvidia"
}

// pick chooses a text.
func (v Vendor) pick(nvidia, amd string) string {
	if v == AMD {
		return amd
	}
	return nvidia
}

// topology is the command that shows how GPUs and NICs are connected.
func (v Vendor) topology() string { return v.pick("nvidia-smi topo -m", "rocm-smi --showtopo") }

// SearchResult is a pattern that NCCL's search over the topology found.
type SearchResult struct {
	Pattern  string  `json:"pattern"`
	Channels int     `json:"channels"`
	BwIntra  float64 `json:"bw_intra_GBps"`
	BwInter  float64 `json:"bw_inter_GBps"`
	Type     string  `json:"type"` // intra-node/inter-node
}

func (g SearchResult) String() string {
	return fmt.Sprintf("Pattern %s, nChannels %d, bw %.1f/%.1f, type %s", g.Pattern, g.Channels, g.BwIntra, g.BwInter,
		g.Type)
}

// Gigabytes is a bandwidth as NCCL writes it, in GB/s.
type Gigabytes float64

func (g Gigabytes) String() string { return fmt.Sprintf("%.1f GB/s", float64(g)) }
