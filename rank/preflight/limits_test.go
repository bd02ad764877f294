package preflight

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
	"busbar/internal/units"
	"busbar/rank/machine"
	"busbar/rank/machine/machinetest"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

const (
	mib = 1 << 20
	gib = 1 << 30
	tib = 1 << 40
)

// hostOf returns a host of n ranks with this setup.
func hostOf(n int, s Setup) (host []Setup) {
	for _, r := range ranksOf(n, "node1") {
		s.who = r
		host = append(host, s)
	}
	return host
}

func TestReadLimits(t *testing.T) {
	text := "Limit                     Soft Limit           Hard Limit           Units\n" +
		"Max open files            1024                 524288               files\nMax locked memory         %s     " +
		"       unlimited            bytes\n"
	for name, c := range map[string]struct {
		files  map[string]string
		locked int64
		open   int64
		exempt bool
	}{
		"limited": {map[string]string{"proc/self/limits": strings.ReplaceAll(text, "%s", "8388608")}, 8 * mib, 1024,
			false},
		"unlimited": {map[string]string{"proc/self/limits": strings.ReplaceAll(text, "%s", "unlimited")}, unlimited,
			1024, false},
		"unknown":   {nil, unknown, unknown, false},
		"root":      {map[string]string{"proc/self/status": "CapEff:\t000001ffffffffff\n"}, unknown, unknown, true},
		"container": {map[string]string{"proc/self/status": "CapEff:\t00000000a80425fb\n"}, unknown, unknown, false},
	} {
		root := machinetest.Root(t, c.files)
		must.NoError(t, os.MkdirAll(filepath.Join(root, "dev/shm"), 0o755))
		l := readLimits(root)
		if l.Locked != c.locked || l.Files != c.open || l.Exempt != c.exempt || l.Shared.Total <= 0 {
			t.Errorf("%s: %+v", name, l)
		}
	}
	test.EqOp(t, volume{}, readLimits(t.TempDir()).Shared)
}

func TestCheckShared(t *testing.T) {
	docker := func(ranks int) preflights.SharedMemory {
		return preflights.SharedMemory{Free: 64 * mib, Total: 64 * mib, Ranks: ranks}
	}
	for name, c := range map[string]struct {
		ranks int
		v     volume
		want  want
	}{
		"plenty": {8, volume{tib, gib}, preflights.SharedMemory{Free: gib, Total: tib, Ranks: 8}},
		"docker's default": {2, volume{64 * mib, 64 * mib},
			preflights.ShmSmallForNCCL{SharedMemory: docker(2)}},
		"docker's, 16 ranks": {16, volume{64 * mib, 64 * mib},
			preflights.ShmTooSmall{SharedMemory: docker(16)}},
		"one rank, little": {1, volume{64 * mib, mib}, preflights.SharedMemory{Free: mib, Total: 64 * mib,
			Ranks: 1}},
		"one rank, none": {1, volume{}, graded{Passed, preflights.NoShm{Ranks: 1}}},
		"none":           {2, volume{}, preflights.NoShm{Ranks: 2}},
		"just enough":    {4, volume{gib, 256 * mib}, coded("shared-memory")},
		"just not":       {4, volume{gib, 256*mib - 4}, coded("shm-small-for-nccl")},
		"just alive":     {4, volume{gib, 32 * mib}, coded("shm-small-for-nccl")},
		"full":           {4, volume{gib, 32*mib - 4}, coded("shm-too-small")},
	} {
		expect(t, name, perGroup(checkShared)(hostOf(c.ranks, Setup{Limits: limits{Shared: c.v}})), c.want)
	}
}

func TestCheckLocked(t *testing.T) {
	rdma := fabric{Ports: []machine.RDMAPort{{}}}
	limit := func(n preflights.Limit) preflights.ByteLimit { return preflights.ByteLimit{Limit: n} }
	limited := func(n preflights.Limit) notice.Fact { return preflights.MemlockLimited{Limit: limit(n)} }
	locked := func(n preflights.Limit, why preflights.LockReason) notice.Fact {
		return preflights.LockedMemory{Limit: limit(n), Reason: why}
	}
	for name, c := range map[string]struct {
		l    limits
		f    fabric
		want want
	}{
		"unlimited": {limits{Locked: unlimited}, rdma, locked(preflights.Unlimited, "")},
		"unknown":   {limits{Locked: unknown}, rdma, locked(preflights.LimitUnknown, "")},
		"no RDMA":   {limits{Locked: 64 << 10}, fabric{}, locked(64<<10, preflights.NoRDMA)},
		"exempt": {limits{Locked: 64 << 10, Exempt: true}, rdma,
			locked(64<<10, preflights.LockExempt)},
		"the old default": {limits{Locked: 64 << 10}, rdma, graded{Problem, limited(64 << 10)}},
		"the new default": {limits{Locked: 8 * mib}, rdma, graded{Problem, limited(8 * mib)}},
		"half":            {limits{Locked: 256 * gib}, rdma, limited(256 * gib)},
	} {
		expect(t, name, []Row{checkLocked(Setup{Limits: c.l, Fabric: c.f})}, c.want)
	}
}

func TestCheckFiles(t *testing.T) {
	for _, c := range []struct {
		files int64
		world int
		want  want
	}{
		{unlimited, 1 << 20, preflights.OpenFiles{Limit: preflights.Unlimited}},
		{unknown, 8, preflights.OpenFiles{Limit: preflights.LimitUnknown}},
		{1024, 8, preflights.OpenFiles{Limit: 1024}},
		{1024, 192, preflights.OpenFiles{Limit: 1024}},
		{1024, 193, preflights.OpenFilesLimited{Limit: 1024, Ranks: 193, Needed: 1028}},
		{1024, 960, preflights.OpenFilesLimited{Limit: 1024, Ranks: 960, Needed: 4096}},
		{1024, 961, graded{Problem, preflights.OpenFilesLimited{Limit: 1024, Ranks: 961, Needed: 1025}}},
	} {
		expect(t, "files", []Row{filesFor(c.world)(Setup{Limits: limits{Files: c.files}})}, c.want)
	}
}

func TestCheckMemory(t *testing.T) {
	bound := func(free int64) limits {
		return limits{Bounds: []machine.MemoryBound{{Name: "cgroup /job memory.max", Free: free}}}
	}
	limit := func(bytes, free units.RoughBytes) preflights.BufferLimit {
		return preflights.BufferLimit{
			Host:  "node1",
			Bytes: bytes,
			Bound: "cgroup /job memory.max",
			Free:  free,
			Ranks: 8,
			Kept:  32 * mib,
		}
	}
	for name, c := range map[string]struct {
		ranks int
		l     limits
		want  want
	}{
		"plenty":  {8, bound(512 * gib), preflights.HostBuffers{Limit: limit(41209316420, 512*gib)}},
		"little":  {8, bound(2 * gib), coded("host-memory-short")},
		"nothing": {8, bound(256 * mib), graded{Problem, preflights.HostMemoryShort{Limit: limit(0, 256*mib)}}},
		"unknown": {8, limits{}, preflights.HostMemoryUnknown{}},
	} {
		expect(t, name, []Row{checkMemory(hostOf(c.ranks, Setup{Limits: c.l}), 0.5)}, c.want)
	}
}

func TestCheckOutput(t *testing.T) {
	for name, c := range map[string]struct {
		v    volume
		want want
	}{
		"room":    {volume{tib, gib}, preflights.OutputFolder{Folder: "out", Free: gib}},
		"little":  {volume{tib, 99 * mib}, preflights.OutputFull{Folder: "out", Free: 99 * mib}},
		"full":    {volume{tib, 4096}, graded{Problem, preflights.OutputFull{Folder: "out", Free: 4096}}},
		"unknown": {volume{}, preflights.OutputFolder{Folder: "out"}},
	} {
		expect(t, name, []Row{judgeSpace("out", c.v)}, c.want)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.NoError(t, os.WriteFile(file, nil, 0o666))
	expect(t, "a file", []Row{CheckOutput(file)}, preflights.OutputUnusable{Failed: preflights.Failed{
		Problem: fmt.Sprintf("results folder %s: %[1]s is a file, not a folder", file),
		Remedy:  "name another with --out"}})
	below := filepath.Join(dir, "a", "b")
	r := CheckOutput(below)
	f, is := r.Fact.(preflights.OutputFolder)
	if r.Severity == notice.Error || r.Severity == notice.Info && (!is || f.Folder != below || f.Free <= 0) {
		t.Errorf("%+v", r)
	}
	test.EqOp(t, dir, existing(below), test.Sprint(below))
	_, err := os.Stat(filepath.Join(dir, "a"))
	test.ErrorIs(t, err, os.ErrNotExist)
}
