package preflight

import (
	"slices"
	"testing"

	"busbar/cudart"
	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
	"busbar/rank/exit"
	"busbar/rank/machine"
)

// gpusOf returns a host of n ranks that see n GPUs and use one each.
func gpusOf(n int, change func(rank int, v *GPUView)) []Setup {
	host := hostOf(n, Setup{})
	for i := range host {
		v := &GPUView{Driver: "550.54.15", CUDA: 12040, Library: "NCCL 2.27.7", Path: "/lib/libnccl.so.2"}
		for k := range n {
			id := string(rune('a' + k))
			device := cudart.Device{
				Name:  "NVIDIA H100",
				UUID:  "GPU-" + id,
				PCI:   "0000:0" + id + ":00.0",
				Bytes: 80 * gib,
			}
			v.Devices = append(v.Devices, gpu{device, &cudart.Health{Persistence: "on", ECC: "on"}})
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
	TakeGPUs(host, oneEach)
	return host
}

// oneEach assigns the GPUs to the ranks in order.
func oneEach(ranks []*GPUView) (ordinals []int) {
	taken := map[string]bool{}
	for _, r := range ranks {
		i := max(0, slices.IndexFunc(r.Devices, func(d gpu) bool { return !taken[d.UUID] }))
		ordinals, taken[r.Devices[i].UUID] = append(ordinals, i), true
	}
	return ordinals
}

// only returns the rows of one check.
func only(check string, rows []Row) (found []Row) {
	for _, r := range rows {
		if r.Check == check {
			found = append(found, r)
		}
	}
	return found
}

func TestCheckGPUs(t *testing.T) {
	all := func(change func(v *GPUView)) func(int, *GPUView) { return func(_ int, v *GPUView) { change(v) } }
	state := func(change func(s *cudart.Health)) func(int, *GPUView) {
		return all(func(v *GPUView) { change(v.Devices[1].State) })
	}
	models := []preflights.GPUModel{{GPUs: 2, Name: "NVIDIA H100", Memory: 80 * gib}}
	const pciA, pciB = "0000:0a:00.0", "0000:0b:00.0"
	library := func(cuda string) preflights.NCCLInUse {
		return preflights.NCCLInUse{Library: "NCCL 2.27.7", Path: "/lib/libnccl.so.2", BuiltFor: cuda}
	}
	shared := notice.SharedGPU{Ranks: 2, GPU: "NVIDIA H100", PCI: pciA, UUID: "GPU-a"}
	allowed := shared
	allowed.Allowed = true
	lost := preflights.Failed{Problem: "no library", Tried: preflights.Places{"/usr/lib"}, Remedy: "install it"}
	for name, c := range map[string]struct {
		check  string
		change func(int, *GPUView)
		want   want
	}{
		"devices": {"GPUs", nil,
			preflights.GPUsVisible{Models: models, Driver: "550.54.15", CUDA: 12040}},
		"no driver": {"GPUs", all(func(v *GPUView) { *v = GPUView{Problem: &exit.Failure{Parts: lost}} }),
			preflights.GPUDriverUnusable{Failed: lost}},
		"no remedy": {"GPUs", all(func(v *GPUView) { *v = GPUView{Problem: &exit.Failure{}} }),
			preflights.GPUDriverUnusable{}},
		"no GPU":    {"GPUs", all(func(v *GPUView) { v.Devices = nil }), preflights.NoGPUVisible{}},
		"simulated": {"GPUs", all(func(v *GPUView) { v.Rehearsed = true }), preflights.SimulatedGPUs{Models: models}},
		"two models": {"GPUs", all(func(v *GPUView) { v.Devices[0].Name = "NVIDIA L4" }),
			preflights.GPUsVisible{Driver: "550.54.15", CUDA: 12040,
				Models: []preflights.GPUModel{{GPUs: 1, Name: "NVIDIA H100", Memory: 80 * gib},
					{GPUs: 1, Name: "NVIDIA L4",
						Memory: 80 * gib}}}},
		"library": {"NCCL", nil, library("")},
		"no library": {"NCCL", all(func(v *GPUView) { v.Missing = &exit.Failure{Parts: lost} }),
			preflights.NCCLUnusable{Failed: lost}},
		"newer CUDA": {"NCCL", all(func(v *GPUView) { v.BuiltFor = "13.0" }),
			preflights.NCCLNeedsNewerDriver{NCCLInUse: library("13.0"), Driver: 12040}},
		"newer minor": {"NCCL", all(func(v *GPUView) { v.BuiltFor = "12.9" }), library("12.9")},
		"older CUDA": {"NCCL", all(func(v *GPUView) { v.BuiltFor, v.CUDA = "12.9", 13000 }),
			library("12.9")},
		"old GPU": {"NCCL", all(func(v *GPUView) { v.BuiltFor, v.Unserved = "13.0", "7.0" }),
			preflights.NCCLWithoutGPUCode{NCCLInUse: library("13.0"), Capability: "7.0"}},
		"own GPUs": {"GPU of each rank", nil, preflights.OwnGPUs{}},
		"one for two": {"GPU of each rank", all(func(v *GPUView) { v.Devices = v.Devices[:1] }),
			graded{Problem, shared}},
		"allowed": {"GPU of each rank", all(func(v *GPUView) { v.Devices, v.Shared = v.Devices[:1], true }),
			allowed},
		"slices": {"GPU of each rank", all(func(v *GPUView) { v.Devices[1].PCI = v.Devices[0].PCI }),
			preflights.GPUSlices{PCI: pciA}},
		"one each owns": {"GPU of each rank", func(r int, v *GPUView) { v.Devices = v.Devices[r : r+1] },
			preflights.OwnGPUs{}},
		"peers": {"peer access", nil, preflights.PeerAccess{GPUs: 2}},
		"no peers": {"peer access", all(func(v *GPUView) { v.Peer[1][0] = false }),
			preflights.NoPeerAccess{Without: 1, Of: 1, Pairs: []string{"0-1"}}},
		"one each": {"peer access", func(r int, v *GPUView) {
			v.Devices, v.Peer = v.Devices[r:r+1],
				[][]bool{{false}}
		},
			preflights.PeerAccessUnknown{GPUs: 1}},
		"healthy": {"GPU state", nil, preflights.GPUsHealthy{GPUs: 2}},
		"no NVML": {"GPU state", all(func(v *GPUView) { v.Devices[0].State, v.Devices[1].State = nil, nil }),
			preflights.GPUStateUnknown{}},
		"persistence": {"GPU state", state(func(s *cudart.Health) { s.Persistence = "off" }),
			preflights.GPUPersistenceOff{GPUs: []string{pciB}}},
		"ECC": {"GPU state", state(func(s *cudart.Health) { s.ECC = "off" }),
			preflights.GPUWithoutECC{GPUs: []string{pciB}}},
		"no ECC": {"GPU state", state(func(s *cudart.Health) { s.ECC = "" }),
			preflights.GPUsHealthy{GPUs: 2}},
		"errors": {"GPU state", state(func(s *cudart.Health) { s.ECCErrors = 3 }),
			preflights.GPUMemoryErrors{GPUs: []preflights.GPUErrors{{PCI: pciB, Errors: 3}}}},
		"throttled": {"GPU state",
			state(func(s *cudart.Health) { s.Throttle = []string{"sw_power_cap", "hw_slowdown"} }),
			preflights.GPUClocksReduced{GPUs: []preflights.GPUThrottle{{PCI: pciB, Reasons: []string{"sw_power_cap",
				"hw_slowdown"}}}}},
		"idle": {"GPU state", state(func(s *cudart.Health) { s.Throttle = []string{"gpu_idle"} }),
			preflights.GPUsHealthy{GPUs: 2}},
	} {
		host := gpusOf(2, c.change)
		rows := only(c.check, mergeRows(CheckSetups(host, 0.5), ranksOf(2, "node1")))
		expect(t, name, rows, c.want)
	}
}

func TestUnusedGPUs(t *testing.T) {
	expect(t, "none", byRank(checkDevices)(hostOf(1, Setup{})))
	p := pcie{GPUs: []string{"a", "b"}}
	expect(t, "no driver", byRank(checkDevices)(hostOf(1, Setup{Fabric: fabric{pcie: p}})),
		preflights.GPUsUnused{GPUs: 2})
	p.Driver = "550"
	expect(t, "idle", byRank(checkDevices)(hostOf(1, Setup{Fabric: fabric{pcie: p}})),
		preflights.GPUsUnused{GPUs: 2, Driver: "550"})
	host := gpusOf(1, func(_ int, v *GPUView) { v.Devices = nil })
	host[0].Fabric.pcie = p
	expect(t, "hidden", byRank(checkDevices)(host), preflights.NoGPUVisible{OnBus: 2, Driver: "550"})
}

func TestCheckNetworkOfGPUs(t *testing.T) {
	ib, efa := machine.RDMAPort{Name: "mlx5_0/1"}, machine.RDMAPort{Name: "rdmap0/1", EFA: true}
	missing, builtIn := preflights.PeermemMissing{}, preflights.NCCLNetwork{}
	loaded := func(is preflights.PeermemLoaded) want { return preflights.Peermem{Loaded: is} }
	plugin := preflights.NCCLNetwork{Plugin: "/x.so"}
	for name, c := range map[string]struct {
		f             fabric
		peermem, nccl want
	}{
		"InfiniBand": {fabric{Ports: []machine.RDMAPort{ib}, Peermem: true}, loaded(true), builtIn},
		"no module":  {fabric{Ports: []machine.RDMAPort{ib, efa}, Plugin: "/x.so"}, missing, plugin},
		"EFA":        {fabric{Ports: []machine.RDMAPort{efa}, Plugin: "/x.so"}, loaded(false), plugin},
		"EFA, no plugin": {fabric{Ports: []machine.RDMAPort{efa}}, loaded(false),
			preflights.EFAWithoutPlugin{}},
	} {
		host := gpusOf(1, nil)
		host[0].Fabric = c.f
		expect(t, name, only("nvidia-peermem", CheckSetups(host, 0.5)), c.peermem)
		expect(t, name, only("NCCL network", CheckSetups(host, 0.5)), c.nccl)
		host[0].GPU.Rehearsed = true // simulated GPUs have no hardware facts
		for _, check := range []string{"nvidia-peermem", "NCCL network", "GPU state"} {
			expect(t, name+", simulated", only(check, CheckSetups(host, 0.5)))
		}
	}
}

func TestCheckLibraries(t *testing.T) {
	differ := func(first, last string) preflights.RankValues {
		return preflights.RankValues{{Value: first, Ranks: []notice.PlacedRank{{Rank: 0, Host: "node1"}, {Rank: 1,
			Host: "node1"}}},
			{Value: last, Ranks: []notice.PlacedRank{{Rank: 2, Host: "node1"}}}}
	}
	libraries := preflights.NCCLVersionsDiffer{Values: differ("NCCL 2.27.7", "NCCL 2.19.3")}
	drivers := preflights.GPUDriversDiffer{Values: differ("550.54.15", "535.1")}
	for name, c := range map[string]struct {
		change func(int, *GPUView) // of the last of three ranks
		wants  []want
	}{
		"alike":   {nil, []want{preflights.GPULibrariesAlike{Library: "NCCL 2.27.7", Driver: "550.54.15"}}},
		"library": {func(_ int, v *GPUView) { v.Library = "NCCL 2.19.3" }, []want{libraries}},
		"driver":  {func(_ int, v *GPUView) { v.Driver = "535.1" }, []want{drivers}},
		"GPU": {func(_ int, v *GPUView) { v.Devices[2].Name = "NVIDIA A100" },
			[]want{preflights.GPUModelsDiffer{Values: differ("NVIDIA H100", "NVIDIA A100")}}},
		"no GPU": {func(_ int, v *GPUView) { v.Devices = nil },
			[]want{preflights.GPUModelsDiffer{Values: differ("NVIDIA H100", "")}}},
		"two": {func(_ int, v *GPUView) { v.Library, v.Driver = "NCCL 2.19.3", "535.1" },
			[]want{libraries, drivers}},
	} {
		expect(t, name, checkLibraries(gpusOf(3, func(r int, v *GPUView) {
			if r == 2 && c.change != nil {
				c.change(r, v)
			}
		})), c.wants...)
	}
	expect(t, "no GPU backend", checkLibraries(hostOf(2, Setup{})))
}

func TestJudgeRoom(t *testing.T) {
	limit := notice.MemoryLimit{Rank: 3, Host: "a", Bytes: 4 * gib, Bound: "the memory of GPU x", Free: 5 * gib,
		Ranks: 1}
	expect(t, "free", []Row{JudgeRoom(limit)}, preflights.GPUMemory{Limit: limit})
	limit.Bytes--
	expect(t, "used", []Row{JudgeRoom(limit)},
		preflights.GPUMemoryShort{GPUMemory: preflights.GPUMemory{Limit: limit}})
}
