package nccllog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"

	"github.com/shoenig/test"
)

// costs is a cost table in which LL128 gives all_reduce this bandwidth.
func costs(best string) string {
	return `n1:100:200 [0] NCCL INFO   Algorithm   |                            Tree                  |
n1:100:200 [0] NCCL INFO   Protocol    |             LL |          LL128 |         Simple |
n1:100:200 [0] NCCL INFO  Max NThreads |            512 |            640 |            512 |
n1:100:200 [0] NCCL INFO     AllReduce |     6.3/   2.5 |    11.0/  ` + best + ` |    14.0/  15.0 |
n1:100:200 [0] NCCL INFO     AllGather |     6.3/   2.5 |    11.0/   7.5 |    14.0/  90.0 |
`
}

// timed is a row of nccl-tests with this time in microseconds.
func timed(bytes int64, us float64) string {
	bw := float64(bytes) / us / 1e3
	return fmt.Sprintf("%12d %12d float sum -1 %.2f %.2f %.2f 0 %.2f %.2f %.2f 0\n", bytes, bytes/4, us, bw, bw, us, bw,
		bw)
}

// chose is what NCCL chose for a size of all_reduce.
func chose(bytes int64, algo, proto string, channels int) string {
	return fmt.Sprintf("n1:100:200 [0] NCCL INFO AllReduce: %d Bytes -> Algo %s proto %s channel{Lo..Hi}={0..%d}\n",
		bytes,
		algo, proto, channels-1)
}

// All output of a comparison of two logs with one difference: operations, settings, and the common part.
func TestContrast(t *testing.T) {
	whole := wholeLog()
	swap := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(whole) }
	line := func(text string) string { return "n1:100:200 [0] NCCL INFO " + text + "\n" }
	set := func(name, value string) string { return line(name + " set by environment to " + value) }
	const mib = 1 << 20
	start := set("NCCL_DEBUG", "INFO")
	for name, c := range map[string]struct {
		a, b    string
		effects []string
		causes  []string
		others  []string
		doubts  []string
		same    []string // nil: not looked at
	}{
		"nothing": {a: whole, b: whole, same: []string{"world: 4 ranks on 2 nodes", "1 setting",
			"library: NCCL 2.27.7 for CUDA 12.8",
			"network devices: mlx5_0:1/IB, mlx5_1:1/IB", "network: IB", "GPUDirect RDMA ends: 4 of 4",
			"collective channels: 8", "NVLS channels: 0", "send channels: 16", "channels per peer: 2",
			"rings found: 4 of 20.0 GB/s (NVL/PIX)",
			"transports: NET/IB with GPUDirect RDMA between 2 pairs, P2P/CUMEM between 2 pairs",
			"algorithm/protocol/channels at 1 size"}},
		"another world": {a: whole, b: swap("nNodes 2 localRanks 2", "nNodes 1 localRanks 4"),
			causes: []string{"world: 4 ranks on 2 nodes in A, 4 ranks on 1 node in B"},
			doubts: []string{"worlds-differ"}},
		"no communicator in B": {a: swap("NCCL_DEBUG_SUBSYS set by environment to ALL",
			"NCCL_DEBUG set by environment to INFO"), b: set("NCCL_DEBUG", "INFO"), same: []string{"1 setting"}},
		"settings": {
			a: whole + set("NCCL_BUFFSIZE", "8388608") + set("NCCL_ZOO", "1") + set("NCCL_IB_TC", "106") +
				set("NCCL_FOO", "1"),
			b: whole + set("NCCL_BUFFSIZE", "4194304") + set("NCCL_IB_TC", "106") + set("NCCL_BAR", "2") +
				set("NCCL_FOO", "1"),
			causes: []string{"NCCL_BUFFSIZE: 8388608 in A, 4194304 in B"},
			others: []string{"NCCL_BAR: not named in A, 2 in B", "NCCL_ZOO: 1 in A, not named in B"},
		},
		"a setting with two values": {a: whole, b: whole + set("NCCL_IB_TC", "106") +
			"n2:102:202 [0] NCCL INFO NCCL_IB_TC set by environment to 106\nn2:103:203 [1] NCCL INFO NCCL_IB_TC set " +
			"by environment to 104\n",
			causes: []string{"NCCL_IB_TC: not named in A, 104 and 106 in B"}},
		"drivers": {a: whole + line("cudaDriverVersion 12080"), b: whole + line("cudaDriverVersion 13010"),
			causes: []string{"CUDA driver: 12.8 in A, 13.1 in B"}},
		"plugins": {a: whole + line("Initialized NET plugin IB") + line("TUNER/Plugin: Using tuner plugin old_v4"),
			b:      whole + line("Initialized NET plugin Libfabric"),
			causes: []string{"network plugin: IB in A, Libfabric in B", "tuner: old_v4 in A, not named in B"}},
		"cards": {a: whole, b: swap("[1]mlx5_1:1/IB", "[1]mlx5_2:1/IB"),
			causes: []string{"network devices: mlx5_0:1/IB, mlx5_1:1/IB in A, mlx5_0:1/IB, mlx5_2:1/IB in B"}},
		"no settings in A": {a: swap("NCCL_DEBUG_SUBSYS set by environment to ALL", "DMA-BUF is available"), b: whole,
			others: []string{"NCCL_DEBUG_SUBSYS: not named in A, ALL in B"}, doubts: []string{"settings-not-recorded"}},
		"rings": {a: whole, b: swap("nChannels 4, bw 20.000000/20.000000, type NVL/PIX",
			"nChannels 2, bw 10.000000/20.000000, type NVL/PXB"),
			effects: []string{"rings found: 4 of 20.0 GB/s (NVL/PIX) in A, 2 of 10.0 GB/s (NVL/PXB) in B"}},
		"trees": {a: swap("Pattern 4", "Pattern 3"), b: swap("Pattern 4", "Pattern 3", "nChannels 4", "nChannels 3"),
			effects: []string{"trees found: 4 of 20.0 GB/s (NVL/PIX) in A, 3 of 20.0 GB/s (NVL/PIX) in B"}},
		"what the model expects": {a: whole + costs("35.5"), b: whole + costs("12.5"),
			effects: []string{"predicted all_reduce bandwidth: 35.5 GB/s in A, 15.0 GB/s in B"}},
		"other channels": {a: whole, b: swap("0 nvls channels, 16 p2p channels, 2 p2p",
			"4 nvls channels, 8 p2p channels, 1 p2p"),
			effects: []string{"NVLS channels: 0 in A, 4 in B", "send channels: 16 in A, 8 in B",
				"channels per peer: 2 in A, 1 in B"}},
		"choices": {
			a: whole + chose(mib, "TREE", "LL", 4) + chose(2*mib, "TREE", "LL", 4) + chose(4*mib, "TREE", "LL", 1) +
				chose(8*mib, "RING", "LL", 4) + chose(16*mib, "RING", "LL", 4) + chose(64*mib, "RING", "LL", 4),
			b: whole + chose(mib, "TREE", "LL", 2) + chose(2*mib, "TREE", "LL", 2) + chose(4*mib, "TREE", "LL", 2) +
				chose(8*mib, "RING", "LL", 4) + chose(16*mib, "RING", "LL", 4) + chose(16*mib, "TREE", "LL", 4) +
				chose(128*mib, "RING", "LL", 4),
			effects: []string{"AllReduce of 1 MiB–2 MiB (2 sizes): TREE/LL on 4 channels in A, TREE/LL on 2 channels " +
				"in B",
				"AllReduce of 4 MiB: TREE/LL on 1 channel in A, TREE/LL on 2 channels in B",
				"AllReduce of 16 MiB: RING/LL on 4 channels in A, RING/LL on 4 channels or TREE/LL on 4 channels in B"},
		},
		"times that differ": {a: start + timed(8*mib, 100) + timed(16*mib, 200) + timed(32*mib, 400) +
			timed(128*mib, 400),
			b:       start + timed(8*mib, 112) + timed(16*mib, 160) + timed(32*mib, 440) + timed(64*mib, 400),
			effects: []string{"busbw at 16 MiB (largest of 3 differences): 83.9 GB/s in A, 104.9 GB/s in B"}},
		"times within a tenth": {a: start + timed(8*mib, 100) + timed(16*mib, 200), b: start + timed(8*mib, 109) +
			timed(16*mib, 184), same: []string{"1 setting", "nccl-tests times: 2 rows within 10 %"}},
		"an init twice as long": {a: swap("total 0.67", "total 0.60"), b: swap("total 0.67", "total 1.20"),
			effects: []string{"init time: 0.6 s in A, 1.2 s in B"}},
		"an init that is short":         {a: swap("total 0.67", "total 0.30"), b: swap("total 0.67", "total 0.90")},
		"an init that is little longer": {a: swap("total 0.67", "total 1.00"), b: swap("total 0.67", "total 1.90")},
		"kernels": {a: whole +
			line("AllReduce [Symmetric]: 4096 Bytes -> Kernel AllReduce_AGxLL_R nchannels 7 nthreads 512 nWorks 1"),
			b:       whole + line("AllReduce [Copy Engine]: 4096 Bytes -> cudaMemcpy; CE synchronization with NVLS"),
			effects: []string{"AllReduce of 4 KiB: AllReduce_AGxLL_R on 7 channels in A, cudaMemcpy in B"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Compare(read(t, c.a), read(t, c.b))
			for _, list := range []struct {
				name      string
				got, want []string
			}{{"effects", says(got.Effects), c.effects}, {"causes", says(got.Causes), c.causes},
				{"others", says(got.Others), c.others}, {"doubts", codesOf(got.doubts), c.doubts}} {
				test.SliceEqOp(t, list.want, list.got, test.Sprint(list.name))
			}
			var same []string
			for _, s := range got.Same {
				same = append(same, s.String())
			}
			if c.same != nil && !slices.Equal(same, c.same) {
				t.Errorf("common part:\n%q, want\n%q", same, c.same)
			}
		})
	}
}

func says(all []Difference) (texts []string) {
	for _, d := range all {
		texts = append(texts, fmt.Sprintf("%v: %s in A, %s in B",
			d.What, cmp.Or(d.A.String(), "not named"), cmp.Or(d.B.String(), "not named")))
	}
	return texts
}

// Rows of nccl-tests are compared where both are of one table. A size in several tables of a log is left out, and so
// are rows whose busbw/algbw is of other collectives or world sizes.
func TestRowsOfOtherTablesNotCompared(t *testing.T) {
	row := func(us, factor float64) Row {
		return Row{Bytes: 1 << 30, Type: "float", OutTime: us, OutBusbw: (1 << 30) / us / 1e3 * factor}
	}
	for what, c := range map[string]struct {
		a, b    []Row
		effects int
	}{
		"one table each":          {[]Row{row(5000, 1.75)}, []Row{row(8000, 1.75)}, 1},
		"another number of ranks": {[]Row{row(5000, 1)}, []Row{row(8000, 1.75)}, 0},
		"two tables in one":       {[]Row{row(5000, 1.75), row(6000, 1.75)}, []Row{row(8000, 1.75)}, 0},
		"two tables in the other": {[]Row{row(8000, 1.75)}, []Row{row(5000, 1.75), row(6000, 1.75)}, 0},
	} {
		var contrast Contrast
		contrast.measured(&Log{Rows: c.a}, &Log{Rows: c.b})
		if len(contrast.Effects) != c.effects || len(contrast.Same) != 0 {
			t.Errorf("%s: %+v, %q", what, contrast.Effects, contrast.Same)
		}
	}
}

func codesOf(all []notice.Notice) (codes []string) {
	for _, n := range all {
		codes = append(codes, string(n.Code()))
	}
	return codes
}
