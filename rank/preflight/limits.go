package preflight

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/rank/exit"
	"busbar/rank/machine"
)

// limits are what the system lets this process have.
type limits struct {
	Shared volume // /dev/shm
	Locked int64  // bytes that may be locked in memory (ulimit -l); unlimited, or unknown
	Exempt bool   // CAP_IPC_LOCK: that limit does not count
	Files  int64  // open files (ulimit -n); unlimited, or unknown
	Bounds []machine.MemoryBound
}

const (
	unlimited = machine.Unlimited
	unknown   = machine.Unknown
)

// volume is a mounted filesystem, in bytes; a Total of 0: no such filesystem.
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
	l.Bounds, _ = machine.MemoryBounds(root) // nothing known has a row of its own
	return l
}

func readVolume(path string) volume {
	var s syscall.Statfs_t
	if err := syscall.Statfs(path, &s); err != nil {
		return volume{}
	}
	return volume{Total: int64(s.Blocks) * int64(s.Bsize), Free: int64(s.Bavail) * int64(s.Bsize)}
}

// What a rank takes of /dev/shm: MPI libraries a few MiB each; NCCL 4 MiB and more for each channel to each rank near
// by.
const (
	sharedLeast  = 8 << 20  // below, libraries end with SIGBUS
	sharedEnough = 64 << 20 // for most
)

// checkShared compares /dev/shm with the ranks of a host.
func checkShared(host []Setup) Row {
	v, n := host[0].Limits.Shared, int64(len(host))
	if v.Total == 0 {
		r := found(notice.NoShm{Ranks: len(host)})
		if n == 1 { // it needs none
			r = r.graded(notice.Info)
		}
		return r
	}
	m := notice.SharedMemory{Free: units.RoughBytes(v.Free), Total: units.RoughBytes(v.Total), Ranks: len(host)}
	r := found(m)
	switch each := v.Free / n; {
	case n > 1 && each < sharedLeast:
		r = found(notice.ShmTooSmall{SharedMemory: m})
	case n > 1 && each < sharedEnough:
		r = found(notice.ShmSmallForNCCL{SharedMemory: m})
	}
	return r.smallest(fmt.Sprint(n), float64(v.Free))
}

// limitOf is a limit as notices have it.
func limitOf(n int64) notice.Limit {
	switch n {
	case unlimited:
		return notice.Unlimited
	case unknown:
		return notice.LimitUnknown
	}
	return notice.Limit(n)
}

// lockedLeast is the minimum memory that RDMA locks for a rank: queues and internal buffers of libraries.
const lockedLeast = 64 << 20

// checkLocked looks at ulimit -l, which RDMA needs to be large: memory that an adapter writes to must stay in place.
func checkLocked(s Setup) Row {
	l := s.Limits.Locked
	limit := notice.ByteLimit{Limit: limitOf(l)}
	switch {
	case limit.Limit < 0:
		return found(notice.LockedMemory{Limit: limit})
	case len(s.Fabric.Ports) == 0:
		return found(notice.LockedMemory{Limit: limit, Reason: notice.NoRDMA})
	case s.Limits.Exempt:
		return found(notice.LockedMemory{Limit: limit, Reason: notice.LockExempt})
	case l < lockedLeast:
		return found(notice.MemlockLimited{Limit: limit}).graded(notice.Error)
	}
	return found(notice.MemlockLimited{Limit: limit})
}

// filesFor looks at ulimit -n in a world of that many ranks: each takes a connection to rank 0, and MPI over TCP one
// to each other rank; most libraries open several.
func filesFor(world int) func(Setup) Row {
	least, enough := 64+world, 256+4*world
	return func(s Setup) Row {
		limit := limitOf(s.Limits.Files)
		switch {
		case limit < 0 || int64(limit) >= int64(enough):
			return found(notice.OpenFiles{Limit: limit})
		case int64(limit) < int64(least):
			return found(notice.OpenFilesLimited{Limit: limit, Ranks: world, Needed: least}).graded(notice.Error)
		}
		return found(notice.OpenFilesLimited{Limit: limit, Ranks: world, Needed: enough})
	}
}

// What the buffers of a rank may take: below the minimum a sweep has no useful points.
const (
	memoryLeast  = 16 << 20
	memoryEnough = 256 << 20
)

// checkMemory finds what the ranks of a host may have at once, and what bounds it.
func checkMemory(host []Setup, scratch float64) Row {
	var ranks []machine.RankMemory
	for _, s := range host {
		ranks = append(ranks, machine.RankMemory{Rank: s.who.Rank, Host: s.who.Host, Machine: s.who.Machine,
			Bounds: s.Limits.Bounds})
	}
	plan := machine.PlanMemory(ranks, scratch)
	limit := notice.BufferLimit(plan.Limit)
	r := found(notice.HostBuffers{Limit: limit})
	switch short := found(notice.HostMemoryShort{Limit: limit}); {
	case plan.Bytes == math.MaxInt64:
		return found(notice.HostMemoryUnknown{})
	case plan.Bytes < memoryLeast:
		r = short.graded(notice.Error)
	case plan.Bytes < memoryEnough:
		r = short
	}
	return r.smallest(fmt.Sprint(len(host)), float64(plan.Bytes))
}

// outputEnough is the space that the files of a large sweep take many times over.
const outputEnough = 100 << 20

// CheckOutput looks at the folder for results, on rank 0's host.
func CheckOutput(dir string) Row {
	const name = "output"
	if err := result.CheckDir(dir); err != nil {
		return Found(name, notice.OutputUnusable{Failed: exit.FailureOf(err).Parts})
	}
	return judgeSpace(dir, readVolume(existing(dir)))
}

func judgeSpace(dir string, v volume) Row {
	const name = "output"
	full := Found(name, notice.OutputFull{Folder: dir, Free: units.RoughBytes(v.Free)})
	switch {
	case v.Total == 0:
		return Found(name, notice.OutputFolder{Folder: dir})
	case v.Free < 1<<20:
		return full.graded(notice.Error)
	case v.Free < outputEnough:
		return full
	}
	return Found(name, notice.OutputFolder{Folder: dir, Free: notice.FreeSpace(v.Free)})
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
