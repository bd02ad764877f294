package nccllog

import (
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"

	"github.com/shoenig/test"
)

// singleLines are messages that people quote alone, with what log collectors, shells and frameworks put around them,
// behind the code of the cause.
const singleLines = `nic-without-gid 12:n1:1:2 [0] ibvwrap.cc:9 NCCL WARN Call to ibv_modify_qp failed with error ` +
	`No such device
gpu-out-of-memory run.log:12:n1:1:2 [0] include/alloc.h:17 NCCL WARN Cuda failure 'out of memory'
host-unreachable [pod/a-0/main] n1:1:2 [0] misc/socket.cc:4 NCCL WARN Connect to 10.0.0.2<4> failed : No route to host
cuda-feature-missing 2026-01-02T00:00:00.1Z stdout F n1:1:2 [0] init.cc:4 NCCL WARN Cuda failure 'operation not ` +
	`supported'
libcuda-mismatch Jan 02 00:00:00 n1 train[12]: n1:1:2 [0] a.cc:1 NCCL WARN Cuda failure 'CUDA driver is a stub library'
connection-refused (Worker pid=12, ip=10.0.0.1) misc/socket.cc:48 Connect to 10.0.0.2<4> failed : Connection refused
host-unreachable socketPollConnect: Connect to 10.0.0.4<5> returned 113(No route to host)
shared-memory-full 报错 NCCL WARN Call to posix_fallocate failed : No space left on device 怎么解决
nccl-too-old ImportError: /x/libtorch_cuda.so: undefined symbol: ncclCommRegister
peer-gpu-hidden transport/p2p.cc:27 NCCL WARN Cuda failure 101 'invalid device ordinal'
nvls-setup-failed nvls.cc:2 NCCL WARN Cuda failure 401 'the operation cannot be performed in the present state'
rdma-no-answer Got completion from peer 10.0.0.2<4> with status=12 opcode=0 len=0 vendor err 129 (Recv)
libfabric-failed NET/OFI Request 0x7f completed with error. RC: 113. Error: unknown error
gpu-lost [12.3] NVRM: Xid (PCI:0000:41:00): 79, GPU has fallen off the bus.
gpu-memory-error NVRM: Xid (PCI:0000:41:00): 94, Contained: SM
gpu-peer-access-failed hipIpcGetMemHandle failed : invalid argument
gpu-not-supported a.cc:1 NCCL WARN Failed to load, HIP error: invalid kernel file
collective-mismatch [E] Detected mismatch between collectives on ranks. Rank 0 is running
returned-system-error RuntimeError: NCCL error in: /a/c.cpp:1, unhandled system error, NCCL version 2.10.3
returned-cuda-error x.DistBackendError: NCCL error in: a.hpp:2, unhandled cuda error (run with …), NCCL version 2.19.3
returned-usage-error RuntimeError: NCCL error in: /a/ProcessGroupNCCL.cpp:1, invalid usage, NCCL version 2.10.3
returned-internal-error ncclCommInitRank failed: internal error
returned-remote-error ncclRemoteError: A call failed possibly due to a network error
gpu-out-of-memory NCCL operation ncclCommInitRank() failed: unhandled cuda error. Last entry 'Cuda failure 2 'out ` +
	`of memory''.
call-failed RuntimeError: NCCL communicator was aborted on rank 0.
gpu-not-supported n1:1:9 [0] NCCL INFO ncclMaxSharedMem 90112 exceeds device/fn maxSharedMem 79000
shared-memory-failed Error while creating shared memory segment /dev/shm/nccl-0aB1cD (size 9637888)
rdma-access-refused n1:1:2 [0] net_ib.cc:1 NCCL WARN NET/IB : mlx5_0:1 Got async event : local access violation work
driver-too-old 91: n1:1:1 [0] init.cu:6 WARN Cuda failure 'CUDA driver version is insufficient for CUDA runtime version'
libfabric-no-provider get_ofi_provider:312 NCCL WARN NET/OFI Could not find any optimal provider
libfabric-version configure_sendrecv_inorder:213 NCCL WARN NET/OFI Couldn't set FI_OPT_EFA_SENDRECV. RC: -92
duplicate-gpu Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 40
peer-address-unknown ncclSocketInit: connecting to address with family 0 is neither AF_INET(2) nor AF_INET6(10)
gpu-not-supported n1:10:20 [0] enqueue.cc:58 NCCL WARN Cuda failure 'named symbol not found'
nvls-setup-failed transport/nvls.cc:165 NCCL WARN Cuda failure 'invalid argument'
shared-memory-full n1:10:20 [0] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device
locked-memory-limit n1:1:2 [0] ibvwrap.cc:2 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory
rdma-no-answer n1:1:2 [0] net_ib.cc:1 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<4> with status=12 opcode=0` +
	` len=0 vendor err 129 (Recv) localGid fd00::1 remoteGidsfd00::2
collective-mismatch n1:1:2 [0] /src/transport/net_ib.cc:700 NCCL WARN NET/IB : collective mismatch error local size 4` +
	` remote 2 addr 7f00 rkey 1 seq 1/1
gpu-peers-exhausted [2026-01-02 03:04:05] n1:1:2 [0] allocator.cc:79 NCCL WARN Cuda failure 711 'peer mapping ` +
	`resources exhausted'
collective-mismatch 10.0.0.1: n1:1:2 [0] net_ib.cc:1 NCCL WARN NET/IB : req 0/1 tag 0 peer 10.0.0.2<4> collective ` +
	`mismatch error, local size 496640 remote size 65536
rdma-setup-failed [2026-01-02 03:04:05] n1:1:2 [5] ibvwrap.c:262 NCCL WARN Call to ibv_modify_qp failed with 110 ` +
	`Connection timed out, on dev mlx_x:1, curr state INIT, next state RTR, local GID index 3
`

func TestCausesOfSingleLines(t *testing.T) {
	for line := range strings.Lines(singleLines +
		"\x1b[31mduplicate-gpu [1,0]<stdout>:Duplicate GPU detected : rank 0\x1b[0m\n") {
		code, text, _ := strings.Cut(strings.TrimPrefix(line, "\x1b[31m"), " ")
		t.Run(code, func(t *testing.T) { errorsIn(t, notice.Code(code), []string{text}) })
	}
	for code, text := range map[notice.Code]string{
		"barrier-device-guessed": "[W ProcessGroupNCCL.cpp:4] devices used by this process are currently unknown.",
		"process-group-left":     "[W ProcessGroupNCCL.cpp:1] process group has NOT been destroyed before we destruct",
	} {
		if !slices.Contains(codesOf(read(t, text+"\n").Findings()), string(code)) {
			t.Errorf("no %s", code)
		}
	}
}

// Lines of other programs do not count, even if NCCL prints the same text.
func TestLinesOfOtherPrograms(t *testing.T) {
	for _, line := range []string{
		"Connection refused", "tcp_client.cc:12 Broken pipe", "export NCCL_NVLS_ENABLE=0", "[Service]",
		"BOOT_IMAGE=/vmlinuz iommu=pt",
		"CUDA out of memory. Tried to allocate 2.00 GiB", "mount failed: invalid argument", "No space left on device",
	} {
		var r = NewReader()
		if err := r.Add("x", strings.NewReader(line+"\n")); err == nil {
			t.Errorf("%q is taken for NCCL's: %v", line, r.Log().Findings())
		}
	}
}

// A known defect needs its version, also in PyTorch's form, and its symptom.
func TestKnownDefects(t *testing.T) {
	const head = "n1:10:20 [0] "
	const shared = head + "NCCL INFO ncclMaxSharedMem 82240 exceeds device/fn maxSharedMem 79856\n"
	const direct = head + "NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'"
	for text, want := range map[string]nccllogs.Defect{
		"NCCL version 2.25.1+cuda12.8\n" +
			shared: "rtx-50-shared-memory",
		"NCCL version 2.26.2+cuda12.8\n" + shared:                                "",
		"NCCL version 2.25.1+cuda12.8\n" + head + "NCCL INFO Using network IB\n": "",
		"NCCL version 2.22.3+cuda12.6\n" + direct +
			"\n": "peermem-name",
		"NCCL version 2.22.3+cuda12.6\n" + direct + " (distance 4 > 3)\n": "",
		"NCCL error in: a.cpp:9, unhandled cuda error, NCCL version " +
			"2.18.5\nCuda failure 'invalid argument'\n": "copy-unsynced",
	} {
		var got nccllogs.Defect
		for _, f := range read(t, text).Findings() {
			if d, ok := f.Fact.(nccllogs.KnownDefect); ok {
				got = d.Defect
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]release{
		"2.27.7": {2, 27, 7}, "21.2.12": {2, 12, 12}, "20.9.9": {2, 9, 9}, "2.30.3x-git": {2, 30, 3},
	} {
		test.EqOp(t, want, releaseOf(text), test.Sprint(text))
	}
	for _, d := range knownDefects {
		if d.name.String() == "" || notice.Advice(nccllogs.KnownDefect{Defect: d.name}) == "" {
			t.Errorf("%s has no text", d.name)
		}
	}
}

// The name of an interface, or its address, shows that other hosts cannot reach it.
func TestUnreachableInterfaces(t *testing.T) {
	failed := "n1:10:20 [0] misc/socket.cc:4 NCCL WARN Connect to 10.0.0.2<4> failed : Connection timed out\n"
	for _, name := range []string{"tunl0:10.0.0.1", "lxcbr0:10.0.3.1", "ib1:fe80::1%ib1", "ecs-eth0:169.254.172.2"} {
		log := read(t, "n1:10:20 [0] NCCL INFO Bootstrap : Using "+name+"<0>\n"+failed)
		if !slices.Contains(codesOf(log.Findings()), "unreachable-interface") {
			t.Errorf("%s", name)
		}
	}
}

// One host that loads a plugin and one that does not use different networks.
func TestNetworksDiffer(t *testing.T) {
	host := func(name, rank, network string) string {
		head := name + ":10:20 [0] NCCL INFO "
		return head + "Using network " + network + "\n" +
			head + "comm 0x" + rank + "1 rank " + rank + " nranks 2 cudaDev 0 busId 1b000 commId 0xa - Init COMPLETE\n"
	}
	for network, want := range map[string]bool{"IB": true, "IBext_v8": false} {
		found := read(t, host("n1", "0", "IBext_v8")+host("n2", "1", network)).Findings()
		if slices.Contains(codesOf(found), "networks-differ") != want {
			t.Errorf("%s: %v", network, found)
		}
	}
}

// A log of peer access without NVLink that ends after init may be of a run that hangs.
func TestEndAfterInit(t *testing.T) {
	const head = "n1:10:20 [0] NCCL INFO "
	log := head + "Channel 00 : 0[1000] -> 1[2000] via P2P/IPC\n"
	for _, rank := range []string{"0", "1"} {
		log += head + "comm 0x" + rank + "1 rank " + rank + " nranks 2 cudaDev " + rank + " busId " + rank +
			"000 - Init COMPLETE\n"
	}
	for text, want := range map[string]bool{
		log: true, log + head + "comm 0x01 rank 0 nranks 2 cudaDev 0 busId 1b000 - Destroy COMPLETE\n": false,
	} {
		found := read(t, text).Findings()
		if slices.Contains(codesOf(found), "end-after-init") != want {
			t.Errorf("%q: %v", text, found)
		}
	}
}

// If no message names the cause, the first consequence of another failure is the error.
func TestFirstSymptomIsError(t *testing.T) {
	errorsIn(t, "remote-closed", []string{"n1:1:2 [0] socket.cc:4 NCCL WARN Connection closed by remote peer n2<4>\n" +
		"n1:1:2 [0] proxy.cc:1 NCCL WARN Socket recv failed while polling for opId=0x7f\nncclInternalError: Internal " +
		"check failed.\n"})
}
