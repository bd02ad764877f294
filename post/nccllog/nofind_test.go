package nccllog

import (
	"strings"
	"testing"

	"busbar/internal/notice"
)

// Healthy logs that resemble a fault, each close to a detected one.
func TestNoFinding(t *testing.T) {
	swap := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(wholeLog()) }
	set := func(name, value string) string {
		return "n1:100:200 [0] NCCL INFO " + name + " set by environment to " + value + "\n"
	}
	one := []string{"nNodes 2 localRanks 2", "nNodes 1 localRanks 4", "n2:", "n1:", "[send] via NET/IB/0/GDRDMA",
		"via P2P/CUMEM", "[send] via NET/IB/1/GDRDMA", "via P2P/CUMEM"}
	for name, c := range map[string]struct {
		log  string
		kind notice.Code
	}{
		"docker0 on one host": {swap(append([]string{"Bootstrap: Using eth0", "Bootstrap: Using docker0"},
			one...)...), "unreachable-interface"},
		"few channels between nodes": {swap("8 coll channels", "2 coll channels"), "few-channels"},
		"few channels without NVLink": {swap(append([]string{"8 coll channels", "2 coll channels", "type NVL/PIX",
			"type PHB/PIX"}, one...)...), "few-channels"},
		"a debug level that differs": {wholeLog() + set("NCCL_DEBUG", "INFO") +
			"n2:103:203 [1] NCCL INFO NCCL_DEBUG set by environment to WARN\n", "settings-differ"},
		"a setting that one process names": {wholeLog() + set("NCCL_BUFFSIZE", "8388608"), "settings-differ"},
		"an index that an old version needs": {swap("2.27.7", "2.20.5") + set("NCCL_IB_GID_INDEX", "3"),
			"setting-affects-speed"},
		"no InfiniBand on one host": {swap(one...) + set("NCCL_IB_DISABLE", "1"), "setting-affects-speed"},
		"a large buffer":            {wholeLog() + set("NCCL_BUFFSIZE", "8388608"), "setting-affects-speed"},
		"a switch that is off":      {wholeLog() + set("NCCL_P2P_DISABLE", "0"), "setting-affects-speed"},
		"a topology that a plugin brought": {wholeLog() +
			"n1:100:200 [0] NCCL INFO NET/OFI Setting NCCL_TOPO_FILE environment variable to /opt/x.xml\n" +
			set("NCCL_TOPO_FILE", "/opt/x.xml"), "topology-from-file"},
	} {
		for _, f := range read(t, c.log).Findings() {
			if f.Code() == c.kind {
				t.Errorf("%s: %s %q", name, f.Message(), f.Details())
			}
		}
	}
}

// Messages of one meaning are one finding; a consequence comes after other findings of the same severity.
func TestMessagesGrouped(t *testing.T) {
	closed := func(peer string) string {
		return "\nn1:100:200 [0] a.cc:1 NCCL WARN socketProgress: Connection closed by remote peer " + peer + "<5>\n"
	}
	all := read(t, wholeLog()+closed("n2")+closed("n3")+
		"n1:100:200 [0] NCCL INFO comm 0x5000 rank 0 nranks 4 cudaDev 0 busId 1000 - Abort COMPLETE\n").Findings()
	if len(all) != 2 || all[0].Code() != "communicator-aborted" || all[1].Code() != "remote-closed" ||
		len(all[1].Details()) != 2 {
		t.Errorf("%+v", all)
	}
}
