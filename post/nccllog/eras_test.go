package nccllog

import (
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"
)

// TestRCCL reads what RCCL adds to NCCL's messages, and its lines without a header.
func TestRCCL(t *testing.T) {
	l := read(t, `(Worker pid=5) a:1:2 [0] NCCL INFO Dmabuf feature disabled without NCCL_DMABUF_ENABLE=1
(Worker pid=5) a:1:2 [0] NCCL INFO RCCL version : 2.27.7-HEAD:abc1234
(Worker pid=5) HIP version  : 7.2.1-x
(Worker pid=5) ROCm version : 7.2.0.0-43-x
(Worker pid=5) a:1:2 [0] NCCL INFO ncclCommInitRank_impl comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId c1000 `+
		`commId 0xab - Init START
(Worker pid=5) a:1:2 [0] NCCL INFO Ring 0 : 1 -> 0 -> 1 comm 0x10 nRanks 02 busId c1000
(Worker pid=5) a:1:2 [0] NCCL INFO Trees [0] 1/-1/-1->0->-1 [1] -1/-1/-1->0->1 comm 0x10 nRanks 02 busId c1000
(Worker pid=5) a:1:2 [0] NCCL INFO Connected all rings comm 0x10 nRanks 02 busId c1000
(Worker pid=5) a:1:2 [0] NCCL INFO ncclCommInitRank_impl comm 0x10 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId c1000 `+
		`commId 0xab localSize 176 used 45 bytes on core 3 - Init COMPLETE
`)
	if c := l.Communicators; len(c) != 1 || !c[0].Members[0].Completed {
		t.Errorf("%+v, %+v", c, l.Reading)
	}
	if len(l.Versions) != 1 || l.Versions[0].Library != RCCL {
		t.Errorf("versions %+v", l.Versions)
	}
	if len(l.Settings) != 0 {
		t.Errorf("a setting that is off by default counts as set: %+v", l.Settings)
	}
}

// pairs is a log of 2.17 of four processes in the pairs 0, 1 and 2, 3; ranks write in the given order, and the last
// makes one call less.
func pairs(order ...int) string {
	text := ""
	for _, p := range order {
		pid, rank := string(rune('1'+p)), string(rune('0'+p%2))
		head := "a:" + pid + ":" + pid + " [" + string(rune('0'+p)) + "] NCCL INFO "
		text += head + "comm 0x7" + pid + " rank " + rank + " nranks 2 cudaDev " + string(rune('0'+p)) +
			" busId 1000 - Init COMPLETE\n"
		for range 2 - p/3 {
			text += head + "AllReduce: opCount 0 sendbuff 0x1 recvbuff 0x2 count 4 datatype 7 op 0 root 0 comm 0x7" +
				pid +
				" [nranks=2] stream 0x3\n"
		}
	}
	return text
}

// TestGuessedCommunicators is about versions without an id, where ranks of communicators of one size may be confused.
func TestGuessedCommunicators(t *testing.T) {
	l := read(t, pairs(0, 2, 1, 3))
	if len(l.Communicators) != 2 || len(l.Sequences) != 2 {
		t.Fatalf("%d communicators, %d sequences", len(l.Communicators), len(l.Sequences))
	}
	for _, f := range l.Findings() {
		if f.Code() == "ranks-stopped" && f.Severity != notice.Warning {
			t.Errorf("%s is %s, though it rests on a guess", f.Message(), f.Severity)
		}
	}
	if s := l.Sequences[1]; len(s.Behind) != 1 || s.Doubt == nil || s.Doubt.Cause != nccllogs.SameSize {
		t.Errorf("%+v", s)
	}
	if l = read(t, pairs(2, 3)); l.Sequences[0].Doubt != nil {
		t.Errorf("in doubt although there is one communicator: %v", l.Sequences[0].Doubt)
	}
}

// TestCommunicatorHasGPUOnce has two communicators of one size in one process; none has a GPU twice.
func TestCommunicatorHasGPUOnce(t *testing.T) {
	l := read(t, "a:1:2 [0] NCCL INFO comm 0x71 rank 0 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE\n"+
		"a:1:2 [0] NCCL INFO comm 0x72 rank 1 nranks 2 cudaDev 0 busId 1000 - Init COMPLETE\n")
	if len(l.Communicators) != 2 {
		t.Errorf("%+v", l.Communicators)
	}
}

// TestPairInBothDirections is about a pair that is counted once, though each direction goes another way.
func TestPairInBothDirections(t *testing.T) {
	l := read(t, `a:1:2 [0] NCCL INFO comm 0x7 rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 1000 commId 0x5 - Init START
a:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/IPC
a:1:2 [0] NCCL INFO Channel 00/0 : 1[1] -> 0[0] via SHM/direct/direct
`)
	for _, f := range l.Findings() {
		if f.Code() == "host-memory-between-gpus" && strings.HasPrefix(f.Message(), "1 of 1 pair ") {
			return
		}
	}
	t.Errorf("%+v", l.Findings())
}

// TestAbortAtTheEnd is about communicators that all ranks abort, as PyTorch does when a run is over.
func TestAbortAtTheEnd(t *testing.T) {
	both := "a:1:1 [0] NCCL INFO comm 0x7 rank 0 nranks 2 cudaDev 0 busId 1000 - Abort COMPLETE\n" +
		"a:2:2 [1] NCCL INFO comm 0x8 rank 1 nranks 2 cudaDev 1 busId 2000 - Abort COMPLETE\n"
	for text, want := range map[string]notice.Severity{
		both:                                   notice.Info,
		both[:strings.IndexByte(both, '\n')+1]: notice.Error,
		"a:1:1 [0] x.cc:1 NCCL WARN It broke\n" + both: notice.Error,
	} {
		i := 0
		for _, f := range read(t, text).Findings() {
			if f.Code() == "communicator-aborted" {
				i++
				if f.Severity != want {
					t.Errorf("%q: %s", text, f.Severity)
				}
			}
		}
		if i != 1 {
			t.Errorf("%q: %d findings", text, i)
		}
	}
}

// TestTooFarForGPUDirect: NICs that support GPUDirect, but that NCCL excludes for their distance: a kernel module
// would not help.
func TestTooFarForGPUDirect(t *testing.T) {
	l := read(t, `a:1:1 [0] NCCL INFO NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'
a:1:1 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 1000 / HCA 0 (distance 5 > 4)
a:1:1 [0] NCCL INFO comm 0x7 rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0
a:1:1 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] [send] via NET/IB/0
`)
	for _, f := range l.Findings() {
		if f.Code() == "no-gpudirect-rdma" {
			if strings.Contains(f.Advice(), "peermem") ||
				!strings.Contains(strings.Join(f.Details(), "; "), "distance") {
				t.Errorf("%+v", f)
			}
			return
		}
	}
	t.Errorf("%+v", l.Findings())
}

// TestLoaderOfPlugins reads the messages of the plugin loader in different versions.
func TestLoaderOfPlugins(t *testing.T) {
	for text, want := range map[string]string{
		"NET/Plugin : Plugin load (libnccl-net.so) returned 2 : " +
			"libnccl-net.so: cannot open shared object file": "libnccl-net.so",
		"NET/Plugin : Plugin load returned 2 : libnccl-net.so: cannot open shared object file.": "libnccl-net.so",
		"NET/Plugin : dlerror=libnccl-net.so: cannot open shared object file No plugin found (libnccl-net.so), using " +
			"internal implementation": "libnccl-net.so",
		"NET/Plugin: Could not find: libnccl-net.so libx.so. Using internal network plugin.": "libnccl-net.so",
		"NET/Plugin: Loaded gin plugin Libfabric (v11)":                                      "",
	} {
		l := read(t, "a:1:1 [0] NCCL INFO "+text+"\n")
		got := strings.Join(namesOnly(l.Network.Missing), ",")
		if got != want || len(l.Network.Plugins) != 0 {
			t.Errorf("%s: missing %q, plugins %+v", text, got, l.Network.Plugins)
		}
	}
	l := read(t, "a:1:1 [0] NCCL INFO TUNER/Plugin: NCCL_TUNER_PLUGIN set to libx.so\n")
	if l.setting("NCCL_TUNER_PLUGIN") != "libx.so" {
		t.Errorf("%+v", l.Settings)
	}
}
