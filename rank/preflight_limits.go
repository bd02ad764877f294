package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"busbar/internal/advice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// limits are what the system lets this process have.
type limits struct {
	Shared volume // /dev/shm
	Locked int64  // bytes that may be locked in memory (ulimit -l); unlimited, or unknown
	Exempt bool   // CAP_IPC_LOCK: that limit does not count
	Files  int64  // open files (ulimit -n); unlimited, or unknown
	Bounds []memoryBound
}

const (
	unlimited = math.MaxInt64
	unknown   = -1
)

// volume is a mounted filesystem, in bytes; a Total of 0: there is none.
type volume struct{ Total, Free int64 }

func readLimits(root string) limits {
	l := limits{Shared: readVolume(filepath.Join(root, "dev/shm")), Locked: resourceLimit(root, "Max locked memory"),
		Files: resourceLimit(root, "Max open files")}
	const ipcLock = 14
	capabilities, _ := strconv.ParseUint(field(readText(root, "proc/self/status"), "CapEff"), 16, 64)
	l.Exempt = capabilities>>ipcLock&1 == 1
	l.Bounds, _ = memoryBounds(root) // nothing known has a row of its own
	return l
}

// resourceLimit is the soft limit of that name in /proc/self/limits.
func resourceLimit(root, name string) int64 {
	words := strings.Fields(field(readText(root, "proc/self/limits"), name))
	if len(words) == 0 {
		return unknown
	}
	if words[0] == "unlimited" {
		return unlimited
	}
	n, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil {
		return unknown
	}
	return n
}

func readVolume(path string) volume {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return volume{}
	}
	return volume{Total: int64(s.Blocks) * int64(s.Bsize), Free: int64(s.Bavail) * int64(s.Bsize)}
}

// What a rank takes of /dev/shm: MPI libraries a few MiB each; NCCL 4 MiB and more for each channel to each rank near by.
const (
	sharedLeast  = 8 << 20  // below, libraries end with SIGBUS
	sharedEnough = 64 << 20 // for most
)

// checkShared compares /dev/shm with the ranks of a host.
func checkShared(host []setup) []row {
	const name = "shared memory"
	v, n := host[0].Limits.Shared, int64(len(host))
	each := v.Free / n
	switch {
	case n == 1 && v.Total == 0:
		return []row{fine(name, "there is no /dev/shm; one rank needs none")}
	case v.Total == 0:
		return []row{warn(name, "mount a tmpfs there: ranks of one host exchange data through it", "there is no /dev/shm for %d ranks", n)}
	}
	found := fmt.Sprintf("/dev/shm has %s free of %s for %s", binary(v.Free), binary(v.Total), units.Count(int(n), "rank"))
	r := fine(name, "%s", found)
	switch {
	case n > 1 && each < sharedLeast:
		r = bad(name, advice.Shared, "%s: too little, they would be killed (SIGBUS)", found)
	case n > 1 && each < sharedEnough:
		r = warn(name, advice.Shared, "%s: enough for MPI, not for NCCL", found)
	}
	return []row{r.least(fmt.Sprint(n), float64(v.Free))}
}

// lockedLeast is how much memory RDMA locks for a rank at the least: queues, and buffers of the libraries' own.
const lockedLeast = 64 << 20

// checkLocked looks at ulimit -l, which RDMA needs to be large: memory that an adapter writes to must stay in place.
func checkLocked(s setup) row {
	const name = "locked memory"
	l := s.Limits.Locked
	switch {
	case l == unlimited:
		return fine(name, "ulimit -l is unlimited")
	case l == unknown:
		return fine(name, "ulimit -l is not known")
	case len(s.Fabric.Ports) == 0:
		return fine(name, "ulimit -l is %s; without RDMA devices that does", binary(l))
	case s.Limits.Exempt:
		return fine(name, "ulimit -l is %s; this process is exempt (CAP_IPC_LOCK)", binary(l))
	case l < lockedLeast:
		return bad(name, advice.Locked, "ulimit -l is %s: RDMA cannot register its buffers", binary(l))
	}
	return warn(name, advice.Locked, "ulimit -l is %s: RDMA fails with buffers beyond that", binary(l))
}

// filesFor looks at ulimit -n in a world of that many ranks: each takes a connection to rank 0, and MPI over TCP one
// to each other rank.
func filesFor(world int) func(setup) row {
	const name = "open files"
	return func(s setup) row {
		n := s.Limits.Files
		switch {
		case n == unlimited:
			return fine(name, "ulimit -n is unlimited")
		case n == unknown:
			return fine(name, "ulimit -n is not known")
		case n < int64(64+world):
			return bad(name, advice.Files, "ulimit -n is %d: not one connection to each of %d ranks", n, world)
		case n < int64(256+4*world):
			return warn(name, advice.Files, "ulimit -n is %d: little for %d ranks, where a library opens several connections to each", n, world)
		}
		return fine(name, "ulimit -n is %d", n)
	}
}

// What the buffers of a rank may take: below the least a sweep has no point of interest left.
const (
	memoryLeast  = 16 << 20
	memoryEnough = 256 << 20
)

// checkMemory says what the ranks of a host may have at once, and what bounds it.
func checkMemory(host []setup) []row {
	const name = "host memory"
	var ranks []rankMemory
	for _, s := range host {
		ranks = append(ranks, rankMemory{Rank: s.who.Rank, Host: s.who.Host, Machine: s.who.Machine, Bounds: s.Limits.Bounds})
	}
	plan := planMemory(ranks, mpiScratch)
	if plan.Bytes == math.MaxInt64 {
		return []row{warn(name, "mount /proc; without it a size that is too large ends the run", "free memory is not known")}
	}
	found := fmt.Sprintf("%s of buffers a rank: %s", binary(plan.Bytes), plan.Limit.Basis())
	advice := "end what else uses memory, start fewer ranks a host, or ask for more (srun --mem=0, docker run --memory); sizes that do not fit are left out"
	r := fine(name, "%s", found)
	switch {
	case plan.Bytes < memoryLeast:
		r = bad(name, advice, "%s", found)
	case plan.Bytes < memoryEnough:
		r = warn(name, advice, "%s", found)
	}
	return []row{r.least(fmt.Sprint(len(host)), float64(plan.Bytes))}
}

// outputEnough is the space that the files of a large sweep take many times over.
const outputEnough = 100 << 20

// checkOutput looks at the folder for results, on rank 0's host.
func checkOutput(dir string) row {
	const name = "output"
	if err := result.CheckDir(dir); err != nil {
		found, advice := splitAdvice(err.Error(), "name another folder with --out")
		return bad(name, advice, "%s", found)
	}
	return judgeSpace(dir, readVolume(existing(dir)))
}

func judgeSpace(dir string, v volume) row {
	const name = "output"
	const advice = "make room, or name another folder with --out"
	switch {
	case v.Total == 0:
		return fine(name, "%s can be written; its free space is not known", dir)
	case v.Free < 1<<20:
		return bad(name, advice, "%s: %s free", dir, binary(v.Free))
	case v.Free < outputEnough:
		return warn(name, advice, "%s: %s free", dir, binary(v.Free))
	}
	return fine(name, "%s can be written, %s free", dir, binary(v.Free))
}

// existing is the folder itself or the nearest one above it that is there.
func existing(dir string) string {
	at, err := filepath.Abs(dir)
	for err == nil {
		if _, e := os.Stat(at); e == nil || at == filepath.Dir(at) {
			return at
		}
		at = filepath.Dir(at)
	}
	return dir
}
