package preflight

import (
	"fmt"

	"busbar/cudart"
	"busbar/cudart/nccl"
	"busbar/rank/exit"
	"busbar/rank/machine"
)

// GPUSearch defines how a rank finds GPUs and their libraries.
type GPUSearch struct {
	CUDA, NCCL string // paths of the libraries; "": use the loader
	NotFound   error  // why the paths are missing
	NCCLX      bool   // the library must be NCCLX
	Simulated  bool
	Shared     bool   // ranks may share a GPU
	CPUs       string // of the rank
	Driver     string // version of the kernel module; "" if unknown
}

// ViewGPUs returns the GPUs and the library that this rank sees, without starting them.
func ViewGPUs(root string, s GPUSearch) *GPUView {
	v := &GPUView{Shared: s.Shared, Rehearsed: s.Simulated, Near: machine.NearNodes(machine.NUMANodes(root), s.CPUs)}
	if s.NotFound != nil {
		v.Problem, v.Missing = exit.FailureOf(s.NotFound), exit.FailureOf(s.NotFound)
		return v
	}
	if err := v.devices(s.CUDA); err != nil {
		v.Problem = exit.FailureOf(err)
	}
	if !v.Rehearsed {
		v.Driver = s.Driver
		v.states()
	}
	lib, err := nccl.Load(nccl.Options{Path: s.NCCL, NCCLX: s.NCCLX})
	if err != nil {
		v.Missing = exit.FailureOf(err)
		return v
	}
	i := lib.Info()
	v.Library, v.Path, v.BuiltFor = i.Name+" "+i.Version, i.Path, i.CUDA
	for _, d := range v.Devices {
		if v.Unserved == "" && !i.Serves(d.Major, d.Minor) {
			v.Unserved = fmt.Sprintf("%d.%d", d.Major, d.Minor)
		}
	}
	return v
}

func (v *GPUView) devices(path string) error {
	driver, err := cudart.Load(cudart.Options{Path: path})
	if err != nil {
		return err
	}
	v.CUDA = driver.Info().Version
	devices, err := driver.Devices()
	if err != nil {
		return err
	}
	for _, d := range devices {
		v.Devices = append(v.Devices, gpu{Device: d})
	}
	peer := make([][]bool, len(devices))
	for a := range devices {
		peer[a] = make([]bool, len(devices))
		for b := range devices {
			if a == b {
				continue
			}
			if peer[a][b], err = driver.CanAccessPeer(a, b); err != nil {
				return nil // unknown
			}
		}
	}
	v.Peer = peer
	return nil
}

// states queries NVML if it is available.
func (v *GPUView) states() {
	n, err := cudart.LoadNVML(nil)
	if err != nil {
		return
	}
	for i := range v.Devices {
		if h, err := n.Device(v.Devices[i].PCI); err == nil {
			v.Devices[i].State = &h
		}
	}
}

// TakeGPUs sets the GPU of each rank: assign returns the ordinals for the ranks that see GPUs.
func TakeGPUs(all []Setup, assign func([]*GPUView) []int) {
	var seeing []*GPUView
	for _, s := range all {
		if s.GPU != nil && len(s.GPU.Devices) > 0 {
			s.GPU.Machine = s.who.Machine
			seeing = append(seeing, s.GPU)
		}
	}
	for i, ordinal := range assign(seeing) {
		seeing[i].mine = &seeing[i].Devices[ordinal]
	}
}
