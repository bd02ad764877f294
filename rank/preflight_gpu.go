package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"busbar/cudart"
	"busbar/internal/advice"
	"busbar/internal/units"
)

// gpuView is what one rank sees of GPUs and of the library that is to drive them. What is not known stays empty.
type gpuView struct {
	Problem   string // why there is no driver or no GPU, with what to do
	Driver    string // version of the kernel's: "550.54.15"
	CUDA      int    // newest version that the driver serves: 12040
	Missing   string // why there is no library, with what to do
	Library   string // "NCCL 2.27.7"
	Path      string // of the library
	BuiltFor  string // the version of CUDA that the library was built for: "12.9"
	Unserved  string // why the library does not serve a GPU that is there, with what to do
	Devices   []gpu  // that the rank may use, by ordinal
	Near      []int  // NUMA nodes of the rank's CPUs
	Peer      [][]bool
	Shared    bool // --allow-shared-gpu
	Rehearsed bool // stand-ins take the places of driver and library

	mine *gpu // the one that the rank takes; on rank 0, nil: none
}

// gpu is one device.
type gpu struct {
	Name, UUID, PCI string
	Major, Minor    int // compute capability
	NUMA            int
	Bytes           int64
	State           *cudart.Health // nil where NVML is not there
}

// checkGPUs looks at the GPUs of one host.
func checkGPUs(host []setup) []row {
	if host[0].GPU == nil {
		return checkUnusedGPUs(host)
	}
	rows := append(byRank(checkDevices)(host), byRank(checkNCCL)(host)...)
	if !slices.ContainsFunc(host, func(s setup) bool { return len(s.GPU.Devices) > 0 }) {
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

// checkUnusedGPUs speaks of GPUs that a run without a GPU backend leaves idle; of none it does not.
func checkUnusedGPUs(host []setup) []row {
	f := host[0].Fabric
	switch {
	case len(f.GPUs) == 0:
		return nil
	case f.Driver == "":
		return []row{fine("GPUs", "%s of NVIDIA on the bus without a driver; this run uses none", units.Count(len(f.GPUs), "GPU"))}
	}
	return []row{fine("GPUs", "%s of NVIDIA, driver %s; this run uses none (--backend nccl does)", units.Count(len(f.GPUs), "GPU"), f.Driver)}
}

// checkDevices says which GPUs a rank sees.
func checkDevices(s setup) row {
	const name = "GPUs"
	g := s.GPU
	if g.Problem != "" {
		found, advice := splitAdvice(g.Problem, "see nvidia-smi there")
		return bad(name, advice, "%s", found)
	}
	if len(g.Devices) == 0 {
		return bad(name, "see nvidia-smi -L there, CUDA_VISIBLE_DEVICES, srun --gpus-per-node, docker run --gpus all", "no GPU is visible, and %s", onBus(s.Fabric))
	}
	count := map[string]int{}
	for _, d := range g.Devices {
		count[fmt.Sprintf("%s with %s", d.Name, binary(d.Bytes))]++
	}
	var models []string
	for _, m := range slices.Sorted(maps.Keys(count)) {
		models = append(models, fmt.Sprintf("%d x %s", count[m], m))
	}
	found := strings.Join(models, ", ")
	if g.Rehearsed {
		return warn(name, "leave out --rehearse to check real ones", "stand-ins: %s", found)
	}
	return fine(name, "%s, driver %s (%s)", found, orUnknown(g.Driver), cudaText(g.CUDA))
}

// checkNCCL says which library a rank has, and whether the driver serves it.
func checkNCCL(s setup) row {
	const name = "NCCL"
	g := s.GPU
	if g.Missing != "" {
		found, advice := splitAdvice(g.Missing, "see --nccl PATH")
		return bad(name, advice, "%s", found)
	}
	found := fmt.Sprintf("%s (%s)", g.Library, g.Path)
	if g.BuiltFor != "" {
		found += ", built for CUDA " + g.BuiltFor
	}
	if g.Unserved != "" {
		return bad(name, "install its build for CUDA 12 (pip install nvidia-nccl-cu12), or give its path with --nccl PATH", "%s", g.Unserved)
	}
	major, _, _ := strings.Cut(g.BuiltFor, ".")
	if need, err := strconv.Atoi(major); err == nil && g.CUDA > 0 && need > g.CUDA/1000 {
		return bad(name, fmt.Sprintf("install a newer driver, or the library's build for CUDA %d (pip install nvidia-nccl-cu%[1]d)", g.CUDA/1000),
			"%s; the driver serves %s only", found, cudaText(g.CUDA))
	}
	return fine(name, "%s", found)
}

func onBus(f fabric) string {
	if len(f.GPUs) == 0 {
		return "none of NVIDIA is on the PCI bus"
	}
	return fmt.Sprintf("%s of NVIDIA on the PCI bus (driver %s)", units.Count(len(f.GPUs), "GPU"), cmp.Or(f.Driver, "not loaded"))
}

// cudaText turns 12040 into "CUDA 12.4".
func cudaText(v int) string {
	if v == 0 {
		return "CUDA version unknown"
	}
	return fmt.Sprintf("CUDA %d.%d", v/1000, v%1000/10)
}

// checkOwners finds ranks of a machine that take one GPU.
func checkOwners(machine []setup) []row {
	const name = "GPU of each rank"
	by := map[string][]setup{}
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
	var rows []row
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
		d := g.mine
		r := bad(name, advice.OwnGPU+", or allow it with --allow-shared-gpu, for correctness only",
			"%s take one GPU: %s at %s (%s)", units.Count(len(ranks), "rank"), d.Name, d.PCI, d.UUID)
		if g.Shared {
			r.Verdict, r.Advice = caution, "figures of ranks that share a GPU say nothing about speed"
		}
		rows = append(rows, r.on(ranks...))
	}
	if len(rows) > 0 || len(order) == 0 {
		return rows
	}
	slice := map[string]string{} // by the address of its GPU
	for _, id := range order {
		pci := by[id][0].GPU.mine.PCI
		if other := slice[pci]; other != "" {
			return []row{warn(name, "use NCCL 2.30 or later, or whole GPUs: an older NCCL refuses two slices of one GPU",
				"each its own, but some are slices (MIG) of one GPU at %s", pci)}
		}
		slice[pci] = id
	}
	return []row{fine(name, "each its own")}
}

// checkPeers looks at which GPUs reach each other's memory.
func checkPeers(s setup) row {
	const name = "peer access"
	g := s.GPU
	if len(g.Peer) < 2 {
		return fine(name, "the rank sees %s, so it cannot be asked", units.Count(len(g.Devices), "GPU"))
	}
	pairs, without := 0, []string{}
	for a := range g.Peer {
		for b := a + 1; b < len(g.Peer[a]); b++ {
			pairs++
			if !g.Peer[a][b] || !g.Peer[b][a] {
				without = append(without, fmt.Sprintf("%d-%d", a, b))
			}
		}
	}
	if len(without) > 0 {
		return warn(name, advice.Peers+": what goes between them passes through host memory",
			"%d of %d pairs of GPUs have none: %s", len(without), pairs, strings.Join(clipList(without), ", "))
	}
	return fine(name, "all %s reach each other's memory", units.Count(len(g.Devices), "GPU"))
}

// checkLibraries compares driver and library over all ranks.
func checkLibraries(all []setup) []row {
	const name = "GPU libraries"
	if !slices.ContainsFunc(all, func(s setup) bool { return s.GPU != nil && s.GPU.Library != "" }) {
		return nil
	}
	var rows []row
	for _, property := range []struct {
		what, advice string
		v            verdict
		of           func(*gpuView) string
	}{
		{"libraries", advice.OneLibrary, problem, func(g *gpuView) string { return g.Library }},
		{"drivers", advice.OneDriver, caution, func(g *gpuView) string { return g.Driver }},
		{"GPUs", advice.OneModel, caution, func(g *gpuView) string {
			if g.mine == nil {
				return ""
			}
			return g.mine.Name
		}},
	} {
		facts := make([]rankFacts, len(all))
		for i, s := range all {
			facts[i] = s.who
			if s.GPU != nil {
				facts[i].Build = property.of(s.GPU) // a field that carries the value into differing
			}
		}
		if text := differing(facts, func(r rankFacts) string { return r.Build }); text != "" {
			rows = append(rows, row{Check: name, Verdict: property.v, Advice: property.advice, Found: fmt.Sprintf("the ranks have different %s: %s", property.what, text)})
		}
	}
	if len(rows) == 0 {
		found := "the same on all ranks: " + all[0].GPU.Library
		if d := all[0].GPU.Driver; d != "" {
			found += ", driver " + d
		}
		rows = append(rows, fine(name, "%s", found))
	}
	return rows
}
