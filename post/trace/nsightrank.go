package trace

import (
	"context"
	"fmt"
	"strconv"
)

// rankVariables are what launchers put in the environment of each rank, and how many ranks there are; first those that
// name the rank of the program, then those that name the process of the launcher.
var rankVariables = []struct{ rank, world string }{
	{"RANK", "WORLD_SIZE"}, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
	{"PMI_RANK", "PMI_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"},
}

// environmentRank is the rank that an environment tells, and how many ranks there are (0 where it does not tell).
// LOCAL_RANK alone is a rank of one host, so it counts only where that is all there is.
func environmentRank(environment map[string]string) (rank, world int, from string) {
	number := func(name string) int {
		n, err := strconv.Atoi(environment[name])
		if err != nil || n < 0 {
			return Unknown
		}
		return n
	}
	for _, v := range rankVariables {
		if rank := number(v.rank); rank != Unknown {
			return rank, max(0, number(v.world)), v.rank
		}
	}
	if rank, world := number("LOCAL_RANK"), number("WORLD_SIZE"); rank != Unknown && world > 0 &&
		world == number("LOCAL_WORLD_SIZE") {
		return rank, world, "LOCAL_RANK"
	}
	return Unknown, max(0, number("WORLD_SIZE")), ""
}

// rankDevices finds ranks. What is said of the program as a whole (its environment, the name of the file) is of a
// device only where the file has no other that ran kernels; MPI's table and NCCL's communicators tell one process or
// device from another.
func (n *nsight) rankDevices(ctx context.Context, devices []*nsightDevice) error {
	mpi, err := mpiRanks(ctx, n.db)
	if err != nil {
		return err
	}
	var busy []*nsightDevice
	perProcess := map[int64]int{}
	for _, d := range devices {
		if d.runsKernels() {
			busy = append(busy, d)
			perProcess[d.key.process]++
		}
	}
	rank, world, from := environmentRank(n.session.environment)
	for _, d := range busy {
		if len(busy) == 1 && rank != Unknown {
			d.device.Rank, d.device.RankFrom, d.device.World = rank, "environment variable "+from, world
			continue
		}
		if r, ok := mpi[d.key.process]; ok && perProcess[d.key.process] == 1 {
			d.device.Rank, d.device.RankFrom = r, "MPI's rank in the file"
		}
	}
	if len(busy) == 1 && busy[0].device.Rank == Unknown {
		if r := within(rankOfPath(n.file.Path), world); r != Unknown {
			busy[0].device.Rank, busy[0].device.RankFrom = r, "file name"
		}
	}
	n.nvtx.communicatorRanks(busy, world)
	return nil
}

// runsKernels says whether more than copies ran: a process may have a context on a device that it does not compute on.
func (d *nsightDevice) runsKernels() bool {
	for i := range d.device.Activities {
		if k := d.device.Activities[i].Kind; k == Kernel || k == GraphTrace {
			return true
		}
	}
	return false
}

// mpiRanks reads the rank of each process that MPI was traced in.
func mpiRanks(ctx context.Context, db *database) (map[int64]int, error) {
	ranks := map[int64]int{}
	err := db.scan(ctx, "MPI_RANKS", "", []string{"globalTid", "rank"}, func(r row) {
		if rank, ok := r.int(1); ok && rank >= 0 && rank < 1<<31 {
			ranks[processOf(r.or(0, 0))] = int(rank)
		}
	})
	return ranks, err
}

// communicatorRanks takes the rank in the largest communicator, where nothing else told the rank, all devices of the
// file have one of that size, and no two of them the same rank: then it is that of the world, as far as can be told
// from one file.
func (v *nvtx) communicatorRanks(devices []*nsightDevice, world int) {
	largest := map[*nsightDevice]payload{}
	size := int64(0)
	for _, d := range devices {
		for key, m := range v.members {
			if key.process == d.key.process && key.device == d.key.id && m.ranks > largest[d].ranks {
				largest[d] = m
			}
		}
		size = max(size, largest[d].ranks)
	}
	seen := map[int64]bool{}
	for _, d := range devices {
		m := largest[d]
		if m.ranks != size || size < 2 || seen[m.rank] || world > 0 && size != int64(world) || d.device.Rank != Unknown {
			return
		}
		seen[m.rank] = true
	}
	for _, d := range devices {
		d.device.Rank, d.device.World = int(largest[d].rank), int(size)
		d.device.RankFrom = fmt.Sprintf("NCCL's communicator of %d ranks", size)
	}
}
