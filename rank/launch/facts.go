// Package launch finds out who a rank is and connects the ranks: what each reports of itself, the control channel to
// rank 0, and the clocks of their hosts.
package launch

import (
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"

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

// BuildIdentity is a short text that is equal for two ranks if and only if they run the same build; "unknown" if the
// program cannot read itself.
func BuildIdentity() string { return identityOf("/proc/self/exe") }

// identityOf hashes the linker's note: the whole file, of 20 MB for each rank, is read only without one.
func identityOf(path string) string {
	text := buildNote(path)
	if text == nil {
		var err error
		if text, err = os.ReadFile(path); err != nil {
			return "unknown"
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// buildNote is the note of the linker, with hashes of its input and output; nil without one.
func buildNote(path string) []byte {
	f, err := elf.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	section := f.Section(".note.go.buildid")
	if section == nil {
		return nil
	}
	note, err := section.Data()
	const header = 16 // name size, content size, type, "Go\0\0"
	if err != nil || len(note) <= header {
		return nil
	}
	return note
}

// RankNames lists ranks: "rank 1 on node07 (pid 1234)", "ranks 1 on node07, 2 on node08, 3 on node08 and 12 more".
func RankNames(ranks []Report) string {
	const most = 4
	ranks = slices.SortedFunc(slices.Values(ranks), func(a, b Report) int { return a.Rank - b.Rank })
	var list []string
	for _, r := range ranks[:min(most, len(ranks))] {
		text := fmt.Sprint(r.Rank)
		if r.Host != "" {
			text += " on " + r.Host
		}
		if r.PID > 0 && r.Standing != Answered {
			text += fmt.Sprintf(" (pid %d)", r.PID)
		}
		list = append(list, text)
	}
	text := strings.Join(list, ", ")
	if len(ranks) > most {
		text += fmt.Sprintf(" and %d more", len(ranks)-most)
	}
	if len(ranks) == 1 {
		return "rank " + text
	}
	return "ranks " + text
}
