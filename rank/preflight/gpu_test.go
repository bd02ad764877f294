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
	lost := preflights.Failed{Problem: "no library", Tried: preflights.Places{"/usr/lib"}, Remedy: "install it"}
	for name, c := range map[string]struct {
		check  string
		change func(int, *GPUView)
	}{
		"devices":    {"GPUs", nil},
		"no driver":  {"GPUs", all(func(v *GPUView) { *v = GPUView{Problem: &exit.Failure{Parts: lost}} })},
		"no remedy":  {"GPUs", all(func(v *GPUView) { *v = GPUView{Problem: &exit.Failure{}} })},
		"no GPU":     {"GPUs", all(func(v *GPUView) { v.Devices = nil })},
		"simulated":  {"GPUs", all(func(v *GPUView) { v.Rehearsed = true })},
		"two models": {"GPUs", all(func(v *GPUView) { v.Devices[0].Name = "NVIDIA L4" })},

		"library":     {"NCCL", nil},
		"no library":  {"NCCL", all(func(v *GPUView) { v.Missing = &exit.Failure{Parts: lost} })},
		"newer CUDA":  {"NCCL", all(func(v *GPUView) { v.BuiltFor = "13.0" })},
		"newer minor": {"NCCL", all(func(v *GPUView) { v.BuiltFor = "12.9" })},
		"older CUDA":  {"NCCL", all(func(v *GPUView) { v.BuiltFor, v.CUDA = "12.9", 13000 })},
		"old GPU":     {"NCCL", all(func(v *GPUView) { v.BuiltFor, v.Unserved = "13.0", "7.0" })},

		"own GPUs":      {"GPU of each rank", nil},
		"one for two":   {"GPU of each rank", all(func(v *GPUView) { v.Devices = v.Devices[:1] })},
		"allowed":       {"GPU of each rank", all(func(v *GPUView) { v.Devices, v.Shared = v.Devices[:1], true })},
		"slices":        {"GPU of each rank", all(func(v *GPUView) { v.Devices[1].PCI = v.Devices[0].PCI })},
		"one each owns": {"GPU of each rank", func(r int, v *GPUView) { v.Devices = v.Devices[r : r+1] }},

		"peers":    {"peer access", nil},
		"no peers": {"peer access", all(func(v *GPUView) { v.Peer[1][0] = false })},
		"one each": {"peer access", func(r int, v *GPUView) {
			v.Devices, v.Peer = v.Devices[r:r+1], [][]bool{{false}}
		}},

		"healthy":     {"GPU state", nil},
		"no NVML":     {"GPU state", all(func(v *GPUView) { v.Devices[0].State, v.Devices[1].State = nil, nil })},
		"persistence": {"GPU state", state(func(s *cudart.Health) { s.Persistence = "off" })},
		"ECC":         {"GPU state", state(func(s *cudart.Health) { s.ECC = "off" })},
		"no ECC":      {"GPU state", state(func(s *cudart.Health) { s.ECC = "" })},
		"errors":      {"GPU state", state(func(s *cudart.Health) { s.ECCErrors = 3 })},
		"throttled": {"GPU state", state(func(s *cudart.Health) {
			s.Throttle = []string{"sw_power_cap", "hw_slowdown"}
		})},
		"idle": {"GPU state", state(func(s *cudart.Health) { s.Throttle = []string{"gpu_idle"} })},
	} {
		expect(t, name, only(c.check, mergeRows(CheckSetups(gpusOf(2, c.change), 0.5), ranksOf(2, "node1"))))
	}
}

func TestUnusedGPUs(t *testing.T) {
	expect(t, "none", byRank(checkDevices)(hostOf(1, Setup{})))
	p := pcie{GPUs: []string{"a", "b"}}
	expect(t, "no driver", byRank(checkDevices)(hostOf(1, Setup{Fabric: fabric{pcie: p}})))
	p.Driver = "550"
	expect(t, "idle", byRank(checkDevices)(hostOf(1, Setup{Fabric: fabric{pcie: p}})))
	host := gpusOf(1, func(_ int, v *GPUView) { v.Devices = nil })
	host[0].Fabric.pcie = p
	expect(t, "hidden", byRank(checkDevices)(host))
}

func TestCheckNetworkOfGPUs(t *testing.T) {
	ib, efa := machine.RDMAPort{Name: "mlx5_0/1"}, machine.RDMAPort{Name: "rdmap0/1", EFA: true}
	for name, f := range map[string]fabric{
		"InfiniBand":     {Ports: []machine.RDMAPort{ib}, Peermem: true},
		"no module":      {Ports: []machine.RDMAPort{ib, efa}, Plugin: "/x.so"},
		"EFA":            {Ports: []machine.RDMAPort{efa}, Plugin: "/x.so"},
		"EFA, no plugin": {Ports: []machine.RDMAPort{efa}},
	} {
		host := gpusOf(1, nil)
		host[0].Fabric = f
		expect(t, name+", peermem", only("nvidia-peermem", CheckSetups(host, 0.5)))
		expect(t, name+", NCCL", only("NCCL network", CheckSetups(host, 0.5)))
		host[0].GPU.Rehearsed = true // simulated GPUs have no hardware facts
		for _, check := range []string{"nvidia-peermem", "NCCL network", "GPU state"} {
			expect(t, name+", simulated", only(check, CheckSetups(host, 0.5)))
		}
	}
}

func TestCheckLibraries(t *testing.T) {
	for name, change := range map[string]func(v *GPUView){ // of the last of three ranks
		"alike":   func(*GPUView) {},
		"library": func(v *GPUView) { v.Library = "NCCL 2.19.3" },
		"driver":  func(v *GPUView) { v.Driver = "535.1" },
		"GPU":     func(v *GPUView) { v.Devices[2].Name = "NVIDIA A100" },
		"no GPU":  func(v *GPUView) { v.Devices = nil },
		"two":     func(v *GPUView) { v.Library, v.Driver = "NCCL 2.19.3", "535.1" },
	} {
		expect(t, name, checkLibraries(gpusOf(3, func(r int, v *GPUView) {
			if r == 2 {
				change(v)
			}
		})))
	}
	expect(t, "no GPU backend", checkLibraries(hostOf(2, Setup{})))
}

func TestJudgeRoom(t *testing.T) {
	limit := notice.MemoryLimit{Rank: 3, Host: "a", Bytes: 4 * gib, Bound: "the memory of GPU x", Free: 5 * gib,
		Ranks: 1}
	expect(t, "free", []Row{JudgeRoom(limit)})
	limit.Bytes--
	expect(t, "used", []Row{JudgeRoom(limit)})
}
