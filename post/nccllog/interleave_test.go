package nccllog

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"busbar/internal/needs"
)

// messages are one of each kind that holds a fact, of all versions.
var messages = []string{
	"NCCL version 2.27.7+cuda13.0",
	"cudaDriverVersion 13000",
	"Bootstrap : Using eth1:10.0.0.77<0>",
	"NET/Socket : Using [0]eth2:10.0.0.78<0> [1]eth3:10.0.0.79<0>",
	"NET/IB : Using [0]mlx5_0:1/RoCE [1]mlx5_1:1/IB [RO]; OOB eno1:192.168.0.33<0>",
	"NET/OFI Selected Provider is efa",
	"Using network AWS Libfabric",
	"NET/Plugin: Loaded net plugin Libfabric (v8)",
	"NET/IB : GPU Direct RDMA Disabled for HCA 12 'mlx5_12'",
	"GPU Direct RDMA Enabled for GPU 17000 / HCA 13 (distance 4 <= 5), read 0",
	"NCCL_MIN_NCHANNELS set by environment to 32.",
	"NCCL_TOPO_FILE set by environment to /tmp/topo12.xml",
	"NET/OFI Running on P4d platform, Setting NCCL_PROTO environment variable to simple12",
	"comm 0xabc124 rank 11 nranks 16 cudaDev 3 busId 201c0 - Init COMPLETE",
	"ncclCommInitRankConfig comm 0xabc125 rank 12 nranks 17 cudaDev 3 nvmlDev 3 busId 17000 commId " +
		"0x54fe282d32a87d85 - Init START",
	"ncclCommSplit comm 0xabc126 rank 13 nranks 18 cudaDev 3 nvmlDev 3 busId 18000 parent 0xabc125 splitCount 12 " +
		"color 45 key 67- Init START",
	"comm 0xabc127 rank 14 nRanks 19 nNodes 22 localRanks 18 localRank 11 MNNVL 0",
	"comm 0xabc124 rank 11 nranks 16 cudaDev 3 busId 201c0 - Destroy COMPLETE",
	"Init timings - ncclCommInitRank: rank 11 nranks 16 total 10.67 (kernels 10.57, alloc 0.15, rest 0.12)",
	"24 coll channels, 25 collnet channels, 0 nvls channels, 32 p2p channels, 12 p2p channels per peer",
	"8 coll channels, 9 p2p channels, 11 p2p channels per peer",
	"Channel 12/24 :    0  11  10  12",
	"Ring 12 : 10 -> 11 -> 12",
	"Trees [0] 12/-1/-1->11->10 [1] -1/-1/-1->11->12",
	"Tree 12 : 10 -> 11 -> 12/13/-1",
	"Connected all rings, use ring PXN 0 GDR 1",
	"Pattern 4, crossNic 0, nChannels 12, bw 20.500000/21.500000, type NVL/PIX, sameChannels 1",
	"Channel 12/0 : 10[101c0] -> 11[101d0] [send] via NET/AWS Libfabric/12/GDRDMA/Shared",
	"Channel 13 : 10[1] -> 11[12] via P2P/direct pointer/read",
	"Channel 14/0 : 10[1] -> 11[12] [receive] via NET/IB/10(13)",
	"Channel 15 : 10[1] -> 11[12] via SHM/direct/direct",
	"P2P Chunksize set to 131072",
	"=== System : maxBw 240.5 totalBw 241.5 ===",
	"AllReduce: opCount 1f sendbuff 0x720000000 recvbuff 0x920000000 count 2097152 datatype 7 op 0 root 0 comm " +
		"0xabc125 [nranks=17] stream 0x55b6a98daaf0",
	"AllReduce: 8388608 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={10..23}",
	"AllGather: 1048576 Bytes -> Algo 1 proto 2 time 123.456001",
	"1234567 Bytes -> Algo 0 proto 1 time 12.345000",
	"AllGather [Symmetric]: 16384 Bytes -> Kernel AllGather_LL nchannels 12 nthreads 512",
	"init.cc:1798 -> 12 [Async thread]",
}

// others are cut into them.
var others = []string{
	"Channel 16/0 : 20[101c0] -> 21[101d0] [send] via NET/IB/15/GDRDMA",
	"AllReduce: 4194304 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..17}",
	"AllReduce: opCount 2f sendbuff 0x720000000 recvbuff 0x920000000 count 65536 datatype 9 op 2 root 0 comm " +
		"0xdef125 [nranks=37] stream 0x55b6a98daaf0",
	"comm 0xdef127 rank 24 nRanks 39 nNodes 32 localRanks 28 localRank 21 MNNVL 1",
	"P2P Chunksize set to 262144",
	"NCCL_MAX_NCHANNELS set by environment to 48.",
	"Connected all trees",
}

// leaves are the values of a log by the names above them; what counts lines and messages, or numbers things, is left
// out.
func leaves(t *testing.T, text string) map[string]bool {
	t.Helper()
	r := NewReader()
	if err := r.Add("x", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r.Log())
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	delete(doc, "files")
	delete(doc, "reading")
	all := map[string]bool{}
	walk("", doc, all)
	return all
}

var counted = map[string]bool{"times": true, "process": true, "processes": true, "communicator": true, "messages": true,
	"line": true, "parent": true}

func walk(path string, v any, all map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		if text, _ := v["text"].(string); strings.HasSuffix(text, "…") {
			return // said to be cut
		}
		for name, x := range v {
			if !counted[name] || path == "" {
				walk(path+"."+name, x, all)
			}
		}
	case []any:
		for _, x := range v {
			walk(path, x, all)
		}
	case nil:
	default:
		all[fmt.Sprint(path, "=", v)] = true
	}
}

// unsaid are the values that stand for nothing having been said.
func unsaid(leaf string) bool {
	_, value, _ := strings.Cut(leaf, "=")
	return value == "-1" || value == "" || value == "0" || value == "false" ||
		strings.HasPrefix(leaf, ".communicators.name=")
}

// A message cut in two by another is never read as something that neither says, wherever the cut is.
func TestMessagesCutByOthers(t *testing.T) {
	t.Parallel()
	const first, second = "mew0:101:101 [0] NCCL INFO ", "mew0:102:102 [1] NCCL INFO "
	preface := first + "comm 0xabc125 rank 12 nranks 17 cudaDev 0 busId 4000 - Init COMPLETE\n" +
		second + "comm 0xdef127 rank 24 nranks 39 cudaDev 1 busId 5000 - Init COMPLETE\n"
	some := messages
	if needs.Shortened(t) {
		some = messages[25:]
	}
	for _, m := range some {
		for _, o := range others {
			a, b := first+m, second+o
			allowed := map[string]bool{}
			for _, whole := range []string{a + "\n", b + "\n", a + "\n" + b + "\n", b + "\n" + a + "\n"} {
				for leaf := range leaves(t, preface+whole) {
					allowed[leaf] = true
				}
			}
			for i := 1; i < len(a); i++ {
				for _, cut := range []string{a[:i] + b + "\n" + a[i:] + "\n", a[:i] + b + a[i:] + "\n\n"} {
					for leaf := range leaves(t, preface+cut) {
						if !allowed[leaf] && !unsaid(leaf) {
							t.Fatalf("%q\nsays %s, which is in neither", cut, leaf)
						}
					}
				}
			}
		}
	}
}

// What is whole on a line that another message cut is not lost, and what is lost is counted.
func TestCutIsCounted(t *testing.T) {
	l := read(t, "mew0:1:1 [0] NCCL INFO Launch mode Parallel\n"+
		"mew0:1:1 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x7mew0:1:2 [1] NCCL INFO AllReduce: 8 Bytes -> Algo "+
		"RING proto LL channel{Lo..Hi}={0..0}\n"+
		"20000000 recvbuff 0x920000000 count 2 datatype 7 op 0 root 0 comm 0x1 [nranks=2] stream 0x2\n")
	if n := l.Reading; n.Said != 3 || n.Understood != 1 || n.Damaged != 1 || len(l.Choices) != 1 || len(l.Calls) != 0 {
		t.Errorf("%+v, %d choices, %d calls", n, len(l.Choices), len(l.Calls))
	}
}

// A row of nccl-tests that messages tear apart is put together again, if its figures fit each other.
func TestRowCutByMessages(t *testing.T) {
	const call = "mew0:1:1 [0] NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 256 datatype 7 op 0 " +
		"root 0 comm 0x3 [nranks=2] stream 0x4\n"
	for _, c := range []struct {
		time string
		rows int
	}{{"10.24", 1}, {"99.99", 0}} {
		l := read(t,
			call+"  1024  256  float  sum  -1"+call+"   "+c.time+"  0.10  0.10   0"+call+"  5.12  0.20  0.20   0\n")
		if len(l.Rows) != c.rows || l.Reading.Understood != 3 || len(l.Processes) != 1 {
			t.Errorf("%s: %+v, %+v", c.time, l.Rows, l.Reading)
		}
		if c.rows == 1 && (l.Rows[0].OutTime != 10.24 || l.Rows[0].InBusbw != 0.2 || !l.Rows[0].Assembled) {
			t.Errorf("%+v", l.Rows)
		}
	}
}
