package preflight

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/rank/exit"
	"busbar/rank/machine"
)

// limits holds the system limits of this process.
type limits struct {
	Shared volume // /dev/shm
	Locked int64  // bytes of locked memory (ulimit -l); unlimited, or unknown
	Exempt bool   // CAP_IPC_LOCK: the limit does not apply
	Files  int64  // open files (ulimit -n); unlimited, or unknown
	Bounds []machine.MemoryBound
}

const (
	unlimited = machine.Unlimited
	unknown   = machine.Unknown
)

// volume is a mounted filesystem, in bytes; Total is 0 without one.
type volume struct{ Total, Free int64 }

func readLimits(root string) limits {
	l := limits{
		Shared: readVolume(filepath.Join(root, "dev/shm")),
		Locked: machine.ResourceLimit(root, "Max locked memory"),
		Files:  machine.ResourceLimit(root, "Max open files"),
	}
	const ipcLock = 14
	capabilities, _ := strconv.ParseUint(machine.Field(machine.ReadText(root, "proc/self/status"), "CapEff"), 16, 64)
	l.Exempt = capabilities>>ipcLock&1 == 1
	l.Bounds, _ = machine.MemoryBounds(root) // unknown bounds have their own row
	return l
}

func readVolume(path string) volume {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return volume{}
	}
	return volume{Total: int64(s.Blocks) * int64(s.Bsize), Free: int64(s.Bavail) * int64(s.Bsize)}
}

// The use of /dev/shm per rank: MPI libraries a few MiB; NCCL at least 4 MiB per channel and neighbour.
const (
	sharedMinimum = 8 << 20  // below, libraries crash with SIGBUS
	sharedEnough  = 64 << 20 // for most runs
)

// checkShared compares /dev/shm with the ranks of a host.
func checkShared(host []Setup) Row {
	v, n := host[0].Limits.Shared, int64(len(host))
	if v.Total == 0 {
		r := found(preflights.NoShm{Ranks: len(host)})
		if n == 1 { // a single rank needs none
			r = r.graded(notice.Info)
		}
		return r
	}
	m := preflights.SharedMemory{Free: units.RoughBytes(v.Free), Total: units.RoughBytes(v.Total), Ranks: len(host)}
	r := found(m)
	switch each := v.Free / n; {
	case n > 1 && each < sharedMinimum:
		r = found(preflights.ShmTooSmall{SharedMemory: m})
	case n > 1 && each < sharedEnough:
		r = found(preflights.ShmSmallForNCCL{SharedMemory: m})
	}
	return r.smallest(fmt.Sprint(n), float64(v.Free))
}

// limitOf converts a limit for notices.
func limitOf(n int64) preflights.Limit {
	switch n {
	case unlimited:
		return preflights.Unlimited
	case unknown:
		return preflights.LimitUnknown
	}
	return preflights.Limit(n)
}

// lockedMinimum is the minimum of locked memory that RDMA needs per rank: queues and internal buffers of libraries.
const lockedMinimum = 64 << 20

// checkLocked checks ulimit -l. RDMA locks the memory that an adapter accesses.
func checkLocked(s Setup) Row {
	l := s.Limits.Locked
	limit := preflights.ByteLimit{Limit: limitOf(l)}
	switch {
	case limit.Limit < 0:
		return found(preflights.LockedMemory{Limit: limit})
	case len(s.Fabric.Ports) == 0:
		return found(preflights.LockedMemory{Limit: limit, Reason: preflights.NoRDMA})
	case s.Limits.Exempt:
		return found(preflights.LockedMemory{Limit: limit, Reason: preflights.LockExempt})
	case l < lockedMinimum:
		return found(preflights.MemlockLimited{Limit: limit}).graded(notice.Error)
	}
	return found(preflights.MemlockLimited{Limit: limit})
}

// filesFor checks ulimit -n for a world size. Each rank connects to rank 0, and MPI over TCP to every rank; most
// libraries open several connections.
func filesFor(world int) func(Setup) Row {
	needed, enough := 64+world, 256+4*world
	return func(s Setup) Row {
		limit := limitOf(s.Limits.Files)
		switch {
		case limit < 0 || int64(limit) >= int64(enough):
			return found(preflights.OpenFiles{Limit: limit})
		case int64(limit) < int64(needed):
			return found(preflights.OpenFilesLimited{Limit: limit, Ranks: world, Needed: needed}).graded(notice.Error)
		}
		return found(preflights.OpenFilesLimited{Limit: limit, Ranks: world, Needed: enough})
	}
}

// Limits for the buffers of a rank: below the minimum no useful sweep is possible.
const (
	memoryMinimum = 16 << 20
	memoryEnough  = 256 << 20
)

// checkMemory computes the available memory of the ranks of a host, and its bound.
func checkMemory(host []Setup, scratch float64) Row {
	var ranks []machine.RankMemory
	for _, s := range host {
		ranks = append(ranks, machine.RankMemory{Rank: s.who.Rank, Host: s.who.Host, Machine: s.who.Machine,
			Bounds: s.Limits.Bounds})
	}
	plan := machine.PlanMemory(ranks, scratch)
	limit := preflights.BufferLimit(plan.Limit)
	r := found(preflights.HostBuffers{Limit: limit})
	switch short := found(preflights.HostMemoryShort{Limit: limit}); {
	case plan.Bytes == math.MaxInt64:
		return found(preflights.HostMemoryUnknown{})
	case plan.Bytes < memoryMinimum:
		r = short.graded(notice.Error)
	case plan.Bytes < memoryEnough:
		r = short
	}
	return r.smallest(fmt.Sprint(len(host)), float64(plan.Bytes))
}

// outputEnough is many times the size of the files of a large sweep.
const outputEnough = 100 << 20

// CheckOutput checks the results folder on rank 0's host.
func CheckOutput(dir string) Row {
	const name = "output"
	if err := result.CheckDir(dir); err != nil {
		return Found(name, preflights.OutputUnusable{Failed: exit.FailureOf(err).Parts})
	}
	return judgeSpace(dir, readVolume(existing(dir)))
}

func judgeSpace(dir string, v volume) Row {
	const name = "output"
	full := Found(name, preflights.OutputFull{Folder: dir, Free: units.RoughBytes(v.Free)})
	switch {
	case v.Total == 0:
		return Found(name, preflights.OutputFolder{Folder: dir})
	case v.Free < 1<<20:
		return full.graded(notice.Error)
	case v.Free < outputEnough:
		return full
	}
	return Found(name, preflights.OutputFolder{Folder: dir, Free: units.RoughBytes(v.Free)})
}

// existing returns the folder itself, or its nearest existing parent.
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
