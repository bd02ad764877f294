package nccllog

import (
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
)

// A message that people quote alone, with what log collectors, shells and frameworks put around it.
func TestCausesOfSingleLines(t *testing.T) {
	const head = "n1:10:20 [0] "
	for line, code := range map[string]notice.Code{
		"12:" + head + "misc/ibvwrap.cc:94 NCCL WARN Call to ibv_modify_qp failed with error No such device": "nic-without-gid",
		"run.log:12:" + head + "include/alloc.h:17 NCCL WARN Cuda failure 'out of memory'":                   "gpu-out-of-memory",
		"[pod/a-0/main] " + head + "misc/socket.cc:48 NCCL WARN Connect to 10.0.0.2<4> failed : No route to host": "" +
			"host-unreachable",
		"2026-01-02T00:00:00.1Z stdout F " + head + "init.cc:42 NCCL WARN Cuda failure 'operation not supported'": "" +
			"cuda-feature-missing",
		"Jan 02 00:00:00 n1 train[12]: " + head + "a.cc:1 NCCL WARN Cuda failure 'CUDA driver is a stub library'": "" +
			"libcuda-mismatch",
		"\x1b[36m(Worker pid=12, ip=10.0.0.1)\x1b[0m misc/socket.cc:48 Connect to 10.0.0.2<4> failed : Connection refused": "" +
			"connection-refused",
		"socketPollConnect: Connect to 10.0.0.4<5> returned 113(No route to host)":                            "host-unreachable",
		"报错 NCCL WARN Call to posix_fallocate failed : No space left on device 怎么解决":                          "shared-memory-full",
		"ImportError: /x/libtorch_cuda.so: undefined symbol: ncclCommRegister":                                "nccl-too-old",
		"transport/p2p.cc:27 NCCL WARN Cuda failure 101 'invalid device ordinal'":                             "peer-gpu-hidden",
		"nvls.cc:25 NCCL WARN Cuda failure 401 'the operation cannot be performed in the present state'":      "nvls-setup-failed",
		"Got completion from peer 10.0.0.2<4> with status=12 opcode=0 len=0 vendor err 129 (Recv)":            "rdma-no-answer",
		"NET/OFI Request 0x7f completed with error. RC: 113. Error: unknown error":                            "libfabric-failed",
		"[12.3] NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.":                                  "gpu-lost",
		"NVRM: Xid (PCI:0000:41:00): 94, Contained: SM":                                                       "gpu-memory-error",
		"hipIpcGetMemHandle failed : invalid argument":                                                        "gpu-peer-access-failed",
		"RuntimeError: NCCL error in: /a/ProcessGroupNCCL.cpp:1, unhandled system error, NCCL version 2.10.3": "returned-system-error",
		"x.DistBackendError: NCCL error in: NCCLUtils.hpp:2, unhandled cuda error (run with …), NCCL version 2.19.3": "" +
			"returned-cuda-error",
		"RuntimeError: NCCL error in: /a/ProcessGroupNCCL.cpp:1, invalid usage, NCCL version 2.10.3": "returned-usage-error",
		"NCCL operation ncclCommInitRank(&comm, n, id, rank) failed: unhandled cuda error. Last NCCL warning(error) log " +
			"entry (may be unrelated) 'Cuda failure 2 'out of memory''.": "gpu-out-of-memory",
		"ncclCommInitRank failed: internal error":                           "returned-internal-error",
		"ncclRemoteError: A call failed possibly due to a network error":    "returned-remote-error",
		"RuntimeError: NCCL communicator was aborted on rank 0.":            "call-failed",
		"a.cc:1 NCCL WARN Failed to load, HIP error: invalid kernel file":   "gpu-not-supported",
		"[E] Detected mismatch between collectives on ranks. Rank 0 is run": "collective-mismatch",
	} {
		t.Run(string(code), func(t *testing.T) { errorsIn(t, code, []string{line + "\n"}) })
	}
	for _, code := range []notice.Code{"barrier-device-guessed", "process-group-left"} {
		line := map[notice.Code]string{
			"barrier-device-guessed": "[W ProcessGroupNCCL.cpp:4] using GPU 0 as devices used by this process are currently unknown.",
			"process-group-left":     "[W ProcessGroupNCCL.cpp:1] Warning: process group has NOT been destroyed before we destruct",
		}[code]
		if !slices.ContainsFunc(read(t, line+"\n").Findings(), func(f notice.Notice) bool { return f.Code() == code }) {
			t.Errorf("no %s", code)
		}
	}
}

// Lines of other programs are nothing of NCCL's, also where NCCL prints the same text.
func TestLinesOfOtherPrograms(t *testing.T) {
	for _, line := range []string{
		"Connection refused", "tcp_client.cc:12 Broken pipe", "export NCCL_NVLS_ENABLE=0", "[Service]", "BOOT_IMAGE=/vmlinuz iommu=pt",
		"CUDA out of memory. Tried to allocate 2.00 GiB", "mount failed: invalid argument", "No space left on device",
	} {
		var r = NewReader()
		if err := r.Add("x", strings.NewReader(line+"\n")); err == nil {
			t.Errorf("%q is taken for NCCL's: %v", line, r.Log().Findings())
		}
	}
}

// A message with several causes lists them, and what shows only a symptom refers to the other rank.
func TestAdviceNamesPossibleCauses(t *testing.T) {
	for code, words := range map[notice.Code][]string{
		"returned-system-error":    {"/dev/shm", "NCCL_SOCKET_IFNAME", "locked memory"},
		"returned-cuda-error":      {"memory is full", "NCCL_P2P_DISABLE", "driver"},
		"connection-failed":        {"NCCL_SOCKET_IFNAME", "firewall", "127.0.1.1", "Istio"},
		"remote-closed":            {"on the other rank", "Istio", "port scanner"},
		"pytorch-watchdog-timeout": {"on the rank that did not call", "checkpoint", "number of batches"},
		"duplicate-gpu":            {"set_device", "nproc_per_node", "MIG"},
		"no-such-gpu":              {"nproc_per_node", "local rank"},
		"cuda-feature-missing":     {"enable_uvm", "WSL2", "seccomp", "IMEX"},
		"gpu-out-of-memory":        {"pool", "communicators"},
		"collective-mismatch":      {"NCCL_PROTO", "versions", "PCI_WR_ORDERING"},
		"nccl-too-old":             {"pip list", "LD_LIBRARY_PATH"},
		"locked-memory-limit":      {"memlock", "6.17", "alltoall"},
		"nvls-setup-failed":        {"fabricmanager", "driver is older", "NCCL_NVLS_ENABLE"},
		"libfabric-registration":   {"FI_EFA_USE_HUGE_PAGE", "ulimit"},
	} {
		advice := notice.Advice(notice.LibraryMessage{Cause: code})
		for _, word := range words {
			if !strings.Contains(advice, word) {
				t.Errorf("%s: no %q in %q", code, word, advice)
			}
		}
	}
}

// A known defect needs its version, also as PyTorch names it, and its sign.
func TestKnownDefects(t *testing.T) {
	const head = "n1:10:20 [0] "
	shared := head + "NCCL INFO ncclMaxSharedMem 82240 exceeds device/fn maxSharedMem 79856\n"
	for text, want := range map[string]notice.Defect{
		"NCCL version 2.25.1+cuda12.8\n" + shared:                                                                                     "rtx-50-shared-memory",
		"NCCL version 2.26.2+cuda12.8\n" + shared:                                                                                     "",
		"NCCL version 2.25.1+cuda12.8\n" + head + "NCCL INFO Using network IB\n":                                                      "",
		"NCCL version 2.22.3+cuda12.6\n" + head + "NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n":                  "peermem-name",
		"NCCL version 2.22.3+cuda12.6\n" + head + "NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0' (distance 4 > 3)\n": "",
		"RuntimeError: NCCL error in: a.cpp:9, unhandled cuda error, NCCL version 2.18.5\nCuda failure 'invalid argument'\n":          "copy-unsynced",
	} {
		var got notice.Defect
		for _, f := range read(t, text).Findings() {
			if d, ok := f.Fact.(notice.KnownDefect); ok {
				got = d.Defect
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]release{"2.27.7": {2, 27, 7}, "21.2.12": {2, 12, 12}, "20.9.9": {2, 9, 9}, "2.30.3x-git": {2, 30, 3}} {
		if got := releaseOf(text); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	for _, d := range knownDefects {
		if d.name.String() == "" || notice.Advice(notice.KnownDefect{Defect: d.name}) == "" {
			t.Errorf("%s has no text", d.name)
		}
	}
}

// The name of an interface, or its address, shows that other hosts cannot reach it.
func TestInterfacesThatLeadNowhere(t *testing.T) {
	failed := "n1:10:20 [0] misc/socket.cc:4 NCCL WARN Connect to 10.0.0.2<4> failed : Connection timed out\n"
	for _, name := range []string{"tunl0:10.0.0.1", "lxcbr0:10.0.3.1", "ib1:fe80::1%ib1", "ecs-eth0:169.254.172.2"} {
		log := read(t, "n1:10:20 [0] NCCL INFO Bootstrap : Using "+name+"<0>\n"+failed)
		if !slices.ContainsFunc(log.Findings(), func(f notice.Notice) bool { return f.Code() == "unreachable-interface" }) {
			t.Errorf("%s", name)
		}
	}
}
