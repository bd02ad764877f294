// Package launch finds out who a rank is and connects the ranks: what each reports of itself, the control channel to
// rank 0, and the clocks of their hosts.
package launch

import (
	"busbar/internal/units"
	"busbar/rank/machine"
)

// RankFacts is what every rank sends rank 0 at the start.
type RankFacts struct {
	Rank      int
	Host      string
	Machine   string // the same where ranks share a kernel, and so memory and a clock
	LocalRank int
	PID       int
	CPUs      string
	Quota     float64 // CPUs' worth of time that a cgroup grants; 0: no limit
	Build     string
	MPI       string // library version string
	Command   string // equal on all ranks
}

// BootID identifies a machine: several hosts may share a name, and containers of one host may have several.
func BootID(root string) string {
	return machine.ReadText(root, "proc/sys/kernel/random/boot_id")
}

// TellHostsApart gives machines of one name different ones, and a machine that is not known its host's name.
func TellHostsApart(ranks []RankFacts) {
	machines := map[string]map[string]bool{}
	for i := range ranks {
		f := &ranks[i]
		if f.Machine == "" {
			f.Machine = f.Host
		}
		if machines[f.Host] == nil {
			machines[f.Host] = map[string]bool{}
		}
		machines[f.Host][f.Machine] = true
	}
	for i := range ranks {
		if f := &ranks[i]; len(machines[f.Host]) > 1 {
			f.Host += "(" + units.Truncate(f.Machine, 4) + ")"
		}
	}
}
