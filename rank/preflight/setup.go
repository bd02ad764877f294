// Package preflight checks where the ranks run without measuring: each check looks at what ranks see of their hosts, or
// at what they found together, and returns rows of a report. A new check is a function from the setups of a host to
// rows, listed in CheckSetups.
package preflight

import "busbar/rank/launch"

// Setup is what one rank sees of where it runs.
type Setup struct {
	Limits limits
	Node   node
	Fabric fabric
	GPU    *GPUView // nil where no backend on GPUs is asked for

	who launch.RankFacts // on rank 0
}

// PlaceSetups notes of which rank each setup is, on rank 0.
func PlaceSetups(all []Setup, ranks []launch.RankFacts) {
	for i := range all {
		all[i].who = ranks[i]
	}
}

// ReadSetup reads what this rank sees.
func ReadSetup(root string, env func(string) string) Setup {
	return Setup{Limits: readLimits(root), Node: readNode(root), Fabric: readFabric(root, env)}
}

// CheckSetups looks at the hosts one by one, check by check, and at what they have in common; rank 0 only. scratch is
// what a library allocates beside buffers in host memory, as a share of them.
func CheckSetups(all []Setup, scratch float64) []Row {
	hosts := groupBy(all, func(r launch.RankFacts) string { return r.Host })
	// Containers of one machine are hosts of their own, and share its processors and its memory.
	machines := groupBy(all, func(r launch.RankFacts) string { return r.Machine })
	rows := []Row{checkAlikeHosts(hosts)}
	for _, c := range []struct {
		of    [][]Setup
		check func([]Setup) []Row
	}{
		{machines, checkCPUs}, {hosts, byRank(checkGovernor)}, {machines, checkBalancing}, {machines, checkLoad},
		{machines, memoryFor(scratch)}, {hosts, checkShared}, {hosts, byRank(checkLocked)},
		{hosts, byRank(filesFor(len(all)))},
		{hosts, checkRDMA}, {machines, checkIOMMU}, {machines, checkACS}, {hosts, checkGPUs}, {machines, checkOwners},
	} {
		for _, group := range c.of {
			for _, r := range c.check(group) {
				if r.ranks == nil {
					for _, s := range group {
						r.ranks = append(r.ranks, s.who.Rank)
					}
				}
				rows = append(rows, r)
			}
		}
	}
	return append(rows, checkLibraries(all)...)
}

func groupBy(all []Setup, key func(launch.RankFacts) string) (groups [][]Setup) {
	at := map[string]int{}
	for _, s := range all {
		i, known := at[key(s.who)]
		if !known {
			i = len(groups)
			at[key(s.who)], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}

// byRank makes a check of one rank one of a host's ranks.
func byRank(check func(Setup) Row) func([]Setup) []Row {
	return func(host []Setup) (rows []Row) {
		for _, s := range host {
			rows = append(rows, check(s).On(s.who.Rank))
		}
		return rows
	}
}
