package preflight

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
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
	for name, c := range map[string]struct {
		ranks int
		v     volume
	}{
		"plenty":             {8, volume{tib, gib}},
		"docker's default":   {2, volume{64 * mib, 64 * mib}},
		"docker's, 16 ranks": {16, volume{64 * mib, 64 * mib}},
		"one rank, little":   {1, volume{64 * mib, mib}},
		"one rank, none":     {1, volume{}},
		"none":               {2, volume{}},
		"just enough":        {4, volume{gib, 256 * mib}},
		"just not":           {4, volume{gib, 256*mib - 4}},
		"just alive":         {4, volume{gib, 32 * mib}},
		"full":               {4, volume{gib, 32*mib - 4}},
	} {
		expect(t, name, perGroup(checkShared)(hostOf(c.ranks, Setup{Limits: limits{Shared: c.v}})))
	}
}

func TestCheckLocked(t *testing.T) {
	rdma := fabric{Ports: []machine.RDMAPort{{}}}
	for name, l := range map[string]limits{
		"unlimited": {Locked: unlimited}, "unknown": {Locked: unknown}, "no RDMA": {Locked: 64 << 10},
		"exempt": {Locked: 64 << 10, Exempt: true}, "the old default": {Locked: 64 << 10},
		"the new default": {Locked: 8 * mib}, "half": {Locked: 256 * gib},
	} {
		s := Setup{Limits: l, Fabric: rdma}
		if name == "no RDMA" {
			s.Fabric = fabric{}
		}
		expect(t, name, []Row{checkLocked(s)})
	}
}

func TestCheckFiles(t *testing.T) {
	for _, c := range []struct {
		files int64
		world int
	}{{unlimited, 1 << 20}, {unknown, 8}, {1024, 8}, {1024, 192}, {1024, 193}, {1024, 960}, {1024, 961}} {
		expect(t, fmt.Sprint(c), []Row{filesFor(c.world)(Setup{Limits: limits{Files: c.files}})})
	}
}

func TestCheckMemory(t *testing.T) {
	bound := func(free int64) limits {
		return limits{Bounds: []machine.MemoryBound{{Name: "cgroup /job memory.max", Free: free}}}
	}
	for name, l := range map[string]limits{"plenty": bound(512 * gib), "little": bound(2 * gib),
		"nothing": bound(256 * mib), "unknown": {}} {
		expect(t, name, []Row{checkMemory(hostOf(8, Setup{Limits: l}), 0.5)})
	}
}

func TestCheckOutput(t *testing.T) {
	for name, v := range map[string]volume{"room": {tib, gib}, "little": {tib, 99 * mib}, "full": {tib, 4096},
		"unknown": {}} {
		expect(t, name, []Row{judgeSpace("out", v)})
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.NoError(t, os.WriteFile(file, nil, 0o666))
	test.Eq(t, notice.Fact(preflights.OutputUnusable{Failed: preflights.Failed{
		Problem: fmt.Sprintf("results folder %s: %[1]s is a file, not a folder", file),
		Remedy:  "name another with --out"}}), CheckOutput(file).Fact)
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
