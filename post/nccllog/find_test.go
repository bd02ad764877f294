package nccllog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// wholeLog is a healthy log of four ranks on two nodes: NVLink intra-node, two InfiniBand NICs with GPUDirect RDMA
// inter-node.
func wholeLog() string {
	var b strings.Builder
	for rank := range 4 {
		host, device := fmt.Sprintf("n%d", 1+rank/2), rank%2
		say := func(format string, args ...any) {
			fmt.Fprintf(&b, "%s:%d:%d [%d] NCCL INFO %s\n", host, 100+rank, 200+rank, device,
				fmt.Sprintf(format, args...))
		}
		comm := fmt.Sprintf("0x5%d00", rank)
		say("NCCL version 2.27.7+cuda12.8")
		say("Bootstrap: Using eth0:10.0.0.%d<0>", 1+rank/2)
		say("NCCL_DEBUG_SUBSYS set by environment to ALL")
		say("NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:10.0.0.1<0>")
		say("NET/IB : GPU Direct RDMA Enabled for HCA 0 'mlx5_0'")
		say("NET/IB : GPU Direct RDMA Enabled for HCA 1 'mlx5_1'")
		say("Using network IB")
		say(
			"ncclCommInitRankConfig comm %s rank %d nranks 4 cudaDev %d nvmlDev %[3]d busId %d000 commId 0xabc - "+
				"Init START",
			comm,
			rank,
			device,
			1+rank,
		)
		say("=== System : maxBw 240.0 totalBw 240.0 ===")
		say("Pattern 4, crossNic 0, nChannels 4, bw 20.000000/20.000000, type NVL/PIX, sameChannels 1")
		say("comm %s rank %d nRanks 4 nNodes 2 localRanks 2 localRank %d MNNVL 0", comm, rank, device)
		say("8 coll channels, 8 collnet channels, 0 nvls channels, 16 p2p channels, 2 p2p channels per peer")
		next := (rank + 1) % 4
		for channel := range 2 {
			if device == 0 {
				say("Channel %02d/0 : %d[0] -> %d[1] via P2P/CUMEM", channel, rank, next)
			} else {
				say("Channel %02d/0 : %d[1] -> %d[0] [send] via NET/IB/%d/GDRDMA", channel, rank, next, channel)
			}
		}
		say("Connected all rings, use ring PXN 0 GDR 1")
		say(
			"ncclCommInitRankConfig comm %s rank %d nranks 4 cudaDev %d nvmlDev %[3]d busId %d000 commId 0xabc - "+
				"Init COMPLETE",
			comm,
			rank,
			device,
			1+rank,
		)
		say(
			"Init timings - ncclCommInitRankConfig: rank %d nranks 4 total 0.67 (kernels 0.57, alloc 0.05, bootstrap "+
				"0.01, allgathers 0.00, topo 0.02, graphs 0.00, connections 0.01, rest 0.01)",
			rank,
		)
		for op := range 3 {
			say(
				"AllReduce: opCount %x sendbuff 0x1 recvbuff 0x2 count 8388608 datatype 7 op 0 root 0 comm %s "+
					"[nranks=4] stream 0x3",
				op,
				comm,
			)
			if rank == 0 {
				say("AllReduce: 33554432 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..7}")
			}
		}
	}
	return b.String()
}

func TestHealthyLog(t *testing.T) {
	l := read(t, wholeLog())
	for _, f := range l.Findings() {
		t.Errorf("%s, %s: %s %q", f.Code(), f.Severity, f.Message(), f.Details())
	}
	// The log must contain the lines that findings need.
	if len(l.Communicators) != 1 || len(l.Communicators[0].Members) != 4 || len(l.Transports) == 0 ||
		len(l.Choices) == 0 ||
		len(l.Sequences) != 1 ||
		len(l.overNet()) != 4 {
		t.Errorf("%d communicators, %d transports, %d choices, %d sequences, %d over the network", len(l.Communicators),
			len(l.Transports), len(l.Choices), len(l.Sequences), len(l.overNet()))
	}
}

// Each fault is inserted into a healthy log and is the only finding, with its severity and a source.
func TestFindings(t *testing.T) {
	swap := func(pairs ...string) func(string) string {
		return func(s string) string {
			for i := 0; i+1 < len(pairs); i += 2 {
				must.StrContains(t, s, pairs[i])
				s = strings.ReplaceAll(s, pairs[i], pairs[i+1])
			}
			return s
		}
	}
	without := func(words ...string) func(string) string {
		return func(s string) string {
			return strings.Join(slices.DeleteFunc(strings.Split(s, "\n"), func(line string) bool {
				return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) })
			}), "\n")
		}
	}
	adds := func(lines ...string) func(string) string {
		return func(s string) string { return s + strings.Join(lines, "\n") + "\n" }
	}
	says := func(message string) func(string) string {
		return adds("", "n2:102:202 [0] misc/x.cc:17 NCCL WARN "+message)
	}
	env := func(name, value string) func(string) string {
		return func(s string) string {
			for rank := range 4 {
				s += fmt.Sprintf("n%d:%d:%d [%d] NCCL INFO %s set by environment to %s.\n", 1+rank/2, 100+rank,
					200+rank, rank%2, name, value)
			}
			return s
		}
	}
	both := func(all ...func(string) string) func(string) string {
		return func(s string) string {
			for _, f := range all {
				s = f(s)
			}
			return s
		}
	}
	oneNode := swap("nNodes 2 localRanks 2", "nNodes 1 localRanks 4", "n2:", "n1:", "[send] via NET/IB/0/GDRDMA",
		"via P2P/CUMEM", "[send] via NET/IB/1/GDRDMA", "via P2P/CUMEM")
	for name, c := range map[string]struct {
		change func(string) string
		want   string // code and severity of what is found
	}{
		"ranks disagree in the count": {swapOnce(
			"opCount 1 sendbuff 0x1 recvbuff 0x2 count 8388608 datatype 7 op 0 root 0 comm 0x5300",
			"opCount 1 sendbuff 0x1 recvbuff 0x2 count 99 datatype 7 op 0 root 0 comm 0x5300"),
			"ranks-disagree error"},
		"a rank stopped":        {without("opCount 2", "comm 0x5200"), "ranks-stopped error"},
		"init was not finished": {without("Init COMPLETE", "rank 3"), "init-unfinished error"},
		"a communicator was aborted": {adds(
			"n1:101:201 [1] NCCL INFO comm 0x5100 rank 1 nranks 4 cudaDev 1 busId 2000 - Abort COMPLETE"),
			"communicator-aborted error"},
		"TCP with InfiniBand": {swap("NET/IB/0/GDRDMA", "NET/Socket/0", "NET/IB/1/GDRDMA", "NET/Socket/1"),
			"tcp-between-nodes error"},
		"no GPUDirect RDMA": {swap("/GDRDMA", "", "GPU Direct RDMA Enabled", "GPU Direct RDMA Disabled"),
			"no-gpudirect-rdma warning"},
		"no GPUDirect RDMA, and the cards can": {swap("/GDRDMA", ""), "no-gpudirect-rdma warning"},
		"one card of two":                      {swap("NET/IB/1/GDRDMA", "NET/IB/0/GDRDMA"), "one-nic warning"},
		"libfabric over TCP": {adds("n1:100:200 [0] NCCL INFO NET/OFI Selected Provider is tcp"),
			"libfabric-tcp error"},
		"a virtual interface": {swap("Bootstrap: Using eth0:10", "Bootstrap: Using docker0:172"),
			"unreachable-interface error"},
		"shared memory":         {swap("via P2P/CUMEM", "via SHM/direct/direct"), "host-memory-between-gpus warning"},
		"network within a host": {swap("via P2P/CUMEM", "[send] via NET/IB/0"), "network-within-host warning"},
		"distant cards":         {swap("type NVL/PIX", "type NVL/SYS"), "nic-far-from-gpu warning"},
		"GPUs without NVLink":   {swap("type NVL/PIX", "type PHB/PIX"), "gpus-far-apart info"},
		"few channels":          {both(oneNode, swap("8 coll channels", "2 coll channels")), "few-channels warning"},
		"LL for large messages": {swap("proto SIMPLE", "proto LL"), "ll-for-large-messages warning"},
		"a plugin that was asked for": {both(env("NCCL_TUNER_PLUGIN", "libmytuner.so"),
			adds("n1:100:200 [0] NCCL INFO TUNER/Plugin: Could not find: libmytuner.so")), "plugin-not-found warning"},
		"P2P switched off": {env("NCCL_P2P_DISABLE", "1"), "setting-affects-speed error"},
		"an old GID index": {env("NCCL_IB_GID_INDEX", "3"), "setting-affects-speed info"},
		"a topology file":  {env("NCCL_TOPO_FILE", "/x.xml"), "topology-from-file info"},
		"settings that differ": {adds("n1:100:200 [0] NCCL INFO NCCL_BUFFSIZE set by environment to 8388608.",
			"n2:103:203 [1] NCCL INFO NCCL_BUFFSIZE set by environment to 4194304."), "settings-differ warning"},
		"versions that differ": {swapOnce("n2:103:203 [1] NCCL INFO NCCL version 2.27.7",
			"n2:103:203 [1] NCCL INFO NCCL version 2.26.2"), "mixed-library-versions error"},
		"a slow init": {swapOnce("rank 2 nranks 4 total 0.67 (kernels 0.57, alloc 0.05, bootstrap 0.01",
			"rank 2 nranks 4 total 90.67 (kernels 0.57, alloc 0.05, bootstrap 90.01"), "slow-init warning"},
		"a warning that is explained": {says("Call to ibv_reg_mr failed"), "locked-memory-limit error"},
		"a warning that is not known": {says("the moon is in the seventh house"), "unexplained-message warning"},
	} {
		t.Run(name, func(t *testing.T) {
			all := read(t, c.change(wholeLog())).Findings()
			if len(all) == 0 {
				t.Errorf("no %s", c.want)
			}
			for _, f := range all {
				test.EqOp(t, c.want, fmt.Sprint(f.Code(), " ", f.Severity), test.Sprint(f.Message(), f.Details()))
				if notice.Source(f.Fact) == "" && f.Code() != "unexplained-message" {
					t.Error("no source")
				}
			}
		})
	}
}

// swapOnce replaces one text that must be there.
func swapOnce(old, new string) func(string) string {
	return func(s string) string {
		if strings.Count(s, old) != 1 {
			panic(fmt.Sprintf("%q is in the log %d times", old, strings.Count(s, old)))
		}
		return strings.Replace(s, old, new, 1)
	}
}
