package backend

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"busbar/cudart"
	"busbar/internal/ranges"
	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/machine"
)

// ncclGPUs are the driver, this rank's GPU, and what every rank knows of the GPUs of all.
type ncclGPUs struct {
	h      *Host
	driver *cudart.Driver
	gpu    *cudart.Context
	nvml   *cudart.NVML // nil if unavailable
	nvtx   *cudart.NVTX // nil where no tool listens
	worlds gpuWorlds    // that the GPUs are enough for
	ranks  []gpuFacts   // by rank of the launch; empty of ranks that take no GPU
	sliced string       // ranks with slices (MIG) of one GPU each; "" for none

	loading time.Duration // of the driver and this rank's context
}

// loadDriver returns the GPUs that this rank sees; none is an error.
func (g *ncclGPUs) loadDriver(p LibraryPaths) (devices []cudart.Device, err error) {
	if g.driver, err = cudart.Load(cudart.Options{Path: p.CUDA}); err != nil {
		var cuda *cudart.Error
		if shown, set := os.LookupEnv("CUDA_VISIBLE_DEVICES"); set && errors.As(err, &cuda) && cuda.IsNoDevice() {
			f := exit.FailureOf(err)
			more := fmt.Sprintf("\nCUDA_VISIBLE_DEVICES=%q limits the GPUs of this rank", shown)
			f.Text, f.Parts.Remedy = f.Text+more, f.Parts.Remedy+more
			err = f
		}
		return nil, err
	}
	if devices, err = g.driver.Devices(); err != nil {
		return nil, err
	}
	if len(devices) == 0 {
		return nil, fmt.Errorf("this rank sees no GPU (CUDA_VISIBLE_DEVICES=%q); %s is loaded",
			os.Getenv("CUDA_VISIBLE_DEVICES"), g.driver.Info().Path)
	}
	return devices, nil
}

func (g *ncclGPUs) Unfit(world int) string {
	return cmp.Or(g.h.tooLarge(world), g.worlds.unfit(world))
}

// takes reports whether this rank is in a measured world; others need neither a GPU nor the library.
func (g *ncclGPUs) takes() bool { return g.h.Rank < g.worlds.takers }

func (g *ncclGPUs) Device() string {
	var names []string
	for _, f := range g.ranks {
		if f.Name != "" && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return strings.Join(names, ", ")
}

// DescribeRank implements Accelerator.
func (g *ncclGPUs) DescribeRank(rank int, line *result.Rank) {
	f := g.ranks[rank]
	line.Device, line.PCI, line.UUID, line.State = f.Name, f.PCI, f.UUID, f.State
}

// Link implements Accelerator.
func (g *ncclGPUs) Link(rank int) *result.PCIe { return g.ranks[rank].PCIe }

// Adjusted implements Accelerator.
func (g *ncclGPUs) Adjusted(worlds []int, size int) string { return g.worlds.adjusted(worlds, size) }

// allowSharing sets what NCCL needs for ranks on one GPU. Slices of a GPU (MIG) are GPUs of their own for this program,
// but NCCL compares PCI addresses: since 2.30 one variable allows them, and before that they share a GPU. The note
// states this; "" where each rank has a GPU.
func (g *ncclGPUs) allowSharing() (note string, err error) {
	shared := slices.ContainsFunc(g.ranks, func(f gpuFacts) bool { return f.Shared })
	for r, is := range slicedGPUs(g.ranks, g.h.Ranks) {
		if is && g.h.Options.ShareGPU {
			g.ranks[r].Shared, shared = true, true
		} else if is {
			g.sliced = sharedGPUs(g.ranks, g.h.Ranks)
		}
	}
	if g.sliced != "" {
		return "ranks have slices of one GPU (MIG)", setUnset("NCCL_MULTI_RANK_GPU_ENABLE", "1")
	}
	if !shared {
		return "", nil
	}
	return "several ranks share a GPU: correct results, no meaningful speed", letShare(g.h.Rank)
}

// withoutNVTX notes the ranks that have no NVTX ranges though a tool is named, a line for each reason.
func (g *ncclGPUs) withoutNVTX() (notes []string) {
	ranks := map[string][]int{}
	for r, f := range g.ranks {
		if f.NVTX != "" {
			ranks[f.NVTX] = append(ranks[f.NVTX], r)
		}
	}
	for why, of := range ranks {
		notes = append(notes, fmt.Sprintf("NVTX: no ranges from ranks %s: %s", ranges.Format(of), why))
	}
	slices.Sort(notes)
	return notes
}

// watch returns the state of this rank's GPU before the first case; nil where NVIDIA's management library is missing or
// reports nothing. No measurement depends on it.
func (g *ncclGPUs) watch(pci string) *result.GPU {
	if g.nvml == nil {
		g.nvml, _ = cudart.LoadNVML(nil)
	}
	return g.state(pci)
}

// state returns the state of a GPU now; nil where it is not known.
func (g *ncclGPUs) state(pci string) *result.GPU {
	if g.nvml == nil {
		return nil
	}
	h, err := g.nvml.Device(pci)
	if err != nil {
		return nil
	}
	return &result.GPU{SMClock: h.SMClock, MemoryClock: h.MemoryClock, Temperature: h.Temperature, Power: h.Power,
		Throttle: h.Throttled(), ECC: h.ECC, ECCErrors: h.ECCErrors, Persistence: h.Persistence}
}

// throttled returns the ranks of a world whose GPU holds back its clocks now. Collective; the answer is on rank 0.
func (g *ncclGPUs) throttled(w *World) ([]result.Throttled, error) {
	var mine []string
	if s := g.state(g.ranks[g.h.Rank].PCI); s != nil {
		mine = s.Throttle
	}
	all, err := launch.GatherJSON(w.Group, mine)
	if err != nil {
		return nil, err
	}
	var out []result.Throttled
	for r, reasons := range all {
		if len(reasons) > 0 {
			out = append(out, result.Throttled{Rank: w.Name(r), Host: w.Hosts[r], Reasons: reasons})
		}
	}
	return out, nil
}

// shared reports whether some of these ranks share a GPU.
func (g *ncclGPUs) shared(ranks []int) bool {
	return slices.ContainsFunc(ranks, func(r int) bool { return g.ranks[r].Shared })
}

var (
	_ Accelerator = (*ncclLibrary)(nil)
	_ Describer   = (*ncclLibrary)(nil)
	_ Connector   = (*ncclLibrary)(nil)
	_ Diagnoser   = (*ncclLibrary)(nil)
	_ Warner      = (*glooLibrary)(nil)
	_ Prepared    = (*glooBackend)(nil)
	_ Prepared    = (*ncclBackend)(nil)
	_ Throttling  = (*ncclBackend)(nil)
)

// Graph implements Accelerator.
func (l *ncclLibrary) Graph(iterations int) int {
	if l.h.Options.GPU.Graph == 0 {
		return 0
	}
	return cmp.Or(iterations, GraphOperations)
}

// Links implements Accelerator.
func (l *ncclLibrary) Links() string {
	if l.Simulated() {
		return ""
	}
	return machine.GPULinks()
}

// Setup implements Prepared.
func (b *ncclBackend) Setup() []result.Setup { return b.prepared }

// Throttled implements Throttling.
func (b *ncclBackend) Throttled() []result.Throttled { return b.held }

// ConnectsAtFirstUse implements Connector.
func (l *ncclLibrary) ConnectsAtFirstUse() bool { return true }
