package nccllog

import (
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/nccllogs"
)

// messages are what NCCL and its relatives print, from their sources and from reports of users, behind the code of the
// cause.
const messages = `address-in-use Call to bind failed: Address already in use
address-not-local Call to bind failed: Cannot assign requested address
address-not-resolved Net : error encountered when getting address info : Name or service not known
bootstrap-mismatch Message truncated : received 64 bytes instead of 32
bootstrap-mismatch socketFinalizeAccept: wrong type 4 != 3
bus-error Signal 7 (SIGBUS) received by PID 41
call-failed Broadcast : invalid root 0 (root should be in the 0..-1 range)
collective-mismatch Mismatched collective detected, please check your collective calls at and around rank 39
collective-mismatch NET/IB : req 0/1 tag 0 peer 10.0.0.6<5> collective mismatch error, local size 49664 remote size 65
collective-mismatch NET/Socket : peer 10.0.0.6<5> message truncated : receiving 1048576 bytes instead of 65536
connection-failed Call to connect failed : Connection timed out
connection-failed socketPollConnect poll() returned 1, no POLLOUT events
connection-failed socketStartConnect: Connect to 10.0.0.1<4711> failed : Software caused connection abort
connection-failed socketStartConnect: Connect to 10.0.0.2<45763> failed : Software caused connection abort
connection-refused Connect to 10.38.10.112<21724> failed : Connection refused
cuda-call-failed Cuda failure 'invalid argument'
cuda-feature-missing Cuda failure 801 'operation not supported'
cuda-init-failed Cuda failure 3 'initialization error'
cuda-library-missing Failed to find CUDA library libcuda.so (NCCL_CUDA_PATH='') : libcuda.so: cannot open
driver-too-old Cuda failure 'CUDA driver version is insufficient for CUDA runtime version'
driver-too-old Cuda failure 'the provided PTX was compiled with an unsupported toolchain.'
duplicate-gpu Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10
duplicate-gpu Multiple Ranks are using the same GPU/Partition. Set NCCL_MULTI_RANK_GPU_ENABLE=1
duplicate-rank Bootstrap Root : rank 3 of 8 ranks has already checked in
gdrcopy-failed GDRCOPY failure -1
gdrcopy-failed gdr_pin_buffer(addr 7, size 65536) failed: 22
gid-unreadable Call to ibv_query_gid failed with error Invalid argument
gid-unreadable NET/IB: read failed in ncclIbRoceGetVersionNum: Invalid argument
gpu-busy Cuda failure 'all CUDA-capable devices are busy or unavailable'
gpu-context-broken Cuda failure 700 'an illegal memory access was encountered'
gpu-lost nvmlDeviceGetHandleByPciBusId() failed: GPU is lost
gpu-memory-error Cuda failure 'uncorrectable ECC error encountered'
gpu-not-supported Cuda failure 'invalid device function'
gpu-out-of-memory Cuda failure 'out of memory'
gpu-out-of-memory Failed to CUDA calloc 6291456 bytes
gpu-out-of-memory HIP failure: 'out of memory'
gpu-peer-access-failed failed to open CUDA IPC handle : 11 invalid argument
gpu-peers-exhausted Cuda failure 711 'peer mapping resources exhausted'
host-out-of-memory Call to mmap failed: Cannot allocate memory
host-unreachable ncclOsSocketPollConnect to 10.0.0.2<4> failed with error No route to host
imex-not-ready MNNVL (cliqueSize 8) is available but not working on this system. Check the IMEX configuration
invalid-call AllReduce : sendbuff is not a valid pointer
invalid-call Broadcast : invalid root 5 (root should be in the 0..2 range)
invalid-call comm 0x55ec10690820 has already been destroyed
iommu-translation Missing "amd_iommu=on" from kernel command line which can lead to system instablity or hang!
iommu-translation Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!
libfabric-failed NET/OFI Request 0x7f completed with error. RC: 23. Error: 4122 (Unresponsive receiver)
libfabric-failed NET/OFI Unable to insert remote address into address vector for device 1
libfabric-no-provider NET/OFI Unable to find a protocol that worked.  Failing initialization.
libibverbs-missing Failed to open libibverbs.so[.1]
locked-memory-limit Call to ibv_create_qp failed
locked-memory-limit Call to ibv_reg_mr failed
locked-memory-limit Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory
nccl-too-old NCCL library is too old. This application was compiled with NCCL version 2.29, but is running with 2.27.
nccl-version-mismatch Mismatched NCCL version detected : rank 0 version 22707 rank 1 version 22602
nccl-version-mismatch NCCL version mismatch with remote peer 10.0.0.9<28028> (local: 22703, remote 22605)
nic-port-error NET/IB : mlx5_0:1 Got async event : port error
nic-port-error NET/IB : mlx5_0:1 async fatal event on QP (0x1): local catastrophic error
nic-unusable Call to ibv_open_device failed
no-algorithm Error : no algorithm/protocol available for function AllReduce with datatype ncclFloat32.
no-such-gpu Cuda failure 'invalid device ordinal'
no-transport No transport found for rank 0[1000] -> rank 1[2000]
no-unique-id [3] is retrieving ncclUniqueId from [0] via c10d key-value store, but got error: Socket Timeout
no-usable-interface Bootstrap : no socket interface found
no-usable-interface Socket creation failed : Address family not supported by protocol
no-usable-interface ncclSocketInit: connecting to address  with family 59936 is neither AF_INET(2) nor AF_INET6(10)
no-usable-network Error : Network returned 0 device
no-usable-network Failed to initialize any NET plugin
nvlink-error Cuda failure 220 'uncorrectable NVLink error detected during the execution'
nvlink-p2p-disabled P2P is disabled between NVLINK connected GPUs 1 and 3. This should not be the case
nvls-memory-exhausted Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2 : CUDA error 2 'out of memory'.
nvls-setup-failed Failed to bind NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error 401 'invalid state'.
nvml-failed nvmlInit_v2() failed: Driver/library version mismatch
process-killed failed (exitcode: -9) local_rank: 2 (pid: 88) of binary: python
program-out-of-memory torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
proxy-failed Proxy Call to rank 3 failed (Connect)
proxy-failed Socket recv failed while polling for opId=0x7f6f18cb7f40
proxy-failed [Proxy Service 0] Failed to execute operation Connect from rank 0, retcode 2
proxy-failed [Service thread] Accept failed Resource temporarily unavailable
proxy-failed [Service thread] Error encountered progressing operation=Connect, res=2, closing connection
pytorch-watchdog-timeout [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, ` +
	`OpType=ALLREDUCE) ran for 600004 milliseconds
rccl-fine-grain Missing "HSA_FORCE_FINE_GRAIN_PCIE=1" from environment which can lead to low RCCL performance
rccl-warns-numa-balancing NUMA auto balancing enabled which can lead to variability in the RCCL performance!
rdma-flushed NET/IB : Got completion from peer 10.0.0.9<54862> with status=5 opcode=0 len=0 vendor err 249 (Recv)
rdma-no-answer NET/IB : Got completion from peer 10.0.0.9<54862> with status=12 opcode=0 len=0 vendor err 129 (Recv)
rdma-no-answer NET/IB : Got completion with error 12, opcode 0, len 0, vendor err 129
rdma-no-answer NET/IB: Got completion from peer 10.0.0.9<1> with status=RETRY_EXC_ERR(12) opcode=SEND(0) vendor_err=129
rdma-setup-failed Call to ibv_modify_qp failed with error Network is unreachable
remote-closed socketProgress: Connection closed by remote peer node1<57557>
shared-memory-failed Error while attaching to shared memory segment /dev/shm/nccl- (size 192814336), error: No such file
shared-memory-failed Error while creating shared memory segment /dev/shm/nccl-pZafXL (size 7340384)
shared-memory-full Call to posix_fallocate failed : No space left on device
shared-memory-full Error: failed to extend /dev/shm/nccl-03v824 to 4194660 bytes
shared-memory-full It is possible that dataloader's workers are out of shared memory.
shared-memory-handle Error while attaching to shared memory segment /dev/shm/nccl-x (size 0)
shared-memory-removed unlink shared memory /dev/shm/nccl-d5rTd0 failed, error: No such file or directory
store-unreachable torch.distributed.DistNetworkError: The client socket has timed out after 60000ms while trying to ` +
	`connect.
stream-captured Cuda failure 'operation not permitted when stream is capturing'
too-many-open-files Call to socket failed: Too many open files
too-many-threads Call to pthread_create failed: Resource temporarily unavailable
topology-file-invalid Attribute arch of node cpu not found
topology-file-invalid XML Import Channel : dev 3 not found.
topology-file-invalid XML Topology has wrong version 0, 1 needed
topology-incomplete Could not find NET with id 0
topology-incomplete Could not find a path for pattern 1, falling back to simple order
topology-incomplete Could not find real path of /sys/class/infiniband/mlx5_0/device
unix-socket-failed UDS: Sending data over socket /tmp/nccl-socket-3-1f failed : Connection refused (111)
unix-socket-failed ncclProxyClientGetFd call to tpRank 3 handle 0x7f3 failed : 2
wrong-gid-index Call to ibv_modify_qp failed with error Invalid argument
`

func TestExplain(t *testing.T) {
	for line := range strings.Lines(messages) {
		code, text, _ := strings.Cut(strings.TrimSpace(line), " ")
		if e := explain(Message{Text: text}); e == nil || string(e.code) != code {
			t.Errorf("%q: %+v, want %s", text, e, code)
		}
	}
	for _, text := range []string{"the moon is in the seventh house", "NET/IB : Using [0]mlx5_0:1/IB", ""} {
		if e := explain(Message{Text: text}); e != nil {
			t.Errorf("%q: %s", text, e.code)
		}
	}
}

// The source location may decide on a message that several locations print.
func TestExplainByPlace(t *testing.T) {
	for place, want := range map[string]notice.Code{
		"transport/nvls.cc:193": "nvls-setup-failed", "transport/p2p.cc:276": "gpu-peer-access-failed",
		"init.cc:1": "cuda-call-failed",
		"":          "cuda-call-failed",
	} {
		if e := explain(Message{Text: "Cuda failure 1 'invalid argument'", Place: place}); e == nil || e.code != want {
			t.Errorf("%q: %+v, want %s", place, e, want)
		}
	}
}

// Each code of messages.tsv has its cause in the catalogue.
func TestExplanationCauses(t *testing.T) {
	if len(explanations) < 100 {
		t.Errorf("%d patterns", len(explanations))
	}
	for _, e := range explanations {
		fact := nccllogs.LibraryMessage{Cause: e.code}
		if notice.Find(e.code) == nil || notice.Message(fact) == "" {
			t.Errorf("%s (%s) is not in the catalogue", e.code, e.match)
		}
	}
}

// A consequence of another failure is not an error beside it, but is one alone.
func TestConsequences(t *testing.T) {
	closed, full := "n1:1:1 [0] a.cc:1 NCCL WARN socketProgress: Connection closed by remote peer n2<5>\n",
		"n1:1:1 [0] b.cc:1 NCCL WARN Cuda failure 'out of memory'\n"
	for text, want := range map[string]notice.Severity{closed: notice.Error, closed + full: notice.Warning} {
		for _, f := range read(t, text).Findings() {
			if strings.Contains(f.Details()[0], "closed by remote") && f.Severity != want {
				t.Errorf("%q: %s, want %s", text, f.Severity, want)
			}
		}
	}
}

// Lines of an error's call path count where no warning has its reason.
func TestFailuresWithoutReason(t *testing.T) {
	way := "n1:1:1 [0] NCCL INFO init.cc:1798 -> 6\nn1:1:1 [0] NCCL INFO group.cc:64 -> 6 [Async thread]\n"
	all := read(t, way).Findings()
	if len(all) != 1 || all[0].Fact.(nccllogs.FailedCalls).Result != "6" || len(all[0].Details()) != 2 {
		t.Errorf("%+v", all)
	}
	all = read(t, way+"n1:1:1 [0] b.cc:1 NCCL WARN Cuda failure 'out of memory'\n").Findings()
	if len(all) != 1 || all[0].Code() != "gpu-out-of-memory" {
		t.Errorf("%+v", all)
	}
}
