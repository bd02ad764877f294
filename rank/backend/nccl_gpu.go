package backend

import (
	"errors"
	"fmt"
	"os"
	"time"

	"busbar/cudart"
	"busbar/cudart/nccl"
	"busbar/internal/operation"
	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/machine"
)

// gpuFacts is a rank's GPU and libraries, as every rank learns them.
type gpuFacts struct {
	Name, UUID, PCI string
	Shared          bool   // with another rank
	Driver          string // "CUDA 12.4"
	NCCL            string // as ownLibrary.Version
	Major, Minor    int    // compute capability
	NVTX            string // why this rank has no NVTX ranges though a tool is named; "" otherwise
	State           *result.GPU
	PCIe            *result.PCIe
}

// takeGPU gives this rank a GPU, if it is in a world that has one for each rank, and makes it current on this thread.
// devices are those that the rank sees; none is why it sees none.
func (l *ncclLibrary) takeGPU(devices []cudart.Device, none error, worlds []int) error {
	h := l.h
	all, err := launch.AllGatherJSON(h.Group, h.sees(devices, none))
	if err != nil {
		return err
	}
	l.worlds = fitWorlds(all, h.Ranks, worlds, h.Options.ShareGPU)
	takers := all[:l.worlds.takers]
	if len(takers) == 0 { // the error names what all ranks lack
		if none != nil { // report a missing library too, not only at the next start
			if _, e := nccl.Load(l.wanted); e != nil {
				none = fmt.Errorf("%w\n%w", none, e)
			}
		}
		if err := h.together(none); err != nil {
			return err
		}
		takers = all
	}
	ordinal, shared := AssignGPUs(takers)
	var mine gpuFacts
	if h.Rank < len(takers) {
		d := devices[ordinal[h.Rank]]
		mine = gpuFacts{Name: d.Name, UUID: d.UUID, PCI: d.PCI, Shared: shared[h.Rank],
			Driver: l.driver.Info().String(),
			Major:  d.Major, Minor: d.Minor}
		if l.nvtx, err = cudart.LoadNVTX(); err != nil {
			mine.NVTX = err.Error()
		}
		if !l.Simulated() {
			mine.State = l.watch(d.PCI)
			mine.PCIe = machine.PCIeLink("/", d.PCI, machine.VirtualMachine("/") != "")
		}
	}
	if l.ranks, err = launch.AllGatherJSON(h.Group, mine); err != nil {
		return err
	}
	if l.worlds.takers == 0 {
		return h.elsewhere(exit.Environmentf("%s: NCCL supports one rank per GPU. Start fewer ranks, or measure "+
			"smaller "+
			"worlds of them (--worlds), or --backend mpi, or let them share with --allow-shared-gpu (correct results, "+
			"no meaningful speed)",
			sharedGPUs(l.ranks, h.Ranks)))
	}
	if text := l.worlds.adjusted(worlds, len(h.Ranks)); text != "" {
		l.notes = append(l.notes, text)
	}
	note, err := l.allowSharing()
	if err != nil {
		return err
	}
	if note != "" {
		l.notes = append(l.notes, note)
	}
	l.notes = append(l.notes, l.withoutNVTX()...)
	if l.takes() {
		begun := time.Now()
		l.gpu, err = l.driver.Open(ordinal[h.Rank])
		l.loading += time.Since(begun)
	}
	return h.together(err)
}

// onOwnGPU refuses a communicator on another GPU than this rank's. NCCL takes the device that its own CUDA runtime
// calls current, which a rank that sees several GPUs could get wrong. A library without the function is not checked.
func (l *ncclLibrary) onOwnGPU(comm *nccl.Comm) error {
	own := l.gpu.Ordinal()
	used, err := comm.Device()
	var lacks *operation.UnsupportedError
	if errors.As(err, &lacks) || err == nil && used == own {
		return nil
	}
	if err != nil {
		return err
	}
	devices, err := l.driver.Devices()
	if err != nil {
		return err
	}
	name := func(ordinal int) string {
		if ordinal < 0 || ordinal >= len(devices) {
			return fmt.Sprintf("GPU %d (not visible to this rank)", ordinal)
		}
		d := devices[ordinal]
		return fmt.Sprintf("GPU %d (%s, %s, %s)", ordinal, d.Name, d.PCI, d.UUID)
	}
	return exit.Remedied("show each rank one GPU only (CUDA_VISIBLE_DEVICES)",
		"the communicator of %s %s uses %s, but the rank uses %s",
		l.nccl.Info().Name, l.nccl.Info().Version, name(used), name(own))
}

// slicesHindered is why ranks cannot have slices of one GPU; nil where they can, or have none.
func (l *ncclLibrary) slicesHindered() error {
	i := l.nccl.Info()
	if l.sliced == "" || i.Name == nccl.NameMSCCLPP || i.Code >= 23000 {
		return nil
	}
	return fmt.Errorf("%s: %s %s compares PCI addresses and rejects slices (MIG) of one GPU. Use NCCL 2.30 or newer, "+
		"one slice of each GPU, or --allow-shared-gpu (correct results, no meaningful speed)",
		l.sliced, i.Name, i.Version)
}

// letShare sets what NCCL needs to accept ranks that share a GPU: since 2.30 a variable of its own, before that ranks
// that look like different hosts. What the user has set stays.
func letShare(rank int) error {
	for name, value := range map[string]string{"NCCL_MULTI_RANK_GPU_ENABLE": "1", "NCCL_HOSTID": fmt.Sprintf(
		"busbar-rank-%d", rank),
		"NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1", "NCCL_NET": "Socket"} {
		if err := setUnset(name, value); err != nil {
			return err
		}
	}
	return nil
}

// setUnset sets an environment variable that is not set.
func setUnset(name, value string) error {
	if _, set := os.LookupEnv(name); set {
		return nil
	}
	return os.Setenv(name, value)
}
