package main

import (
	"testing"

	"busbar/cudart"
)

// gpusOf makes a host of n ranks that all see n GPUs and take one each.
func gpusOf(n int, change func(rank int, v *gpuView)) []setup {
	host := hostOf(n, setup{})
	for i := range host {
		v := &gpuView{Driver: "550.54.15", CUDA: 12040, Library: "NCCL 2.27.7", Path: "/lib/libnccl.so.2"}
		for k := range n {
			id := string(rune('a' + k))
			v.Devices = append(v.Devices, gpu{Name: "NVIDIA H100", UUID: "GPU-" + id, PCI: "0000:0" + id + ":00.0", Bytes: 80 * gib, State: &cudart.Health{Persistence: "on", ECC: "on"}})
			v.Peer = append(v.Peer, make([]bool, n))
			for other := range n {
				v.Peer[k][other] = k != other
			}
		}
		if change != nil {
			change(i, v)
		}
		host[i].GPU = v
	}
	takeGPUs(host)
	return host
}

// only are the rows of one check.
func only(check string, rows []row) (found []row) {
	for _, r := range rows {
		if r.Check == check {
			found = append(found, r)
		}
	}
	return found
}

func TestCheckGPUs(t *testing.T) {
	all := func(change func(v *gpuView)) func(int, *gpuView) { return func(_ int, v *gpuView) { change(v) } }
	state := func(change func(s *cudart.Health)) func(int, *gpuView) {
		return all(func(v *gpuView) { change(v.Devices[1].State) })
	}
	for name, c := range map[string]struct {
		check  string
		change func(int, *gpuView)
		want   want
	}{
		"devices":       {"GPUs", nil, want{passed, "2 x NVIDIA H100 with 80 GiB, driver 550.54.15 (CUDA 12.4)"}},
		"no driver":     {"GPUs", all(func(v *gpuView) { *v = gpuView{Problem: "no libcuda.so.1\ntried:\n  /usr/lib\ninstall it"} }), want{problem, "no libcuda.so.1"}},
		"no GPU":        {"GPUs", all(func(v *gpuView) { v.Devices = nil }), want{problem, "no GPU is visible, and none of NVIDIA is on the PCI bus"}},
		"rehearsal":     {"GPUs", all(func(v *gpuView) { v.Rehearsed = true }), want{caution, "stand-ins: 2 x"}},
		"library":       {"NCCL", nil, want{passed, "NCCL 2.27.7 (/lib/libnccl.so.2)"}},
		"no library":    {"NCCL", all(func(v *gpuView) { v.Missing = "no libnccl.so.2\npip install it" }), want{problem, "no libnccl.so.2"}},
		"newer CUDA":    {"NCCL", all(func(v *gpuView) { v.BuiltFor = "13.0" }), want{problem, "built for CUDA 13.0; the driver serves CUDA 12.4 only"}},
		"newer minor":   {"NCCL", all(func(v *gpuView) { v.BuiltFor = "12.9" }), want{passed, "built for CUDA 12.9"}},
		"older CUDA":    {"NCCL", all(func(v *gpuView) { v.BuiltFor, v.CUDA = "12.9", 13000 }), want{passed, "built for CUDA 12.9"}},
		"old GPU":       {"NCCL", all(func(v *gpuView) { v.Unserved = "V100 is left out" }), want{problem, "V100 is left out"}},
		"own GPUs":      {"GPU of each rank", nil, want{passed, "each its own"}},
		"one for two":   {"GPU of each rank", all(func(v *gpuView) { v.Devices = v.Devices[:1] }), want{problem, "2 ranks take one GPU: NVIDIA H100 at 0000:0a:00.0 (GPU-a)"}},
		"allowed":       {"GPU of each rank", all(func(v *gpuView) { v.Devices, v.Shared = v.Devices[:1], true }), want{caution, "2 ranks take one GPU"}},
		"slices":        {"GPU of each rank", all(func(v *gpuView) { v.Devices[1].PCI = v.Devices[0].PCI }), want{caution, "slices (MIG) of one GPU at 0000:0a:00.0"}},
		"peers":         {"peer access", nil, want{passed, "all 2 GPUs"}},
		"no peers":      {"peer access", all(func(v *gpuView) { v.Peer[1][0] = false }), want{caution, "1 of 1 pairs of GPUs have none: 0-1"}},
		"one each":      {"peer access", func(r int, v *gpuView) { v.Devices, v.Peer = v.Devices[r:r+1], [][]bool{{false}} }, want{passed, "the rank sees 1 GPU"}},
		"one each owns": {"GPU of each rank", func(r int, v *gpuView) { v.Devices = v.Devices[r : r+1] }, want{passed, "each its own"}},
		"healthy":       {"GPU state", nil, want{passed, "2 GPUs: clocks free"}},
		"no NVML":       {"GPU state", all(func(v *gpuView) { v.Devices[0].State, v.Devices[1].State = nil, nil }), want{passed, "not known"}},
		"persistence":   {"GPU state", state(func(s *cudart.Health) { s.Persistence = "off" }), want{caution, "persistence mode is off: 0000:0b:00.0"}},
		"ECC":           {"GPU state", state(func(s *cudart.Health) { s.ECC = "off" }), want{caution, "ECC is off: 0000:0b:00.0"}},
		"no ECC":        {"GPU state", state(func(s *cudart.Health) { s.ECC = "" }), want{passed, "2 GPUs"}},
		"errors":        {"GPU state", state(func(s *cudart.Health) { s.ECCErrors = 3 }), want{caution, "memory errors that could not be corrected: 0000:0b:00.0 (3)"}},
		"throttled":     {"GPU state", state(func(s *cudart.Health) { s.Throttle = []string{"sw_power_cap", "hw_slowdown"} }), want{caution, "0000:0b:00.0 (sw_power_cap, hw_slowdown)"}},
		"idle":          {"GPU state", state(func(s *cudart.Health) { s.Throttle = []string{"gpu_idle"} }), want{passed, "2 GPUs"}},
	} {
		host := gpusOf(2, c.change)
		rows := only(c.check, mergeRows(append(checkGPUs(host), checkOwners(host)...), ranksOf(2, "node1")))
		expect(t, name, rows, c.want)
	}
}

func TestUnusedGPUs(t *testing.T) {
	expect(t, "none", checkGPUs(hostOf(2, setup{})))
	p := pcie{GPUs: []string{"a", "b"}}
	expect(t, "no driver", checkGPUs(hostOf(2, setup{Fabric: fabric{pcie: p}})), want{passed, "2 GPUs of NVIDIA on the bus without a driver"})
	p.Driver = "550"
	expect(t, "idle", checkGPUs(hostOf(2, setup{Fabric: fabric{pcie: p}})), want{passed, "driver 550; this run uses none"})
	host := gpusOf(1, func(_ int, v *gpuView) { v.Devices = nil })
	host[0].Fabric.pcie = p
	expect(t, "hidden", byRank(checkDevices)(host), want{problem, "no GPU is visible, and 2 GPUs of NVIDIA on the PCI bus (driver 550)"})
}

func TestCheckNetworkOfGPUs(t *testing.T) {
	ib, efa := rdmaPort{Name: "mlx5_0/1"}, rdmaPort{Name: "rdmap0/1", EFA: true}
	for name, c := range map[string]struct {
		f             fabric
		peermem, nccl want
	}{
		"InfiniBand":     {fabric{Ports: []rdmaPort{ib}, Peermem: true}, want{passed, "loaded"}, want{passed, "NCCL's own"}},
		"no module":      {fabric{Ports: []rdmaPort{ib, efa}, Plugin: "/x.so"}, want{caution, "not loaded"}, want{passed, "plugin /x.so"}},
		"EFA":            {fabric{Ports: []rdmaPort{efa}, Plugin: "/x.so"}, want{passed, "EFA does without"}, want{passed, "plugin /x.so"}},
		"EFA, no plugin": {fabric{Ports: []rdmaPort{efa}}, want{passed, ""}, want{caution, "NCCL would use TCP"}},
	} {
		host := gpusOf(1, nil)
		host[0].Fabric = c.f
		expect(t, name, only("nvidia-peermem", checkGPUs(host)), c.peermem)
		expect(t, name, only("NCCL network", checkGPUs(host)), c.nccl)
		host[0].GPU.Rehearsed = true // hardware says nothing about a stand-in
		for _, check := range []string{"nvidia-peermem", "NCCL network", "GPU state"} {
			expect(t, name+", rehearsed", only(check, checkGPUs(host)))
		}
	}
}

func TestCheckLibraries(t *testing.T) {
	for name, c := range map[string]struct {
		change func(int, *gpuView) // of the last of three ranks
		wants  []want
	}{
		"alike":   {nil, []want{{passed, "NCCL 2.27.7, driver 550.54.15"}}},
		"library": {func(_ int, v *gpuView) { v.Library = "NCCL 2.19.3" }, []want{{problem, "different libraries: ranks 0 on node1, 1 on node1: NCCL 2.27.7; rank 2 on node1: NCCL 2.19.3"}}},
		"driver":  {func(_ int, v *gpuView) { v.Driver = "535.1" }, []want{{caution, "rank 2 on node1: 535.1"}}},
		"GPU":     {func(_ int, v *gpuView) { v.Devices[2].Name = "NVIDIA A100" }, []want{{caution, "rank 2 on node1: NVIDIA A100"}}},
		"no GPU":  {func(_ int, v *gpuView) { v.Devices = nil }, []want{{caution, "rank 2 on node1: unknown"}}},
		"two": {func(_ int, v *gpuView) { v.Library, v.Driver = "NCCL 2.19.3", "535.1" },
			[]want{{problem, "different libraries"}, {caution, "different drivers"}}},
	} {
		expect(t, name, checkLibraries(gpusOf(3, func(r int, v *gpuView) {
			if r == 2 && c.change != nil {
				c.change(r, v)
			}
		})), c.wants...)
	}
	expect(t, "no GPU backend", checkLibraries(hostOf(2, setup{})))
}

func TestJudgeRoom(t *testing.T) {
	expect(t, "free", []row{judgeRoom(4*gib, "rank 0")}, want{passed, "rank 0"})
	expect(t, "taken", []row{judgeRoom(4*gib-1, "rank 0")}, want{caution, "rank 0"})
}
