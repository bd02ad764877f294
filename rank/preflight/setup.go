// Package preflight checks the environment of the ranks without measuring. A check is a function from the setups of a
// host to rows of a report. CheckSetups lists the checks.
package preflight

import (
	"slices"

	"busbar/internal/units"
	"busbar/rank/launch"
)

// Setup holds what one rank sees of its environment.
type Setup struct {
	Limits limits
	Node   node
	Fabric fabric
	GPU    *GPUView // nil without a GPU backend

	who launch.RankFacts // on rank 0
}

// PlaceSetups sets the rank of each setup, on rank 0.
func PlaceSetups(all []Setup, ranks []launch.RankFacts) {
	for i := range all {
		all[i].who = ranks[i]
	}
}

// ReadSetup reads the environment of this rank.
func ReadSetup(root string, env func(string) string) Setup {
	return Setup{Limits: readLimits(root), Node: readNode(root), Fabric: readFabric(root, env)}
}

// CheckSetups checks each host, then compares them; rank 0 only. scratch is the host memory that a library allocates
// besides buffers, as a share of them.
func CheckSetups(all []Setup, scratch float64) (rows []Row) {
	hosts := units.GroupBy(all, func(s Setup) string { return s.who.Host })
	// Containers of one machine are separate hosts that share its processors and memory.
	machines := units.GroupBy(all, func(s Setup) string { return s.who.Machine })
	world := [][]Setup{all}
	for _, c := range []struct {
		check  string
		groups [][]Setup
		find   func([]Setup) []Row
	}{
		{"hosts", world, perGroup(func([]Setup) Row { return checkAlikeHosts(hosts) })},
		{"CPUs", machines, perGroup(checkCPUs)},
		{"CPU governor", hosts, byRank(checkGovernor)},
		{"NUMA balancing", machines, perGroup(checkBalancing)},
		{"load", machines, perGroup(checkLoad)},
		{"host memory", machines, perGroup(func(m []Setup) Row { return checkMemory(m, scratch) })},
		{"shared memory", hosts, perGroup(checkShared)},
		{"locked memory", hosts, byRank(checkLocked)},
		{"open files", hosts, byRank(filesFor(len(all)))},
		{"RDMA network", hosts, checkRDMA},
		{"IOMMU", machines, perGroup(checkIOMMU)},
		{"PCIe ACS", machines, perGroup(checkACS)},
		{"GPUs", hosts, byRank(checkDevices)},
		{"NCCL", hosts, onGPUs(used, byRank(checkNCCL))},
		{"peer access", hosts, onGPUs(visible, byRank(checkPeers))},
		{"GPU state", hosts, onGPUs(measured, checkStates)},
		{"nvidia-peermem", hosts, onGPUs(rdma, perGroup(checkPeermem))},
		{"NCCL network", hosts, onGPUs(rdma, perGroup(checkPlugin))},
		{"GPU of each rank", machines, checkOwners},
		{"GPU libraries", world, checkLibraries},
	} {
		for _, group := range c.groups {
			for _, r := range c.find(group) {
				r.Check = c.check
				if r.ranks == nil {
					for _, s := range group {
						r.ranks = append(r.ranks, s.who.Rank)
					}
				}
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// Requirements of the GPU checks; each includes the previous ones.
const (
	used     = iota // a backend on GPUs
	visible         // a GPU that a rank sees
	measured        // GPUs that are not simulated
	rdma            // an RDMA port
)

// onGPUs limits a check to hosts that meet its requirement.
func onGPUs(needs int, find func([]Setup) []Row) func([]Setup) []Row {
	return func(host []Setup) []Row {
		g := host[0].GPU
		switch {
		case g == nil,
			needs >= visible && !slices.ContainsFunc(host, func(s Setup) bool { return len(s.GPU.Devices) > 0 }),
			needs >= measured && g.Rehearsed,
			needs >= rdma && len(host[0].Fabric.Ports) == 0:
			return nil
		}
		return find(host)
	}
}

// perGroup adapts a check with at most one row per group.
func perGroup(check func([]Setup) Row) func([]Setup) []Row {
	return func(group []Setup) []Row {
		if r := check(group); r.Fact != nil {
			return []Row{r}
		}
		return nil
	}
}

// byRank adapts a check with at most one row per rank of a group.
func byRank(check func(Setup) Row) func([]Setup) []Row {
	return func(group []Setup) (rows []Row) {
		for _, s := range group {
			if r := check(s); r.Fact != nil {
				rows = append(rows, r.On(s.who.Rank))
			}
		}
		return rows
	}
}
