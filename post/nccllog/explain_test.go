package nccllog

import (
	"strings"
	"testing"
)

// What NCCL and its relatives print, from their sources and from reports of users, and a word of what is said of it.
func TestExplain(t *testing.T) {
	for text, want := range map[string]string{
		"Call to ibv_reg_mr failed":                                                                                                                      "memlock",
		"Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory":                                                                              "memlock",
		"Call to ibv_create_qp failed":                                                                                                                   "memlock",
		"Call to ibv_modify_qp failed with error Invalid argument":                                                                                       "NCCL_IB_GID_INDEX",
		"NET/IB : Got completion with error 12, opcode 0, len 0, vendor err 129":                                                                         "IBV_WC_RETRY_EXC_ERR",
		"NET/IB : Got completion from peer 10.0.0.9<54862> with status=12 opcode=0 len=0 vendor err 129 (Recv)":                                          "IBV_WC_RETRY_EXC_ERR",
		"NET/IB: Got completion from peer 10.0.0.9<1> with status=RETRY_EXC_ERR(12) opcode=SEND(0) vendor_err=129 (Send)":                                "IBV_WC_RETRY_EXC_ERR",
		"NET/IB : Got completion from peer 10.0.0.9<54862> with status=5 opcode=0 len=0 vendor err 249 (Recv)":                                           "IBV_WC_WR_FLUSH_ERR",
		"NET/IB : mlx5_0:1 Got async event : port error":                                                                                                 "cable",
		"NET/IB : mlx5_0:1 async fatal event on QP (0x1): local catastrophic error":                                                                      "cable",
		"Failed to open libibverbs.so[.1]":                                                                                                               "rdma-core",
		"P2P is disabled between NVLINK connected GPUs 1 and 3. This should not be the case":                                                             "nvidia-smi topo -p2p n",
		"Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 10":                                                                              "two ranks",
		"Multiple Ranks are using the same GPU/Partition. Set NCCL_MULTI_RANK_GPU_ENABLE=1":                                                              "two ranks",
		"Mismatched NCCL version detected : rank 0 version 22707 rank 1 version 22602":                                                                   "different versions",
		"Call to posix_fallocate failed : No space left on device":                                                                                       "--shm-size",
		"Error: failed to extend /dev/shm/nccl-03v824 to 4194660 bytes":                                                                                  "--shm-size",
		"Error while creating shared memory segment /dev/shm/nccl-pZafXL (size 7340384)":                                                                 "--shm-size",
		"Error while attaching to shared memory segment /dev/shm/nccl- (size 192814336), error: No such file":                                            "/dev/shm",
		"unlink shared memory /dev/shm/nccl-d5rTd0 failed, error: No such file or directory":                                                             "RemoveIPC=no",
		"Call to socket failed: Too many open files":                                                                                                     "nofile",
		"socketStartConnect: Connect to 10.0.0.2<45763> failed : Software caused connection abort":                                                       "firewall",
		"Connect to 10.38.10.112<21724> failed : Connection refused":                                                                                     "nobody listens",
		"Call to connect failed : Connection timed out":                                                                                                  "firewall",
		"ncclOsSocketPollConnect to 10.0.0.2<4> failed with error No route to host":                                                                      "wrong interface",
		"socketProgress: Connection closed by remote peer node1<57557>":                                                                                  "first message of that rank",
		"[Proxy Service 0] Failed to execute operation Connect from rank 0, retcode 2":                                                                   "before this one",
		"[Service thread] Error encountered progressing operation=Connect, res=2, closing connection":                                                    "before this one",
		"Socket recv failed while polling for opId=0x7f6f18cb7f40":                                                                                       "before this one",
		"Bootstrap : no socket interface found":                                                                                                          "NCCL_SOCKET_IFNAME",
		"Bootstrap Root : rank 3 of 8 ranks has already checked in":                                                                                      "two processes",
		"Failed to initialize any NET plugin":                                                                                                            "NCCL_NET",
		"Attribute arch of node cpu not found":                                                                                                           "NCCL_TOPO_FILE",
		"XML Topology has wrong version 0, 1 needed":                                                                                                     "NCCL_TOPO_FILE",
		"nvmlInit_v2() failed: Driver/library version mismatch":                                                                                          "nvidia-smi",
		`Missing "iommu=pt" from kernel command line which can lead to system instablity or hang!`:                                                       "iommu=pt",
		`NUMA auto balancing enabled which can lead to variability in the RCCL performance!`:                                                             "kernel.numa_balancing=0",
		"Cuda failure 'out of memory'":                                                                                                                   "no GPU memory",
		"Failed to CUDA calloc 6291456 bytes":                                                                                                            "no GPU memory",
		"Cuda failure 700 'an illegal memory access was encountered'":                                                                                    "CUDA_LAUNCH_BLOCKING",
		"Cuda failure 'uncorrectable ECC error encountered'":                                                                                             "ROW_REMAPPER",
		"Cuda failure 'CUDA driver version is insufficient for CUDA runtime version'":                                                                    "newer driver",
		"Cuda failure 'invalid argument'":                                                                                                                "a call of CUDA failed",
		"[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1580, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600004 milliseconds": "no NCCL_TIMEOUT",
	} {
		e := Explain(text)
		if e == nil {
			t.Errorf("%q is not explained", text)
			continue
		}
		if all := e.Means + "\n" + e.Advice; !strings.Contains(all, want) {
			t.Errorf("%q: %q is not in\n%s", text, want, all)
		}
		if e.Source == "" || e.Severity == "" {
			t.Errorf("%q: source %q, severity %q", text, e.Source, e.Severity)
		}
	}
	for _, text := range []string{"the moon is in the seventh house", "NET/IB : Using [0]mlx5_0:1/IB", ""} {
		if e := Explain(text); e != nil {
			t.Errorf("%q: %s", text, e.Means)
		}
	}
}

// What only follows from another failure is not called serious beside it, and is where nothing else is told.
func TestWhatFollows(t *testing.T) {
	closed, full := "n1:1:1 [0] a.cc:1 NCCL WARN socketProgress: Connection closed by remote peer n2<5>\n", "n1:1:1 [0] b.cc:1 NCCL WARN Cuda failure 'out of memory'\n"
	for text, want := range map[string]Severity{closed: Serious, closed + full: Warning} {
		for _, f := range readAll(t, text).Findings() {
			if strings.Contains(f.Evidence[0], "closed by remote") && f.Severity != want {
				t.Errorf("%q: %s, want %s", text, f.Severity, want)
			}
		}
	}
}

// Lines that tell an error's way count where no warning tells its reason.
func TestFailuresWithoutAReason(t *testing.T) {
	way := "n1:1:1 [0] NCCL INFO init.cc:1798 -> 6\nn1:1:1 [0] NCCL INFO group.cc:64 -> 6 [Async thread]\n"
	all := readAll(t, way).Findings()
	if len(all) != 1 || !strings.Contains(all[0].Says, "remote error") || len(all[0].Evidence) != 2 {
		t.Errorf("%+v", all)
	}
	all = readAll(t, way+"n1:1:1 [0] b.cc:1 NCCL WARN Cuda failure 'out of memory'\n").Findings()
	if len(all) != 1 || !strings.Contains(all[0].Says, "No GPU memory") {
		t.Errorf("%+v", all)
	}
}
