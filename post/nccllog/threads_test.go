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

// Public threads with known causes (docs/log-evaluation.md, criterion c): lines of the same form give the code of that
// cause, and no other error. Those of one line are in singleLines.
func TestCausesOfManyThreads(t *testing.T) {
	for thread, c := range map[string]struct {
		code notice.Code
		logs []string
	}{
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
	for _, f := range read(t, logs...).Findings() {
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
