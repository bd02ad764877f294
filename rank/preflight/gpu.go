package preflight

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"busbar/cudart"
	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/rank/exit"
	"busbar/rank/launch"
)

// GPUView is what one rank sees of GPUs and of the library that is to drive them. What is not known stays empty.
type GPUView struct {
	Problem   *exit.Failure // why there is no driver or no GPU
	Driver    string        // version of the kernel's: "550.54.15"
	CUDA      int           // newest version that the driver serves: 12040
	Missing   *exit.Failure // why there is no library
	Library   string        // "NCCL 2.27.7"
	Path      string        // of the library
	BuiltFor  string        // the version of CUDA that the library was built for: "12.9"
	Unserved  string        // compute capability of a GPU that the library leaves out: "7.0"
	Devices   []gpu         // that the rank may use, by ordinal
	Near      []int         // NUMA nodes of the rank's CPUs
	Peer      [][]bool
	Shared    bool // --allow-shared-gpu
	Rehearsed bool // stand-ins take the places of driver and library

	Machine string // set by TakeGPUs
	mine    *gpu   // the one that the rank takes; on rank 0, nil: none
}

// gpu is one device.
type gpu struct {
	cudart.Device
	State *cudart.Health // nil where NVML is not there
}

// checkGPUs looks at the GPUs of one host.
func checkGPUs(host []Setup) []Row {
	if host[0].GPU == nil {
		return checkUnusedGPUs(host)
	}
	rows := append(byRank(checkDevices)(host), byRank(checkNCCL)(host)...)
	if !slices.ContainsFunc(host, func(s Setup) bool { return len(s.GPU.Devices) > 0 }) {
		return rows
	}
	rows = append(rows, byRank(checkPeers)(host)...)
	if host[0].GPU.Rehearsed {
		return rows
	}
	rows = append(rows, checkStates(host)...)
	if f := host[0].Fabric; len(f.Ports) > 0 {
		rows = append(rows, checkPeermem(f), checkPlugin(f))
	}
	return rows
}

// checkUnusedGPUs reports GPUs that a run without a GPU backend leaves idle; of none it reports nothing.
func checkUnusedGPUs(host []Setup) []Row {
	f := host[0].Fabric
	if len(f.GPUs) == 0 {
		return nil
	}
	return []Row{Found("GPUs", notice.GPUsUnused{GPUs: len(f.GPUs), Driver: notice.DriverVersion(f.Driver)})}
}

// checkDevices reports which GPUs a rank sees.
func checkDevices(s Setup) Row {
	const name = "GPUs"
	g := s.GPU
	if g.Problem != nil {
		return Found(name, notice.GPUDriverUnusable{Failed: g.Problem.Parts})
	}
	if len(g.Devices) == 0 {
		return Found(name,
			notice.NoGPUVisible{OnBus: len(s.Fabric.GPUs), Driver: notice.DriverVersion(s.Fabric.Driver)})
	}
	count := map[cudart.Device]int{}
	var models []notice.GPUModel
	for _, d := range g.Devices {
		count[cudart.Device{Name: d.Name, Bytes: d.Bytes}]++
	}
	for d, n := range count {
		models = append(models, notice.GPUModel{GPUs: n, Name: d.Name, Memory: units.RoughBytes(d.Bytes)})
	}
	slices.SortFunc(models, func(a, b notice.GPUModel) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Memory, b.Memory))
	})
	if g.Rehearsed {
		return Found(name, notice.SimulatedGPUs{Models: models})
	}
	return Found(name, notice.GPUsVisible{Models: models, Driver: notice.DriverVersion(g.Driver),
		CUDA: notice.CUDAVersion(g.CUDA)})
}

// checkNCCL reports which library a rank has, and whether the driver serves it.
func checkNCCL(s Setup) Row {
	const name = "NCCL"
	g := s.GPU
	if g.Missing != nil {
		return Found(name, notice.NCCLUnusable{Failed: g.Missing.Parts})
	}
	library := notice.NCCLInUse{Library: g.Library, Path: g.Path, BuiltFor: g.BuiltFor}
	if g.Unserved != "" {
		return Found(name, notice.NCCLWithoutGPUCode{NCCLInUse: library, Capability: g.Unserved})
	}
	major, _, _ := strings.Cut(g.BuiltFor, ".")
	if need, err := strconv.Atoi(major); err == nil && g.CUDA > 0 && need > g.CUDA/1000 {
		return Found(name, notice.NCCLNeedsNewerDriver{NCCLInUse: library, Driver: notice.CUDAVersion(g.CUDA)})
	}
	return Found(name, library)
}

// checkOwners finds ranks of a machine that take one GPU.
func checkOwners(machine []Setup) (rows []Row) {
	const name = "GPU of each rank"
	by := map[string][]Setup{}
	var order []string
	for _, s := range machine {
		if s.GPU == nil || s.GPU.mine == nil {
			continue
		}
		id := s.GPU.mine.UUID
		if by[id] == nil {
			order = append(order, id)
		}
		by[id] = append(by[id], s)
	}
	for _, id := range order {
		sharers := by[id]
		if len(sharers) < 2 {
			continue
		}
		var ranks []int
		for _, s := range sharers {
			ranks = append(ranks, s.who.Rank)
		}
		g := sharers[0].GPU
		r := Found(name, notice.SharedGPU{Ranks: len(ranks), GPU: g.mine.Name, PCI: g.mine.PCI, UUID: g.mine.UUID,
			Allowed: g.Shared})
		if !g.Shared {
			r = r.graded(notice.Error)
		}
		rows = append(rows, r.On(ranks...))
	}
	if len(rows) > 0 || len(order) == 0 {
		return rows
	}
	slice := map[string]bool{} // by the address of its GPU
	for _, id := range order {
		pci := by[id][0].GPU.mine.PCI
		if slice[pci] {
			return []Row{Found(name, notice.GPUSlices{PCI: pci})}
		}
		slice[pci] = true
	}
	return []Row{Found(name, notice.OwnGPUs{})}
}

// checkPeers looks at which GPUs reach each other's memory.
func checkPeers(s Setup) Row {
	const name = "peer access"
	g := s.GPU
	if len(g.Peer) < 2 {
		return Found(name, notice.PeerAccessUnknown{GPUs: len(g.Devices)})
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
		return Found(name, notice.NoPeerAccess{Without: len(without), Of: all, Pairs: without})
	}
	return Found(name, notice.PeerAccess{GPUs: len(g.Devices)})
}

// checkLibraries compares driver and library over all ranks.
func checkLibraries(all []Setup) (rows []Row) {
	const name = "GPU libraries"
	if !slices.ContainsFunc(all, func(s Setup) bool { return s.GPU != nil && s.GPU.Library != "" }) {
		return nil
	}
	differ := func(of func(*GPUView) string) notice.RankValues {
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
		rows = append(rows, Found(name, notice.NCCLVersionsDiffer{Values: v}))
	}
	if v := differ(func(g *GPUView) string { return g.Driver }); v != nil {
		rows = append(rows, Found(name, notice.GPUDriversDiffer{Values: v}))
	}
	model := func(g *GPUView) string {
		if g.mine == nil {
			return ""
		}
		return g.mine.Name
	}
	if v := differ(model); v != nil {
		rows = append(rows, Found(name, notice.GPUModelsDiffer{Values: v}))
	}
	if rows == nil {
		rows = []Row{Found(name, notice.GPULibrariesAlike{Library: all[0].GPU.Library, Driver: all[0].GPU.Driver})}
	}
	return rows
}
