package trace

import (
	"slices"
	"strconv"
)

// rankVariables are the launchers' environment variables for rank and world size; first those for the program's rank,
// then those for the launcher's process.
var rankVariables = []struct{ rank, world string }{
	{"RANK", "WORLD_SIZE"}, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"},
}

// rankDevices finds ranks. Environment and file name apply only if no other device in the file ran kernels; MPI's
// table and NCCL's communicators distinguish processes and devices.
func (n *nsight) rankDevices() {
	var busy []*nsightDevice
	perProcess := map[int64]int{}
	for _, d := range n.devices {
		if d.device.runsKernels() {
			busy = append(busy, d)
			perProcess[d.key.process]++
		}
	}
	mpi := map[int64]int64{}
	n.scan("MPI_RANKS", []string{"globalTid", "rank"}, func(r row) { mpi[processOf(r.or(0, 0))] = r.or(1, Unknown) })
	for _, d := range busy {
		if r, ok := mpi[d.key.process]; ok && perProcess[d.key.process] == 1 {
			d.device.Rank = int(r)
		}
	}
	world := n.environmentNumber("WORLD_SIZE", 0)
	if len(busy) == 1 {
		n.rankOnly(busy[0].device, world)
	}
	n.nvtx.communicatorRanks(busy, world)
}

// environmentNumber returns a number from the program's environment, or a default.
func (n *nsight) environmentNumber(name string, other int) int {
	if v, err := strconv.Atoi(n.session.environment[name]); err == nil && v >= 0 {
		return v
	}
	return other
}

// rankOnly sets the rank of the only device.
func (n *nsight) rankOnly(d *Device, world int) {
	for _, v := range rankVariables {
		if rank := n.environmentNumber(v.rank, Unknown); rank != Unknown {
			d.Rank, d.World = rank, n.environmentNumber(v.world, 0)
			return
		}
	}
	if r := within(rankOfPath(n.file.Path), world); r != Unknown && d.Rank == Unknown {
		d.Rank = r
	}
}

// runsKernels reports whether the device ran kernels: a process may have a context on a device that it does not
// compute on.
func (d *Device) runsKernels() bool {
	return slices.ContainsFunc(d.Activities, func(a Activity) bool { return a.Kind == Kernel || a.Kind == GraphTrace })
}

// communicatorRanks uses the rank in the largest communicator if there is no other source, all devices of the file
// have a communicator of that size, and their ranks differ: it is then most likely the world.
func (v *nvtx) communicatorRanks(devices []*nsightDevice, world int) {
	largest := map[*nsightDevice]payload{}
	size := int64(0)
	for _, d := range devices {
		for key, members := range v.members {
			for _, m := range members {
				if key.process == d.key.process && m.device == d.key.id && m.ranks > largest[d].ranks {
					largest[d] = m
				}
			}
		}
		size = max(size, largest[d].ranks)
	}
	seen := map[int64]bool{}
	for _, d := range devices {
		m := largest[d]
		if m.ranks != size || size < 2 || seen[m.rank] || world > 0 && size != int64(world) ||
			d.device.Rank != Unknown {
			return
		}
		seen[m.rank] = true
	}
	for _, d := range devices {
		d.device.Rank, d.device.World = int(largest[d].rank), int(size)
	}
}
