package nccllog

import (
	"strings"
	"testing"
)

// Advice on a log of RCCL names tools of AMD's GPUs.
func TestAdviceForRCCL(t *testing.T) {
	for library, want := range map[Library]string{
		RCCL: "compare rocm-smi --showtopo: where it shows XGMI, NCCL ought to; see rocm-smi --showtopoaccess;",
		NCCL: "compare nvidia-smi topo -m: where it shows NVLink (NV#), NCCL ought to; see nvidia-smi topo -p2p r;",
	} {
		l := read(t, string(library)+" version 2.20.5\n"+
			"n0:1:1 [0] NCCL INFO comm 0x77 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x1 - Init START\n"+
			"n0:1:1 [0] NCCL INFO Pattern 4, crossNic 0, nChannels 2, bw 12.000000/6.000000, type PHB/PIX, sameChannels 1\n"+
			"n0:1:1 [0] NCCL INFO comm 0x77 rank 0 nRanks 2 nNodes 1 localRanks 2 localRank 0 MNNVL 0\n"+
			"n0:1:1 [0] NCCL INFO comm 0x77 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x1 - Init COMPLETE\n")
		found := false
		for _, f := range l.Findings() {
			found = found || f.Kind == FarPeers && strings.HasPrefix(f.Advice, want)
		}
		if !found {
			t.Errorf("%s: %+v, %+v", library, l.Versions, l.Findings())
		}
	}
}
