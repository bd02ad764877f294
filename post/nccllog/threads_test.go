package nccllog

import (
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
)

// ibBetween are lines of a rank whose connections go over InfiniBand; gdr is how each end ends.
func ibBetween(host, rank, send, receive string) string {
	other := "0"
	if rank == "0" {
		other = "1"
	}
	head := host + ":10:20 [0] NCCL INFO "
	return head + "comm 0x" + rank + "1 rank " + rank + " nranks 2 cudaDev 0 busId 1b000 - Init COMPLETE\n" +
		head + "Channel 00/0 : " + other + "[1b000] -> " + rank + "[1b000] [receive] via NET/IB/0" +
		receive + "\n" +
		head + "Channel 00/0 : " + rank + "[1b000] -> " + other + "[1b000] [send] via NET/IB/0" + send + "\n"
}

// Ten public threads with known causes (docs/log-evaluation.md, criterion c): lines of the same form give the code of
// that cause, and no other error.
func TestCausesOfManyThreads(t *testing.T) {
	const head = "n1:10:20 [0] "
	for thread, c := range map[string]struct {
		code notice.Code
		logs []string
	}{
		"nccl 290": {"shared-memory-full", []string{
			head + "include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device\n" +
				head + "NCCL INFO include/shm.h:41 -> 2\n",
		}},
		"nccl-tests 206": {"locked-memory-limit", []string{
			head + "misc/ibvwrap.cc:278 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory\n",
		}},
		"nccl 1405": {"rdma-no-answer", []string{
			head + "transport/net_ib.cc:1615 NCCL WARN NET/IB : Got completion from peer 10.0.0.2<40000> with " +
				"status=12 opcode=0 len=0 vendor err 129 (Recv) localGid fd00::1 remoteGidsfd00::2\n",
		}},
		"rccl 429": {"collective-mismatch", []string{
			head + "/src/transport/net_ib.cc:700 NCCL WARN NET/IB : collective mismatch error local size 4096 " +
				"remote 2048 addr 7f00 rkey 1 seq 1/1\n",
		}},
		"nccl-tests 324": {"gpu-peers-exhausted", []string{
			"[2026-01-02 03:04:05] " + head +
				"allocator.cc:79 NCCL WARN Cuda failure 711 'peer mapping resources exhausted'\n",
		}},
		"nccl-tests 152": {"no-gpudirect-rdma", []string{
			ibBetween("n1", "0", "/GDRDMA", "/GDRDMA"), ibBetween("n2", "1", "/GDRDMA", ""),
		}},
		"nccl 451": {"nic-unusable", []string{
			"NCCL INFO NCCL_IB_DISABLE set by environment to 0.\n" +
				"misc/ibvwrap.cc:212 NCCL WARN Call to ibv_open_device failed\n" +
				"transport/net_ib.cc:148 NCCL WARN NET/IB : Unable to open device mlx5_bond_0\n" +
				"NCCL INFO NET/IB : No device found.\nNCCL INFO Using network Socket\n",
		}},
		"nccl 147": {"ranks-stopped", []string{
			rankLog(0, 1, 2, 3), rankLog(1, 1, 2, 3), rankLog(2, 1), rankLog(3, 1, 2, 3),
		}},
		"nccl 969": {"collective-mismatch", []string{
			"10.0.0.1: " + head + "transport/net_ib.cc:1038 NCCL WARN NET/IB : req 0/1 tag 0 peer 10.0.0.2<40000> " +
				"collective mismatch error, local size 496640 remote size 65536\n10.0.0.1: " + head +
				"NCCL INFO include/net.h:32 -> 5\n",
		}},
		"nccl 2013": {"rdma-setup-failed", []string{
			"[2026-01-02 03:04:05] n1:10:20 [5] ibvwrap.c:262 NCCL WARN Call to ibv_modify_qp failed with 110 " +
				"Connection timed out, on dev mlx_x:1, curr state INIT, next state RTR, local GID index 3, " +
				"local GID ::ffff:10.0.0.1, remote GID ::ffff:10.0.0.2\n",
		}},
	} {
		t.Run(thread, func(t *testing.T) {
			errorsIn(t, c.code, c.logs)
		})
	}
}

// errorsIn expects one finding of a code among those of logs, and no error of another code.
func errorsIn(t *testing.T, code notice.Code, logs []string) {
	t.Helper()
	var found []string
	named := false
	for _, f := range readAll(t, logs...).Findings() {
		found = append(found, string(f.Code())+" "+f.Severity.String())
		named = named || f.Code() == code
		if f.Severity == notice.Error && f.Code() != code {
			t.Errorf("error %s, not %s", f.Code(), code)
		}
	}
	if !named {
		slices.Sort(found)
		t.Errorf("no %s: %s", code, strings.Join(found, ", "))
	}
}
