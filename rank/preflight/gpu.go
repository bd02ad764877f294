package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"busbar/cudart"
	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
	"busbar/internal/units"
	"busbar/rank/exit"
	"busbar/rank/launch"
)

// GPUView holds the GPUs that one rank sees, and the library for them. Unknown values are empty.
type GPUView struct {
	Problem   *exit.Failure // why driver or GPU is missing
	Driver    string        // version of the kernel module: "550.54.15"
	CUDA      int           // newest CUDA version that the driver supports: 12040
	Missing   *exit.Failure // why the library is missing
	Library   string        // "NCCL 2.27.7"
	Path      string        // of the library
	BuiltFor  string        // CUDA version of the library's build: "12.9"
	Unserved  string        // compute capability of a GPU that the library does not support: "7.0"
	Devices   []gpu         // devices of the rank, by ordinal
	Near      []int         // NUMA nodes of the rank's CPUs
	Peer      [][]bool
	Shared    bool // --allow-shared-gpu
	Rehearsed bool // simulated driver and library

	Machine string // set by TakeGPUs
	mine    *gpu   // the GPU of the rank; set on rank 0; nil without one
}

// gpu is one device.
type gpu struct {
	cudart.Device
	State *cudart.Health // nil without NVML
}

// checkDevices reports the GPUs that a rank sees.
func checkDevices(s Setup) Row {
	g := s.GPU
	if g == nil && len(s.Fabric.GPUs) == 0 {
		return Row{}
	}
	if g == nil {
		return found(preflights.GPUsUnused{GPUs: len(s.Fabric.GPUs), Driver: s.Fabric.Driver})
	}
	if g.Problem != nil {
		return found(preflights.GPUDriverUnusable{Failed: g.Problem.Parts})
	}
	if len(g.Devices) == 0 {
		return found(
			preflights.NoGPUVisible{OnBus: len(s.Fabric.GPUs), Driver: s.Fabric.Driver},
		)
	}
	count := map[cudart.Device]int{}
	var models []preflights.GPUModel
	for _, d := range g.Devices {
		count[cudart.Device{Name: d.Name, Bytes: d.Bytes}]++
	}
	for d, n := range count {
		models = append(models, preflights.GPUModel{GPUs: n, Name: d.Name, Memory: units.RoughBytes(d.Bytes)})
	}
	slices.SortFunc(models, func(a, b preflights.GPUModel) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Memory, b.Memory))
	})
	if g.Rehearsed {
		return found(preflights.SimulatedGPUs{Models: models})
	}
	return found(preflights.GPUsVisible{Models: models, Driver: g.Driver,
		CUDA: preflights.CUDAVersion(g.CUDA)})
}

// checkNCCL reports the library of a rank, and whether the driver supports it.
func checkNCCL(s Setup) Row {
	g := s.GPU
	if g.Missing != nil {
		return found(preflights.NCCLUnusable{Failed: g.Missing.Parts})
	}
	library := preflights.NCCLInUse{Library: g.Library, Path: g.Path, BuiltFor: g.BuiltFor}
	if g.Unserved != "" {
		return found(preflights.NCCLWithoutGPUCode{NCCLInUse: library, Capability: g.Unserved})
	}
	major, _, _ := strings.Cut(g.BuiltFor, ".")
	if need, err := strconv.Atoi(major); err == nil && g.CUDA > 0 && need > g.CUDA/1000 {
		return found(preflights.NCCLNeedsNewerDriver{NCCLInUse: library, Driver: preflights.CUDAVersion(g.CUDA)})
	}
	return found(library)
}

// checkOwners finds ranks that use the same GPU.
func checkOwners(host []Setup) (rows []Row) {
	users := slices.DeleteFunc(slices.Clone(host), func(s Setup) bool { return s.GPU == nil || s.GPU.mine == nil })
	for _, sharers := range units.GroupBy(users, func(s Setup) string { return s.GPU.mine.UUID }) {
		if len(sharers) < 2 {
			continue
		}
		g := sharers[0].GPU
		r := found(notice.SharedGPU{Ranks: len(sharers), GPU: g.mine.Name, PCI: g.mine.PCI, UUID: g.mine.UUID,
			Allowed: g.Shared})
		if !g.Shared {
			r = r.graded(notice.Error)
		}
		for _, s := range sharers {
			r.ranks = append(r.ranks, s.who.Rank)
		}
		rows = append(rows, r)
	}
	if len(rows) > 0 || len(users) == 0 {
		return rows
	}
	for _, parts := range units.GroupBy(users, func(s Setup) string { return s.GPU.mine.PCI }) {
		if len(parts) > 1 {
			return []Row{found(preflights.GPUSlices{PCI: parts[0].GPU.mine.PCI})}
		}
	}
	return []Row{found(preflights.OwnGPUs{})}
}

// checkPeers checks which GPUs access each other's memory.
func checkPeers(s Setup) Row {
	g := s.GPU
	if len(g.Peer) < 2 {
		return found(preflights.PeerAccessUnknown{GPUs: len(g.Devices)})
	}
	all := 0
	var without []string
	for a := range g.Peer {
		for b := a + 1; b < len(g.Peer[a]); b++ {
			all++
			if !g.Peer[a][b] || !g.Peer[b][a] {
				without = append(without, fmt.Sprintf("%d-%d", a, b))
			}
		}
	}
	if without != nil {
		return found(preflights.NoPeerAccess{Without: len(without), Of: all, Pairs: without})
	}
	return found(preflights.PeerAccess{GPUs: len(g.Devices)})
}

// checkLibraries compares driver and library over all ranks.
func checkLibraries(all []Setup) (rows []Row) {
	if !slices.ContainsFunc(all, func(s Setup) bool { return s.GPU != nil && s.GPU.Library != "" }) {
		return nil
	}
	differ := func(of func(*GPUView) string) preflights.RankValues {
		ranks := make([]launch.RankFacts, len(all))
		for i, s := range all {
			ranks[i] = s.who
		}
		return launch.Differing(ranks, func(i int) string {
			if all[i].GPU == nil {
				return ""
			}
			return of(all[i].GPU)
		})
	}
	if v := differ(func(g *GPUView) string { return g.Library }); v != nil {
		rows = append(rows, found(preflights.NCCLVersionsDiffer{Values: v}))
	}
	if v := differ(func(g *GPUView) string { return g.Driver }); v != nil {
		rows = append(rows, found(preflights.GPUDriversDiffer{Values: v}))
	}
	model := func(g *GPUView) string {
		if g.mine == nil {
			return ""
		}
		return g.mine.Name
	}
	if v := differ(model); v != nil {
		rows = append(rows, found(preflights.GPUModelsDiffer{Values: v}))
	}
	if rows == nil {
		rows = []Row{found(preflights.GPULibrariesAlike{Library: all[0].GPU.Library, Driver: all[0].GPU.Driver})}
	}
	return rows
}
