package main

import (
	"fmt"

	"busbar/cudart"
	"busbar/cudart/nccl"
	"busbar/rank/exit"
	"busbar/rank/machine"
)

// viewGPUs is what this rank sees of GPUs and of the library of a backend on them, none of which it starts. It is local.
func (j *job) viewGPUs(backend, driver string) *gpuView {
	v := &gpuView{Shared: j.cfg.shareGPU, Rehearsed: backend == rehearsal, Near: machine.NearNodes("/", j.ranks[j.rank].CPUs)}
	paths, err := j.libraryPaths()
	if err != nil {
		v.Problem, v.Missing = exit.FailureOf(err), exit.FailureOf(err)
		return v
	}
	if err := v.devices(paths.cuda); err != nil {
		v.Problem = exit.FailureOf(err)
	}
	if !v.Rehearsed {
		v.Driver = driver
		v.states()
	}
	lib, err := nccl.Load(nccl.Options{Path: paths.nccl, NCCLX: backend == "ncclx"})
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

func (v *gpuView) devices(path string) error {
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
		v.Devices = append(v.Devices, gpu{Name: d.Name, UUID: d.UUID, PCI: d.PCI, Major: d.Major, Minor: d.Minor, NUMA: d.NUMA, Bytes: d.Bytes})
	}
	peer := make([][]bool, len(devices))
	for a := range devices {
		peer[a] = make([]bool, len(devices))
		for b := range devices {
			if a == b {
				continue
			}
			if peer[a][b], err = driver.CanAccessPeer(a, b); err != nil {
				return nil // not known
			}
		}
	}
	v.Peer = peer
	return nil
}

// states asks NVML, where it is there.
func (v *gpuView) states() {
	n, err := cudart.LoadNVML(nil)
	if err != nil {
		return
	}
	defer n.Close() //nolint:errcheck // it was asked, no more
	for i := range v.Devices {
		if h, err := n.Device(v.Devices[i].PCI); err == nil {
			v.Devices[i].State = &h
		}
	}
}

// takeGPUs says which GPU each rank will take, on rank 0; ranks that see none take none.
func takeGPUs(all []setup) {
	var seeing []*gpuView
	var sights []visible
	for _, s := range all {
		if s.GPU == nil || len(s.GPU.Devices) == 0 {
			continue
		}
		v := visible{Machine: s.who.Machine, Near: s.GPU.Near}
		for _, d := range s.GPU.Devices {
			v.UUIDs, v.NUMA = append(v.UUIDs, d.UUID), append(v.NUMA, d.NUMA)
		}
		seeing, sights = append(seeing, s.GPU), append(sights, v)
	}
	ordinals, _ := assignGPUs(sights)
	for i, v := range seeing {
		v.mine = &v.Devices[ordinals[i]]
	}
}
