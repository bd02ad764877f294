package nccllog

import (
	"strings"
	"testing"
)

// Advice on a log of RCCL names tools of AMD's GPUs.
func TestAdviceForRCCL(t *testing.T) {
	for library, want := range map[Library]string{
		RCCL: "compare rocm-smi --showtopo: if it shows XGMI, NCCL should use it; see rocm-smi --showtopoaccess;",
		NCCL: "compare nvidia-smi topo -m: if it shows NVLink (NV#), NCCL should use it; see nvidia-smi topo -p2p r;",
	} {
		l := read(t, string(library)+" version 2.20.5\n"+
			"n0:1:1 [0] NCCL INFO comm 0x77 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x1 - Init START\n"+
			"n0:1:1 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 2, bw 12.000000/6.000000, type PHB/PIX, "+
			"sameChannels 1\n"+
			"n0:1:1 [0] NCCL INFO comm 0x77 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0\n"+
			"n0:1:1 [0] NCCL INFO comm 0x77 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x1 - Init COMPLETE\n")
		found := false
		for _, f := range l.Findings() {
			found = found || f.Code() == "gpus-far-apart" && strings.HasPrefix(f.Advice(), want)
		}
		if !found {
			t.Errorf("%s: %+v, %+v", library, l.Versions, l.Findings())
		}
	}
}

// What NVIDIA's driver alone has is not for AMD's GPUs: its kernel module, and options of its tool that the other
// lacks.
func TestAdviceOnMemoryForRCCL(t *testing.T) {
	for library, want := range map[Library][]string{
		RCCL: {"see rocm-smi --showrasinfo;", "check that /sys/kernel/mm/memory_peers/amdkfd/version exists"},
		NCCL: {"see nvidia-smi -q -d ECC,ROW_REMAPPER;", "modprobe nvidia-peermem"},
	} {
		l := read(t, string(library)+" version 2.20.5\n"+
			"n0:1:1 [0] NCCL INFO comm 0x77 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x1 - Init START\n"+
			"n1:1:1 [0] NCCL INFO comm 0x77 rank 1 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x1 - Init START\n"+
			"n0:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0\n"+
			"n0:1:1 [0] alloc.h:1 NCCL WARN Cuda failure 'uncorrectable ECC error encountered'\n")
		var got []string
		for _, f := range l.Findings() {
			got = append(got, f.Advice())
		}
		text := strings.Join(got, "\n")
		for _, one := range want {
			if !strings.Contains(text, one) {
				t.Errorf("%s: no %q in\n%s", library, one, text)
			}
		}
		if library == RCCL && strings.Contains(text, "nvidia") {
			t.Errorf("for AMD:\n%s", text)
		}
	}
}
