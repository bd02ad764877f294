package nccllog

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// glogFixture has the prefix of NCCLX, whose headers name a thread.
const glogFixture = "I0821 12:34:56.123456 12345 init.cc:881] n1:9:10 [0][main] NCCL INFO NCCL version " +
	"2.30.3x-git-59426ba+cuda12.8\n" +
	"E0821 12:34:57.123456 12345 ctran.cc:12] n1:9:10 [0][main] NCCL ERROR ctran is off\n"

const costFixture = `a:1:1 [0] NCCL INFO   Algorithm   |                            Tree                  |         ` +
	`                    PAT                  |
a:1:1 [0] NCCL INFO   Protocol    |             LL |          LL128 |         Simple |             LL |          ` +
	`LL128 |         Simple |             LL |          LL128 |         Simple |
a:1:1 [0] NCCL INFO  Max NThreads |            512 |            640 |            512 |            512 |            ` +
	`640 |            512 |
a:1:1 [0] NCCL INFO     AllReduce |     6.3/   2.5 |    11.0/   7.5 |    14.0/  20.0 |     0.0/   0.0 |     0.0/   ` +
	`0.0 |     9.5/  19.5 |
b:1:1 [0] NCCL INFO cudaDriverVersion 13000
`

// The messages that name a communicator, of all versions and RCCL.
func TestPhases(t *testing.T) {
	const member, bus = "comm 0x1 rank 1 nranks 2 cudaDev 3 nvmlDev 4", " busId 1000"
	for line, want := range map[string]string{
		member + " - Init COMPLETE":                                          "||  completed",
		member + bus + " - Init COMPLETE":                                    "1000||  completed",
		member + bus + " localSize 5 used 1 bytes on core 1 - Init COMPLETE": "1000||  completed",
		member + bus + " commId 0xabc - Init COMPLETE":                       "1000|0xabc|  completed",
		"ncclCommInitAll " + member + bus +
			" commId 0xabc - Init COMPLETE": "1000|0xabc|ncclCommInitAll  completed",
		"[Rank 1] ncclCommInitRank " + member + " commId 0xabc - Init START":     "|0xabc|ncclCommInitRank started ",
		"ncclCommSplit " + member + " parent 0x9 splitCount 1 key 6- Init START": "||ncclCommSplit started ",
	} {
		l := read(t, "a:1:1 [3] NCCL INFO "+line+"\n")
		if len(l.Communicators) != 1 {
			t.Fatalf("%s: %+v", line, l.Reading)
		}
		c, m := l.Communicators[0], l.Communicators[0].Members[0]
		phases := map[bool]string{m.Started: "started"}[true] + " " + map[bool]string{m.Completed: "completed"}[true]
		if got := m.Bus + "|" + c.ID + "|" + c.Function + " " + phases; got != want || c.Ranks != 2 || m.Rank != 1 ||
			m.Device != 3 {
			t.Errorf("%s: %q, want %q, %+v", line, got, want, m)
		}
	}
}

// The same pointer in two processes is two ranks; the same commId is one communicator; a split's ranks are grouped by
// parent, count and colour.
func TestCommunicatorsOverProcesses(t *testing.T) {
	rank := func(host string, r int, rest string) string {
		return fmt.Sprintf(
			"%s:1:1 [0] NCCL INFO ncclCommX comm 0x77 rank %d nranks 2 cudaDev 0 nvmlDev 0 busId 1000 %s - Init "+
				"COMPLETE\n",
			host, r, rest)
	}
	split := func(host string, r, color int) string {
		return fmt.Sprintf(
			"%s:1:1 [0] NCCL INFO ncclCommSplit comm 0x88%d rank %d nranks 2 cudaDev 0 nvmlDev 0 busId 1000 parent "+
				"0x77 splitCount 1 color %d key 0 - Init COMPLETE\n", host, color, r, color)
	}
	l := read(t, rank("a", 0, "commId 0x1")+rank("c", 0, "commId 0x2"), rank("b", 1, "commId 0x1")+
		rank("d", 1, "commId 0x2"),
		split("a", 0, 4)+split("b", 1, 4)+split("a", 0, 5)+split("b", 1, 5)+split("c", 0, 4)+split("d", 1, 4))
	must.EqOp(t, 5, len(l.Communicators))
	for i, hosts := range [][]string{{"a", "b"}, {"c", "d"}, {"a", "b"}, {"a", "b"}, {"c", "d"}} {
		c := l.Communicators[i]
		var got []string
		for _, m := range c.Members {
			got = append(got, l.Processes[m.Process].Host)
		}
		if !slices.Equal(got, hosts) || c.Nodes != 2 {
			t.Errorf("communicator %d is of %v", i, got)
		}
	}
}

// What bytes of a tuning line are changed with 2.24.
func TestMeaningOfBytes(t *testing.T) {
	for line, want := range map[string]string{
		"4096 Bytes -> Algo 0 proto 1 time 12.5":                             "unknown -1 TREE/LL128 -1",
		"AllGather: 4096 Bytes -> Algo 1 proto 2 time 12.5":                  "total 4096 RING/SIMPLE -1",
		"AllGather: 4096 Bytes -> Algo RING proto LL channel{Lo..Hi}={2..5}": "per rank 16384 RING/LL 4",
		"ReduceScatter [Symmetric]: 4096 Bytes -> Kernel " +
			"ReduceScatter_LL nchannels 7 nthreads 512 nWorks": "per rank 16384 ReduceScatter_LL/ 7",
		"AllReduce [Copy Engine]: 4096 Bytes -> cudaMemcpy; CE synchronization with NVLS": "total 4096 cudaMemcpy/ -1",
	} {
		l := read(t, "a:1:1 [0] NCCL INFO comm 0x1 rank 0 nranks 4 cudaDev 0 busId 1000 - Init COMPLETE\n"+
			"a:1:1 [0] NCCL INFO "+line+"\n")
		c := l.Choices[0]
		got := fmt.Sprintf("%s %d %s%s/%s %d", c.Mean, c.Size, c.Algo, c.Kernel, c.Proto, c.Channels)
		if got != want || c.Bytes != 4096 {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// How a rank reaches another, of all versions and plugins.
func TestTransports(t *testing.T) {
	for line, want := range map[string]string{
		"Channel 01 : 3 -> 0 [receive] via NET/Socket/0": "3 0 net Socket 0 -1 false true",
		"Channel 00 : 1[101d0] -> 8[101c0] [send] via NET/AWS Libfabric/1/GDRDMA": "1 8 net AWS Libfabric 1 -1 true " +
			"false",
		"Channel 00/0 : 1[1] -> 8[0] [send] via NET/IB/2(3)/GDRDMA(PCI)/Shared": "1 8 net IB 2 3 true false",
		"Channel 00/1 : 1[1] -> 8[0] via P2P/CUMEM/read":                        "1 8 p2p CUMEM -1 -1 false false",
		"Channel 00/1 : 1[1] -> 8[0] via P2P/indirect/2[2]":                     "1 8 p2p indirect -1 -1 false false",
		"Channel 00/0 : 0[c1000] -> 1[c6000] via P2P/IPC comm 0x55aa nRanks 02": "0 1 p2p IPC -1 -1 false false",
		"Channel 00 : 1[101d0] -> 0[101c0] via direct shared memory":            "1 0 shm direct -1 -1 false false",
		"Channel 00 : 1[1] -> 0[0] via SHM/direct/CE":                           "1 0 shm direct/CE -1 -1 false false",
		"CollNet 00/0 : 4 [send] via COLLNET/SHARP/0/GDRDMA":                    "4 -1 collnet SHARP 0 -1 true false",
	} {
		v := read(t, "a:1:1 [0] NCCL INFO "+line+"\n").Transports[0]
		got := fmt.Sprint(v.From, v.To, " "+v.Kind+" "+v.How+" ", v.NetDev, v.PXN, v.GDR, v.Receive)
		if got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// The last algorithm line may have more protocols in its heading than values.
func TestCostTables(t *testing.T) {
	l := read(t, costFixture)
	find := func(name, algo, proto string) Prediction {
		i := slices.IndexFunc(l.Predictions, func(p Prediction) bool {
			return p.Name == name && p.Algo == algo && p.Proto == proto
		})
		if i < 0 {
			return Prediction{}
		}
		return l.Predictions[i]
	}
	if p := find("AllReduce", "PAT", "Simple"); p.Latency != 9.5 || p.Bw != 19.5 {
		t.Errorf("%+v", l.Predictions)
	}
	if len(l.Predictions) != 6 {
		t.Errorf("%+v", l.Predictions)
	}
}

func TestSettings(t *testing.T) {
	l := read(t,
		"a:1:1 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to 1.\na:1:1 [0] NCCL INFO NCCL_SOCKET_IFNAME set "+
			"by environment to eth0.\n"+
			"a:1:1 [0] NCCL INFO TUNER/Plugin: Plugin name set by env to libx.so\na:1:1 [0] NCCL INFO Comm config "+
			"Blocking set to 0\n",
		"b:1:1 [0] NCCL INFO NCCL_P2P_DISABLE set by environment to -2.\nb:1:1 [0] NCCL INFO Something with "+
			"NCCL_IB_HCA=mlx5_0, and more\n")
	want := []string{"Blocking=0 config [0]", "NCCL_P2P_DISABLE=-2 environment [1]",
		"NCCL_P2P_DISABLE=1 environment [0]",
		"NCCL_SOCKET_IFNAME=eth0. environment [0]", "NCCL_TUNER_PLUGIN=libx.so environment [0]"}
	var got []string
	for _, s := range l.Settings {
		got = append(got, fmt.Sprintf("%s=%s %s %v", s.Name, s.Value, s.From, s.Processes))
	}
	test.SliceEqOp(t, want, got)
}

// A warning is kept once, with its count, its processes, and its place in the source.
func TestWarnings(t *testing.T) {
	l := read(t,
		"\n[2026-05-05 06:16:47] a:1:1 [3] plugin/net.cc:334 (init) NCCL WARN Call to connect to 10.0.0.3<54321> "+
			"failed at 0x7f00\n"+
			"b:1:1 [2] plugin/net.cc:334 (init) NCCL WARN Call to connect to 10.0.0.3<54322> failed at 0x7f11\n"+
			"a:1:1 [3] NCCL INFO init.cc:12 -> 6\na:1:1 [3] NCCL INFO init.cc:13 -> 7\n"+glogFixture)
	if len(l.Messages) != 3 {
		t.Fatalf("%+v", l.Messages)
	}
	m := l.Messages[0]
	if m.Times != 2 || m.Place != "plugin/net.cc:334 (init)" || m.Line != 2 ||
		!slices.Equal(m.Processes, []int{0, 1}) ||
		m.Text != "Call to connect to 10.0.0.3<54321> failed at 0x7f00" {
		t.Errorf("%+v", m)
	}
	if m := l.Messages[1]; m.Level != "FAIL" || m.Text != "init.cc:12 -> 6" {
		t.Errorf("%+v", m)
	}
	if m := l.Messages[2]; m.Level != "ERROR" || m.Text != "ctran is off" || l.Versions[0].Library != NCCLX {
		t.Errorf("%+v", m)
	}
}

// Compression is detected by content, and a truncated file is read up to its end.
func TestCompressedAndCut(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprint(z, strings.Repeat("a:1:1 [0] NCCL INFO cudaDriverVersion 13000\n", 1000))
	must.NoError(t, z.Close())
	l := read(t, b.String())
	if l.Reading.Understood != 1000 || l.Files[0].Cut != "" {
		t.Errorf("%+v, %+v", l.Reading, l.Files)
	}
	l = read(t, b.String()[:b.Len()-12])
	if l.Reading.Said == 0 || l.Files[0].Cut == "" {
		t.Errorf("%+v, %+v", l.Reading, l.Files)
	}
	l = read(t, "a:1:1 [0] NCCL INFO cudaDriverVersion 13000\na:1:1 [0] NCCL INFO cudaDriverVersion 13")
	if l.Reading.Damaged != 1 || l.Reading.Understood != 1 {
		t.Errorf("%+v", l.Reading)
	}
}

// Of a line shared by several messages, warnings are kept and the rest counts as damaged; a program's text before a
// message is ignored. A row of nccl-tests split by messages is joined if its values are plausible.
func TestLineOfSeveralMessages(t *testing.T) {
	const first, second = "a:1:1 [0] ", "a:2:2 [1] "
	const call = "NCCL INFO AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 256 datatype 7 op 0 root 0 comm 0x3 " +
		"[nranks=2] stream 0x4\n"
	l := read(t, first+call+first+"NCCL INFO AllReduce: opCount 1 send"+second+"x.cc:1 NCCL WARN It broke "+first+
		"NCCL INFO cudaDriverVersion 13000\n  1024  256  float  sum  -1"+first+call+"   10.24  0.10  0.10   0"+first+
		call+
		"  5.12  0.20  0.20   0\n")
	if n := l.Reading; n.Said != 6 || n.Understood != 3 || n.Damaged != 3 || len(l.Processes) != 1 {
		t.Errorf("%+v, %+v", n, l.Processes)
	}
	if m := l.Messages; len(m) != 1 || m[0].Text != "It broke …" || m[0].Place != "x.cc:1" {
		t.Errorf("%+v", m)
	}
	want := Row{Bytes: 1024, Type: "float", OutTime: 10.24, OutBusbw: 0.1}
	test.SliceEqOp(t, []Row{want}, l.Rows)
}
