package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	mib = 1 << 20
	tib = 1 << 40
)

// hostOf makes a host of n ranks that have this set-up.
func hostOf(n int, s setup) (host []setup) {
	for _, r := range ranksOf(n, "node1") {
		s.who = r
		host = append(host, s)
	}
	return host
}

func TestReadLimits(t *testing.T) {
	text := "Limit                     Soft Limit           Hard Limit           Units\n" +
		"Max open files            1024                 524288               files\nMax locked memory         %s            unlimited            bytes\n"
	for name, c := range map[string]struct {
		files  map[string]string
		locked int64
		open   int64
		exempt bool
	}{
		"limited":   {map[string]string{"proc/self/limits": strings.ReplaceAll(text, "%s", "8388608")}, 8 * mib, 1024, false},
		"unlimited": {map[string]string{"proc/self/limits": strings.ReplaceAll(text, "%s", "unlimited")}, unlimited, 1024, false},
		"unknown":   {nil, unknown, unknown, false},
		"root":      {map[string]string{"proc/self/status": "CapEff:\t000001ffffffffff\n"}, unknown, unknown, true},
		"container": {map[string]string{"proc/self/status": "CapEff:\t00000000a80425fb\n"}, unknown, unknown, false},
	} {
		root := fakeRoot(t, c.files)
		if err := os.MkdirAll(filepath.Join(root, "dev/shm"), 0o755); err != nil {
			t.Fatal(err)
		}
		l := readLimits(root)
		if l.Locked != c.locked || l.Files != c.open || l.Exempt != c.exempt || l.Shared.Total <= 0 {
			t.Errorf("%s: %+v", name, l)
		}
	}
	if v := readLimits(t.TempDir()).Shared; v != (volume{}) {
		t.Errorf("no /dev/shm: %+v", v)
	}
}

func TestCheckShared(t *testing.T) {
	for name, c := range map[string]struct {
		ranks int
		v     volume
		want  want
	}{
		"plenty":             {8, volume{tib, gib}, want{passed, "1 GiB free of 1 TiB for 8 ranks"}},
		"docker's default":   {2, volume{64 * mib, 64 * mib}, want{caution, "not for NCCL"}},
		"docker's, 16 ranks": {16, volume{64 * mib, 64 * mib}, want{problem, "SIGBUS"}},
		"one rank, little":   {1, volume{64 * mib, mib}, want{passed, "for 1 rank"}},
		"one rank, none":     {1, volume{}, want{passed, "one rank needs none"}},
		"none":               {2, volume{}, want{caution, "no /dev/shm for 2 ranks"}},
		"just enough":        {4, volume{gib, 256 * mib}, want{passed, ""}},
		"just not":           {4, volume{gib, 256*mib - 4}, want{caution, ""}},
		"just alive":         {4, volume{gib, 32 * mib}, want{caution, ""}},
		"full":               {4, volume{gib, 32*mib - 4}, want{problem, ""}},
	} {
		expect(t, name, checkShared(hostOf(c.ranks, setup{Limits: limits{Shared: c.v}})), c.want)
	}
}

func TestCheckLocked(t *testing.T) {
	rdma := fabric{Ports: []rdmaPort{{}}}
	for name, c := range map[string]struct {
		l    limits
		f    fabric
		want want
	}{
		"unlimited":       {limits{Locked: unlimited}, rdma, want{passed, "unlimited"}},
		"unknown":         {limits{Locked: unknown}, rdma, want{passed, "not known"}},
		"no RDMA":         {limits{Locked: 64 << 10}, fabric{}, want{passed, "64 KiB; without RDMA"}},
		"exempt":          {limits{Locked: 64 << 10, Exempt: true}, rdma, want{passed, "CAP_IPC_LOCK"}},
		"the old default": {limits{Locked: 64 << 10}, rdma, want{problem, "64 KiB: RDMA cannot"}},
		"the new default": {limits{Locked: 8 * mib}, rdma, want{problem, "8 MiB"}},
		"half":            {limits{Locked: 256 * gib}, rdma, want{caution, "256 GiB"}},
	} {
		expect(t, name, []row{checkLocked(setup{Limits: c.l, Fabric: c.f})}, c.want)
	}
}

func TestCheckFiles(t *testing.T) {
	for _, c := range []struct {
		files int64
		world int
		want  want
	}{
		{unlimited, 1 << 20, want{passed, "unlimited"}}, {unknown, 8, want{passed, "not known"}}, {1024, 8, want{passed, "1024"}},
		{1024, 192, want{passed, "1024"}}, {1024, 193, want{caution, "little for 193 ranks"}}, {1024, 960, want{caution, "960"}}, {1024, 961, want{problem, "961 ranks"}},
	} {
		expect(t, "files", []row{filesFor(c.world)(setup{Limits: limits{Files: c.files}})}, c.want)
	}
}

func TestCheckMemory(t *testing.T) {
	bound := func(free int64) limits {
		return limits{Bounds: []memoryBound{{Name: "cgroup /job memory.max", Free: free}}}
	}
	for name, c := range map[string]struct {
		ranks int
		l     limits
		want  want
	}{
		"plenty":  {8, bound(512 * gib), want{passed, "cgroup /job memory.max leaves 512 GiB for 8 ranks"}},
		"little":  {8, bound(2 * gib), want{caution, "of buffers a rank"}},
		"nothing": {8, bound(256 * mib), want{problem, "0 B of buffers a rank"}},
		"unknown": {8, limits{}, want{caution, "not known"}},
	} {
		expect(t, name, checkMemory(hostOf(c.ranks, setup{Limits: c.l})), c.want)
	}
}

func TestCheckOutput(t *testing.T) {
	for name, c := range map[string]struct {
		v    volume
		want want
	}{
		"room": {volume{tib, gib}, want{passed, "out can be written, 1 GiB free"}}, "little": {volume{tib, 99 * mib}, want{caution, "99 MiB free"}},
		"full": {volume{tib, 4096}, want{problem, "4 KiB free"}}, "unknown": {volume{}, want{passed, "not known"}},
	} {
		expect(t, name, []row{judgeSpace("out", c.v)}, c.want)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	r := checkOutput(file)
	expect(t, "a file", []row{r}, want{problem, "is a file"})
	if !strings.Contains(r.Advice, "--out") {
		t.Error(r.Advice)
	}
	below := filepath.Join(dir, "a", "b")
	if r := checkOutput(below); r.Verdict == problem || r.Verdict == passed && !strings.Contains(r.Found, "free") {
		t.Errorf("%+v", r)
	}
	if got := existing(below); got != dir {
		t.Errorf("above %s there is %s", below, got)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}
