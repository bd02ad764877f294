package backend

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"busbar/cudart"
	"busbar/internal/units"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/machine"
)

// VisibleGPUs is what a rank sees of the GPUs of its machine.
type VisibleGPUs struct {
	Machine string
	UUIDs   []string      // by ordinal
	NUMA    []int         // by ordinal; -1: not known
	Near    []int         // NUMA nodes of the CPUs that the rank may use
	None    *exit.Failure // why it sees none; nil where it sees some
}

// sees is what a rank sees of its machine's GPUs; err is the reason if it sees no GPU.
func (h *Host) sees(devices []cudart.Device, err error) VisibleGPUs {
	v := VisibleGPUs{
		Machine: h.Ranks[h.Rank].Machine,
		Near:    machine.NearNodes(machine.NUMANodes("/"), h.Ranks[h.Rank].CPUs),
	}
	for _, d := range devices {
		v.UUIDs, v.NUMA = append(v.UUIDs, d.UUID), append(v.NUMA, d.NUMA)
	}
	if err != nil {
		v.None = exit.FailureOf(err)
	}
	return v
}

// AssignGPUs gives each rank an ordinal among the GPUs that it sees, such that no two ranks of a machine share one if
// possible, however the launcher exposes them: all to every rank, one to each, or sets that overlap. A rank
// gets a GPU near its CPUs where there is a choice, else that of its place among the ranks of its machine. shared[r]
// reports that rank r shares its GPU; a rank that sees no GPU has the ordinal -1.
func AssignGPUs(ranks []VisibleGPUs) (ordinal []int, shared []bool) {
	ordinal, shared = matchGPUs(ranks), make([]bool, len(ranks))
	users := map[string]int{}
	for r, v := range ranks {
		if ordinal[r] < 0 && len(v.UUIDs) > 0 {
			place := 0
			for _, other := range ranks[:r] {
				place += b2i(other.Machine == v.Machine)
			}
			ordinal[r] = v.wishes(place)[0]
		}
		if ordinal[r] >= 0 {
			users[v.key(ordinal[r])]++
		}
	}
	for r, v := range ranks {
		shared[r] = ordinal[r] >= 0 && users[v.key(ordinal[r])] > 1
	}
	return ordinal, shared
}

// key names the GPU of that ordinal among those of all machines.
func (v VisibleGPUs) key(ordinal int) string { return v.Machine + " " + v.UUIDs[ordinal] }

// matchGPUs gives as many ranks as can be a GPU that no other rank has; -1 means no GPU. A rank gets none only if
// the ranks before it leave none, whichever they take: all before the first -1 is the longest beginning of the launch
// that has a GPU for each rank.
func matchGPUs(ranks []VisibleGPUs) (ordinal []int) {
	ordinal = make([]int, len(ranks))
	taken := map[string]int{} // key: the rank that has it
	place := map[string]int{}
	wishes := make([][]int, len(ranks))
	for r, v := range ranks {
		wishes[r] = v.wishes(place[v.Machine])
		place[v.Machine]++
		ordinal[r] = -1
	}
	// Maximum matching by augmenting paths: a rank may take a GPU whose rank can have another one.
	var find func(r int, tried map[string]bool) bool
	find = func(r int, tried map[string]bool) bool {
		for _, k := range wishes[r] {
			g := ranks[r].key(k)
			if tried[g] {
				continue
			}
			tried[g] = true
			if owner, busy := taken[g]; !busy || find(owner, tried) {
				taken[g], ordinal[r] = r, k
				return true
			}
		}
		return false
	}
	for r := range ranks {
		find(r, map[string]bool{})
	}
	return ordinal
}

// gpuWorlds is which worlds of a launch, each its first so many ranks, the GPUs are enough for.
type gpuWorlds struct {
	served int // the first so many ranks have a GPU, and the next, if there is one, has none
	// ranks of the largest world that is served: they take a GPU, and the others need none; 0: no world is
	takers int
	lacks  string // what the first rank without a GPU lacks; "" where all have one
}

// fitWorlds finds the worlds that have a GPU for each rank; with share, one that several ranks may use.
func fitWorlds(ranks []VisibleGPUs, facts []launch.RankFacts, worlds []int, share bool) (g gpuWorlds) {
	own := matchGPUs(ranks)
	for g.served < len(ranks) && (own[g.served] >= 0 || share && len(ranks[g.served].UUIDs) > 0) {
		g.served++
	}
	if r := g.served; r < len(ranks) {
		g.lacks = fmt.Sprintf("rank %d on %s has no GPU of its own", r, facts[r].Host)
		if none := ranks[r].None; none != nil {
			g.lacks = fmt.Sprintf("rank %d on %s sees no GPU (%s)", r, facts[r].Host, none.Parts.Problem)
		}
	}
	fitting := slices.DeleteFunc(slices.Clone(worlds), func(n int) bool { return n > len(ranks) })
	if len(fitting) == 0 { // nothing will be measured; the library is asked for its name only
		fitting = []int{len(ranks)}
	}
	for _, n := range fitting {
		if n <= g.served {
			g.takers = max(g.takers, n)
		}
	}
	return g
}

// unfit is the reason why a world cannot be measured, as what follows "it"; "" if it can.
func (g gpuWorlds) unfit(world int) string {
	switch {
	case world <= g.served:
		return ""
	case g.served == 0:
		return fmt.Sprintf("needs %s: %s", units.Count(world, "GPU"), g.lacks)
	case g.served == 1:
		return fmt.Sprintf("needs %d GPUs: rank 0 has one, %s", world, g.lacks)
	}
	return fmt.Sprintf("needs %d GPUs: the first %d ranks have one each, %s", world, g.served, g.lacks)
}

// adjusted describes the worlds that remain; "" if all that fit the launch do.
func (g gpuWorlds) adjusted(worlds []int, size int) string {
	var left, all []string
	short := 0
	for _, n := range worlds {
		all = append(all, fmt.Sprint(n))
		if n <= g.served {
			left = append(left, fmt.Sprint(n))
		} else if n <= size {
			short = max(short, n)
		}
	}
	if short == 0 {
		return ""
	}
	return fmt.Sprintf("worlds adjusted to the GPUs: %s of %s; a world of %d %s",
		strings.Join(left, ", "), strings.Join(all, ", "), short, g.unfit(short))
}

// wishes are the ordinals in the order of preference of the rank at that place of its machine.
func (v VisibleGPUs) wishes(place int) []int {
	n := len(v.UUIDs)
	order := make([]int, n)
	for i := range order {
		order[i] = (place + i) % n
	}
	near := func(k int) int {
		if k < len(v.NUMA) && v.NUMA[k] >= 0 && len(v.Near) == 1 && v.NUMA[k] != v.Near[0] {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(near(a), near(b)) })
	return order
}

// slicedGPUs marks the ranks whose GPU has the PCI address, but not the UUID, of another rank's of the machine: both
// are slices (MIG) of one GPU.
func slicedGPUs(ranks []gpuFacts, facts []launch.RankFacts) []bool {
	uuid, several, sliced := map[string]string{}, map[string]bool{}, make([]bool, len(ranks))
	at := func(r int) string { return facts[r].Machine + " " + ranks[r].PCI }
	for r, g := range ranks {
		if uuid[at(r)] == "" {
			uuid[at(r)] = g.UUID
		}
		several[at(r)] = several[at(r)] || uuid[at(r)] != g.UUID
	}
	for r, g := range ranks {
		sliced[r] = g.PCI != "" && several[at(r)]
	}
	return sliced
}

// sharedGPUs names the ranks that share a GPU, or slices of one, for the error that refuses them.
func sharedGPUs(ranks []gpuFacts, facts []launch.RankFacts) string {
	var parts []string
	for _, rs := range groupRanks(len(ranks), func(r int) string { return facts[r].Machine + " " + ranks[r].PCI }) {
		g := ranks[rs[0]]
		if len(rs) == 1 || g.PCI == "" {
			continue
		}
		var text, uuids []string
		for _, r := range rs {
			text, uuids = append(text, fmt.Sprint(r)), units.AddOnce(uuids, ranks[r].UUID)
		}
		parts = append(parts, fmt.Sprintf("ranks %s on %s share one GPU (%s, %s, %s)", strings.Join(text, ", "),
			facts[rs[0]].Host, g.Name, g.PCI, strings.Join(uuids, ", ")))
	}
	return strings.Join(parts, "; ")
}

// groupRanks returns the numbers of n ranks with the same key together.
func groupRanks(n int, key func(r int) string) [][]int {
	all := make([]int, n)
	for r := range all {
		all[r] = r
	}
	return units.GroupBy(all, key)
}
