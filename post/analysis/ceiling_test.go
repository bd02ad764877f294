package analysis

import (
	_ "embed"
	"math"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/result"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

const (
	switched = `2 sockets, 64 cores, 128 hardware threads
	` + "\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m" + `
GPU0	 X 	NV18	NV18	NV18	PIX	0-31	0		N/A
GPU1	NV18	 X 	NV18	NV18	NODE	0-31	0		N/A
GPU2	NV18	NV18	 X 	NV18	SYS	32-63	1		N/A
GPU3	NV18	NV18	NV18	 X 	SYS	32-63	1		N/A
NIC0	PIX	NODE	SYS	SYS	 X

Legend:
  NV#  = Connection traversing a bonded set of # NVLinks`
	meshed = `	GPU0	GPU1	GPU2	GPU3	CPU Affinity
GPU0	 X 	NV4	NV4	NV4	0-31
GPU1	NV4	 X 	NV4	NV4	0-31
GPU2	NV4	NV4	 X 	NV4	0-31
GPU3	NV4	NV4	NV4	 X 	0-31`
	bridged = `	GPU0	GPU1	GPU2	GPU3	CPU Affinity
GPU0	 X 	NV12	SYS	SYS	0-31
GPU1	NV12	 X 	SYS	SYS	0-31
GPU2	SYS	SYS	 X 	NV12	0-31
GPU3	SYS	SYS	NV12	 X 	0-31`
	ring = `	GPU0	GPU1	GPU2	GPU3	CPU Affinity
GPU0	 X 	NV2	SYS	NV1	0-31
GPU1	NV2	 X 	NV1	SYS	0-31
GPU2	SYS	NV1	 X 	NV2	0-31
GPU3	NV1	SYS	NV2	 X 	0-31`
	pair = `	GPU0	GPU1	CPU Affinity
GPU0	 X 	NV12	0-31
GPU1	NV12	 X 	0-31`
	unlinked = `	GPU0	GPU1	CPU Affinity
GPU0	 X 	PHB	0-31
GPU1	PHB	 X 	0-31`
)

func runOn(device string, nodes, perNode int) *result.Run {
	return &result.Run{ID: device, Device: device, Nodes: nodes, RanksPerNode: perNode, World: nodes * perNode,
		Backend: result.Backend{Name: "nccl"}}
}

func of(c coll.Collective, world int) coll.Case { return coll.Case{Collective: c, World: world} }

//go:embed testdata/peaks.txt
var peaks string

// Ceilings of one node: data sheets, topology and PCIe.
func TestPeakIntraNode(t *testing.T) {
	topologies := map[string]string{"switched": switched, "meshed": meshed, "bridged": bridged, "ring": ring,
		"pair": pair, "unlinked": unlinked}
	for _, c := range golden.Table[struct {
		Device, Topology string
		PCIe             []float64
		Ranks            int
		Collective       coll.Collective
		Bus, Beyond      float64
		Says             string
	}](t, peaks) {
		run := runOn(c.Device, 1, c.Ranks)
		run.Topology = topologies[c.Topology]
		if p := c.PCIe; p != nil {
			link := &result.PCIe{Rank: 1, Speed: p[0], Width: int(p[1]), Lanes: int(p[2])}
			run.Hardware = &result.Hardware{PCIe: link}
		}
		expect(t, NewCeilings(nil).Of([]*result.Run{run}, of(c.Collective, c.Ranks)), c.Bus, c.Beyond, c.Says, c)
	}
}

func expect(t *testing.T, got Ceiling, bus, beyond float64, says string, about ...any) {
	t.Helper()
	if math.Abs(got.BusBW/1e9-bus) > 0.001 || math.Abs(got.Beyond/1e9-beyond) > 0.001 ||
		!strings.Contains(got.Text(), says) || got.Known() == (got.Source == "") {
		t.Errorf("%v: %+v, want %g and %g GB/s and %q in %q", about, got, bus, beyond, says, got.Text())
	}
}

// Peaks of the network: the ports that carried data, and the share that each collective uses.
func TestPeakInterNode(t *testing.T) {
	ports := func(rates ...float64) (p []result.Port) {
		for i, rate := range rates {
			p = append(p, result.Port{Name: "mlx5_" + string(rune('0'+i)) + "/1", Link: "InfiniBand", Rate: rate})
		}
		return append(p, result.Port{Name: "eth0", Rate: 10})
	}
	moved := func(bytes ...int64) (n []result.NetUse) {
		for i, b := range bytes {
			n = append(n, result.NetUse{Name: "mlx5_" + string(rune('0'+i)) + "/1", RxBytes: b})
		}
		return append(n, result.NetUse{Name: "eth0", TxBytes: 5}, result.NetUse{Name: "lo", TxBytes: 1 << 40},
			result.NetUse{Name: "tcp", Retransmits: 3})
	}
	four, all := ports(400, 400, 400, 400), moved(1000, 1000, 1000, 900)
	for name, c := range map[string]struct {
		device         string
		nodes, perNode int
		ports          []result.Port
		moved          []result.NetUse
		collective     coll.Collective
		bus, beyond    float64
		says           string
	}{
		"ring": {"NVIDIA H100 80GB HBM3", 4, 4, four, all, coll.AllReduce, 200, 250,
			"4 x InfiniBand 400 Gbit/s per node carried the data; a hierarchical algorithm " +
				"can exceed this peak, up to 250 GB/s"},
		"one rank a node":            {"NVIDIA H100 80GB HBM3", 4, 1, four, all, coll.AllReduce, 200, 0, ""},
		"alltoall":                   {"NVIDIA H100 80GB HBM3", 4, 4, four, all, coll.AllToAll, 62.5, 0, ""},
		"gather":                     {"NVIDIA H100 80GB HBM3", 4, 4, four, all, coll.Gather, 250, 0, ""},
		"broadcast":                  {"NVIDIA H100 80GB HBM3", 4, 4, four, all, coll.Broadcast, 200, 0, ""},
		"sendrecv, a port for each":  {"NVIDIA H100 80GB HBM3", 4, 4, four, all, coll.SendRecv, 50, 0, ""},
		"sendrecv, two share a port": {"NVIDIA H100 80GB HBM3", 4, 8, four, all, coll.SendRecv, 50, 0, ""},
		"NVLink is narrower":         {"Tesla V100-SXM2-16GB", 4, 8, four, all, coll.AllReduce, 150, 0, "NVLink 2"},
		"two ports idle": {"NVIDIA H100 80GB HBM3", 4, 4, four, moved(1000, 1000, 99), coll.AllReduce, 100, 125,
			"2 x InfiniBand 400 Gbit/s per node carried the data (2 more of this kind did not)"},
		"two kinds of ports": {"NVIDIA H100 80GB HBM3", 4, 4, ports(400, 200), moved(1000, 500), coll.AllReduce, 75,
			93.75, "mlx5_0/1, mlx5_1/1 per node"},
		"TCP": {"cpu (x)", 2, 2, []result.Port{{Name: "eth0", Rate: 10}}, moved(), coll.AllReduce,
			1.25, 1.875, "1 x 10 Gbit/s per node"},
		"a port without a rate": {"cpu (x)", 2, 2, nil, moved(1000), coll.AllReduce, 0, 0,
			"rate of a port not recorded: mlx5_0/1"},
		"nothing moved": {"cpu (x)", 2, 2, four, nil, coll.AllReduce, 0, 0,
			"ports that carried the data not recorded"},
		"NVLink between nodes": {"NVIDIA GB200", 2, 4, four, moved(), coll.AllReduce, 900, 1575,
			"NVLink connects the nodes"},
		"a network without counters": {"NVIDIA GB200", 2, 4, []result.Port{{Name: "eth0", Rate: 10}}, moved(),
			coll.AllReduce,
			0, 0, "NVLink may connect the nodes, or a network whose counters"},
		"GH200 has Ethernet": {"NVIDIA GH200 480GB", 2, 1, four, moved(), coll.AllReduce, 1.25, 0,
			"1 x 10 Gbit/s"},
		"no NVLink between nodes": {"NVIDIA GB200", 2, 4, four, all, coll.AllReduce, 200, 350, "InfiniBand"},
	} {
		run := runOn(c.device, c.nodes, c.perNode)
		run.Hardware = &result.Hardware{Ports: c.ports}
		all := NewCeilings(nil)
		all.Add(result.Row{Run: run, Record: &result.Record{Network: c.moved}})
		expect(t, all.Of([]*result.Run{run}, of(c.collective, run.World)), c.bus, c.beyond, c.says, name)
	}
}

// Values that do not depend on links have no peak, not even a given one.
func TestPeakUnknown(t *testing.T) {
	given, err := ParsePeaks([]string{"450GB/s"})
	must.NoError(t, err)
	for says, spoil := range map[string]func(*result.Run){
		"no device was measured":       func(r *result.Run) { r.Rehearse = true },
		"ranks share a GPU":            func(r *result.Run) { r.Method.Shared = true },
		"number of nodes not recorded": func(r *result.Run) { r.Nodes = 0 },
		"network between the nodes not recorded": func(r *result.Run) {
			r.Nodes, r.Imported = 2,
				&result.Source{}
		},
	} {
		run := runOn("NVIDIA H100 80GB HBM3", 1, 8)
		spoil(run)
		expect(t, NewCeilings(nil).Of([]*result.Run{run}, of(coll.AllReduce, 8)), 0, 0, says, says)
		if run.Rehearse || run.Method.Shared {
			expect(t, NewCeilings(given).Of([]*result.Run{run}, of(coll.AllReduce, 8)), 0, 0, says, says)
		} else {
			expect(t, NewCeilings(given).Of([]*result.Run{run}, of(coll.AllReduce, 8)), 450, 0,
				"given as --peak 450GB/s", says)
		}
	}
}

// If runs differ, the lowest peak applies; an unknown one does not hide a known one.
func TestLowestPeakApplies(t *testing.T) {
	h100, h800, other := runOn("NVIDIA H100 80GB HBM3", 1, 8), runOn("NVIDIA H800", 1, 8), runOn("Some GPU", 1, 8)
	for name, runs := range map[string][]*result.Run{"lowest first": {h800, h100}, "lowest last": {h100, h800},
		"with an unknown one": {other, h100, h800}} {
		expect(t, NewCeilings(nil).Of(runs, of(coll.AllGather, 8)), 200, 0, "H800", name)
	}
	expect(t, NewCeilings(nil).Of([]*result.Run{other, other}, of(coll.AllGather, 8)), 0, 0, "Some GPU", "none known")
	if c := (Ceiling{BusBW: 200e9}); c.Share(50e9) != 0.25 || (Ceiling{}).Share(50e9) != 0 {
		t.Error("shares of it")
	}
}

func TestParsePeaks(t *testing.T) {
	for text, want := range map[string]Peak{
		"450GB/s":                       {BusBW: 450e9},
		"1.5 GiB/s":                     {BusBW: 1.5 * (1 << 30)},
		"400Gbit/s@nodes=2":             {BusBW: 50e9, Nodes: 2},
		"48GB/s@world=16, backend=nccl": {BusBW: 48e9, World: 16, Backend: "nccl"},
		"48GB/s@collective=alltoall":    {BusBW: 48e9, Collective: coll.AllToAll},
	} {
		want.Text = text
		if got, err := ParsePeaks([]string{text}); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{
		"450": "no unit that is known here", "450GB": "no unit", "450Gb/s": "Gbit/s (1e9 bits)",
		"GB/s":   "a number above 0",
		"-1GB/s": "a number above 0", "0GB/s": "a number above 0",
		"NaNGB/s": "a number above 0", "InfGB/s": "a number above 0", "": "no unit", "1GB/s@": "list what the peak " +
			"applies to",
		"1GB/s@ranks=2": `"ranks=2": after @, list`,
		"1GB/s@nodes=x": "whole number", "1GB/s@world=0": "whole number", "1GB/s@collective=foo": "foo",
		"1GB/s@backend=": "no backend",
	} {
		if got, err := ParsePeaks([]string{"1GB/s", text}); err == nil || !strings.Contains(err.Error(), says) ||
			!strings.Contains(err.Error(), "--peak") {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

// The peak with the most matching conditions applies, of equal ones the last.
func TestWhichPeak(t *testing.T) {
	peaks, err := ParsePeaks([]string{"48GB/s@nodes=2,collective=alltoall", "300GB/s@nodes=2", "450GB/s", "440GB/s"})
	must.NoError(t, err)
	for _, c := range []struct {
		nodes      int
		collective coll.Collective
		want       float64
	}{{1, coll.AllReduce, 440e9}, {2, coll.AllReduce, 300e9}, {2, coll.AllToAll, 48e9}, {1, coll.AllToAll, 440e9}} {
		run := runOn("NVIDIA H100 80GB HBM3", c.nodes, 8)
		test.EqOp(t, c.want, NewCeilings(peaks).Of([]*result.Run{run}, of(c.collective, run.World)).BusBW,
			test.Sprint(c.nodes, c.collective))
	}
	if _, found := (Peaks{{BusBW: 1, Backend: "mpi"}}).of(runOn("x", 1, 2), of(coll.AllReduce, 2)); found {
		t.Error("a peak of mpi applies to nccl")
	}
}
