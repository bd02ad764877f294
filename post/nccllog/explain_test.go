package nccllog

import (
	"strings"
	"testing"

	"busbar/internal/notice"
)

// What NCCL and its relatives print, from their sources and from reports of users, and a word of what is said of it.
func TestExplain(t *testing.T) {
	for text, want := range map[string]notice.Code{
		"Call to ibv_reg_mr failed":                                                                                                                      "locked-memory-limit",
		"Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory":                                                                              "locked-memory-limit",
		"Call to ibv_create_qp failed":                                                                                                                   "locked-memory-limit",
		"Call to ibv_modify_qp failed with error Invalid argument":                                                                                       "wrong-gid-index",
		"NET/IB : Got completion with error 12, opcode 0, len 0, vendor err 129":                                                                         "rdma-no-answer",
		"NET/IB : Got completion from peer 10.0.0.9<54862> with status=12 opcode=0 len=0 vendor err 129 (Recv)":                                          "rdma-no-answer",
		"NET/IB: Got completion from peer 10.0.0.9<1> with status=RETRY_EXC_ERR(12) opcode=SEND(0) vendor_err=129 (Send)":                                "rdma-no-answer",
		"NET/IB : Got completion from peer 10.0.0.9<54862> with status=5 opcode=0 len=0 vendor err 249 (Recv)":                                           "rdma-flushed",
		"NET/IB : mlx5_0:1 Got async event : port error":                                                                                                 "nic-port-error",
		"NET/IB : mlx5_0:1 async fatal event on QP (0x1): local catastrophic error":                                                                      "nic-port-error",
		"Failed to open libibverbs.so[.1]":                                                                                                               "libibverbs-missing",
		"P2P is disabled between NVLINK connected GPUs 1 and 3. This should not be the case":                                                             "nvlink-p2p-disabled",
		"Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10":                                                                              "duplicate-gpu",
		"Multiple Ranks are using the same GPU/Partition. Set NCCL_MULTI_RANK_GPU_ENABLE=1":                                                              "duplicate-gpu",
		"Mismatched NCCL version detected : rank 0 version 22707 rank 1 version 22602":                                                                   "nccl-version-mismatch",
		"Call to posix_fallocate failed : No space left on device":                                                                                       "shared-memory-full",
		"Error: failed to extend /dev/shm/nccl-03v824 to 4194660 bytes":                                                                                  "shared-memory-full",
		"Error while creating shared memory segment /dev/shm/nccl-pZafXL (size 7340384)":                                                                 "shared-memory-failed",
		"Error while attaching to shared memory segment /dev/shm/nccl- (size 192814336), error: No such file":                                            "shared-memory-failed",
		"unlink shared memory /dev/shm/nccl-d5rTd0 failed, error: No such file or directory":                                                             "shared-memory-removed",
		"Call to socket failed: Too many open files":                                                                                                     "too-many-open-files",
		"socketStartConnect: Connect to 10.0.0.2<45763> failed : Software caused connection abort":                                                       "connection-failed",
		"Connect to 10.38.10.112<21724> failed : Connection refused":                                                                                     "connection-refused",
		"Call to connect failed : Connection timed out":                                                                                                  "connection-failed",
		"ncclOsSocketPollConnect to 10.0.0.2<4> failed with error No route to host":                                                                      "host-unreachable",
		"socketProgress: Connection closed by remote peer node1<57557>":                                                                                  "remote-closed",
		"[Proxy Service 0] Failed to execute operation Connect from rank 0, retcode 2":                                                                   "proxy-failed",
		"[Service thread] Error encountered progressing operation=Connect, res=2, closing connection":                                                    "proxy-failed",
		"Socket recv failed while polling for opId=0x7f6f18cb7f40":                                                                                       "proxy-failed",
		"Bootstrap : no socket interface found":                                                                                                          "no-usable-interface",
		"Bootstrap Root : rank 3 of 8 ranks has already checked in":                                                                                      "duplicate-rank",
		"Failed to initialize any NET plugin":                                                                                                            "no-usable-network",
		"Attribute arch of node cpu not found":                                                                                                           "topology-file-invalid",
		"XML Topology has wrong version 0, 1 needed":                                                                                                     "topology-file-invalid",
		"nvmlInit_v2() failed: Driver/library version mismatch":                                                                                          "nvml-failed",
		`Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!`:                                                       "iommu-translation",
		`NUMA auto balancing enabled which can lead to variability in the RCCL performance!`:                                                             "rccl-warns-numa-balancing",
		"Cuda failure 'out of memory'":                                                                                                                   "gpu-out-of-memory",
		"Failed to CUDA calloc 6291456 bytes":                                                                                                            "gpu-out-of-memory",
		"Cuda failure 700 'an illegal memory access was encountered'":                                                                                    "gpu-context-broken",
		"Cuda failure 'uncorrectable ECC error encountered'":                                                                                             "gpu-memory-error",
		"Cuda failure 'CUDA driver version is insufficient for CUDA runtime version'":                                                                    "driver-too-old",
		"Cuda failure 'invalid argument'":                                                                                                                "cuda-call-failed",
		"[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600004 milliseconds": "pytorch-watchdog-timeout",
	} {
		if e := explain(text); e == nil || e.code != want {
			t.Errorf("%q: %+v, want %s", text, e, want)
		}
	}
	for _, text := range []string{"the moon is in the seventh house", "NET/IB : Using [0]mlx5_0:1/IB", ""} {
		if e := explain(text); e != nil {
			t.Errorf("%q: %s", text, e.code)
		}
	}
}

// What only follows from another failure is not called serious beside it, and is where nothing else is told.
func TestWhatFollows(t *testing.T) {
	closed, full := "n1:1:1 [0] a.cc:1 NCCL WARN socketProgress: Connection closed by remote peer n2<5>\n",
		"n1:1:1 [0] b.cc:1 NCCL WARN Cuda failure 'out of memory'\n"
	for text, want := range map[string]notice.Severity{closed: notice.Error, closed + full: notice.Warning} {
		for _, f := range readAll(t, text).Findings() {
			if strings.Contains(f.Details()[0], "closed by remote") && f.Severity != want {
				t.Errorf("%q: %s, want %s", text, f.Severity, want)
			}
		}
	}
}

// Lines that tell an error's way count where no warning tells its reason.
func TestFailuresWithoutAReason(t *testing.T) {
	way := "n1:1:1 [0] NCCL INFO init.cc:1798 -> 6\nn1:1:1 [0] NCCL INFO group.cc:64 -> 6 [Async thread]\n"
	all := readAll(t, way).Findings()
	if len(all) != 1 || all[0].Fact.(notice.FailedCalls).Result != "6" || len(all[0].Details()) != 2 {
		t.Errorf("%+v", all)
	}
	all = readAll(t, way+"n1:1:1 [0] b.cc:1 NCCL WARN Cuda failure 'out of memory'\n").Findings()
	if len(all) != 1 || all[0].Code() != "gpu-out-of-memory" {
		t.Errorf("%+v", all)
	}
}
