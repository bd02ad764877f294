package logreport

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/post/nccllog"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// bigLog is the log of 1024 ranks on 128 nodes, some with another library or other settings, or stopped.
func bigLog(ranks, local int) string {
	var b strings.Builder
	for rank := range ranks {
		host, device := fmt.Sprintf("node%03d", rank/local), rank%local
		say := func(format string, args ...any) {
			fmt.Fprintf(&b, "%s:%d:%d [%d] NCCL INFO %s\n", host, 1000+device, 2000+device, device,
				fmt.Sprintf(format, args...))
		}
		comm, version, buffer := fmt.Sprintf("0x5%d00", rank), "2.27.7", 4194304
		if rank/local == 77 {
			version = "2.26.2"
		}
		if rank%3 == 0 {
			buffer = 8388608
		}
		say("NCCL version %s+cuda12.8", version)
		say("NCCL_BUFFSIZE set by environment to %d.", buffer)
		say("Using network Socket")
		say("ncclCommInitRankConfig comm %s rank %d nranks %d cudaDev %d nvmlDev %[4]d busId %d000 commId 0xabc - "+
			"Init START",
			comm, rank, ranks, device, 1+device)
		say("comm %s rank %d nRanks %d nNodes %d localRanks %d localRank %d MNNVL 0", comm, rank, ranks, ranks/local,
			local,
			device)
		for channel := range 2 {
			say("Channel %02d/0 : %d[%d] -> %d[0] [send] via NET/Socket/0", channel, rank, device, (rank+1)%ranks)
		}
		say("ncclCommInitRankConfig comm %s rank %d nranks %d cudaDev %d nvmlDev %[4]d busId %d000 commId 0xabc - "+
			"Init COMPLETE", comm, rank, ranks, device, 1+device)
		for op := range 4 {
			if op < 2 || rank%5 != 0 {
				say("AllReduce: opCount %x sendbuff 0x1 recvbuff 0x2 count 8388608 datatype 7 op 0 root 0 comm %s "+
					"[nranks=%d] stream 0x3", op, comm, ranks)
			}
		}
		fmt.Fprintf(&b,
			"\n%s:%d:%d [%d] misc/socket.cc:17 NCCL WARN socketProgress: Connection closed by remote peer "+
				"node%03d<%d>\n", host,
			1000+device, 2000+device, device, rank%7, 40000+rank)
	}
	return b.String()
}

// page is the report on a log as text.
func page(t *testing.T, text string) (string, *nccllog.Log) {
	t.Helper()
	r := nccllog.NewReader()
	must.NoError(t, r.Add("a.log", strings.NewReader(text)))
	log := r.Log()
	var b strings.Builder
	must.NoError(t, newReport(log).Document(all).Write(&b, document.Text))
	return b.String(), log
}

// A healthy result requires that every warning and error is known; others are counted and shown.
func TestHealthyNeedsKnownMessages(t *testing.T) {
	const info, warning = "n1:10:20 [0] NCCL INFO Launch mode Parallel\n", "NCCL WARN the moon is full\n"
	for text, want := range map[string][]string{
		info:                             {"No problem found"},
		info + warning:                   {"1 of 1 warnings", "the moon is full"},
		info + "a.log:" + warning:        {"1 of 1 warnings", "the moon is full"},
		info + "ERROR: the moon is full": {"1 of 1 warnings", "the moon is full"},
		info + warning + "NCCL WARN Mismatched NCCL version\n": {"1 of 2 warnings", "the moon is full"},
	} {
		got, _ := page(t, text)
		for _, w := range want {
			test.StrContains(t, got, w, test.Sprint(text))
		}
		test.EqOp(t, (text == info), strings.Contains(got, "No problem found"), test.Sprint(text))
	}
}

// A log of a thousand ranks is read on one or two screens: lists are ranges, or counted.
func TestManyRanksShortened(t *testing.T) {
	text, _ := page(t, bigLog(1024, 8))
	lines := strings.Split(text, "\n")
	if len(lines) > 150 {
		t.Errorf("%d lines:\n%s", len(lines), text)
	}
	for _, line := range lines {
		if n := len([]rune(line)); n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"ranks 616-623 on node077", "1024 ranks on 128 nodes",
		"node000, node001, node002, node003 and 124 more hosts"} {
		test.StrContains(t, text, want)
	}
}

// An empty list is a list in JSON, so that jq can iterate it.
func TestJSONListsNotNull(t *testing.T) {
	const calm = "n0:1:1 [0] NCCL INFO comm 0x77 rank 0 nranks 1 cudaDev 0 nvmlDev 0 busId 1000 commId 0x1 - Init " +
		"COMPLETE\n"
	_, log := page(t, calm)
	var b strings.Builder
	must.NoError(t, (&Report{log: log, findings: log.Findings(), other: log,
		contrast: nccllog.Compare(log, log)}).Document(all).Write(&b, document.JSON))
	var all struct {
		Findings json.RawMessage            `json:"notices"`
		Contrast map[string]json.RawMessage `json:"contrast"`
	}
	must.NoError(t, json.Unmarshal([]byte(b.String()), &all))
	test.StrHasPrefix(t, "[", string(all.Findings))
	for _, name := range []string{"effects", "causes", "others", "only_in_a", "only_in_b", "same", "notices"} {
		test.StrHasPrefix(t, "[", string(all.Contrast[name]), test.Sprint(name))
	}
}

// A log of calls alone has no ranks: calls are counted per process, and no rank is reported as missing.
func TestCallsOfUnknownRanks(t *testing.T) {
	var b strings.Builder
	for op := range 10 {
		for pid := 1; pid <= 2; pid++ {
			fmt.Fprintf(&b,
				"n0:%d:%d [%d] NCCL INFO AllReduce: opCount %x sendbuff 0x1 recvbuff 0x2 count 1024 datatype 7 op 0 "+
					"root 0 comm 0x%d0 [nranks=2] stream 0x3\n", pid, pid, pid-1, op, pid)
		}
	}
	text, log := page(t, b.String())
	rows := log.CallRows()
	if len(rows) != 1 || rows[0].Each != "10" || rows[0].Ranks != "unknown, 2 processes" {
		t.Errorf("%+v", rows)
	}
	if strings.Contains(text, "of 2 ranks") || !strings.Contains(text, "calls are of a process") {
		t.Error(text)
	}
}

// TUNING lines with algorithms have bytes of one rank: only the number of ranks is missing.
func TestSizesOfOneRank(t *testing.T) {
	const line = "n0:1:1 [0] NCCL INFO %s: 1048576 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..3}\n"
	for name, want := range map[string][2]string{"AllGather": {"1 MiB per rank", "are bytes of one rank"},
		"Whatever": {"1 MiB *", "the log does not show which"}, "AllReduce": {"1 MiB ", ""}} {
		got, _ := page(t, fmt.Sprintf(line, name))
		for _, words := range []string{"are bytes of one rank", "the log does not show which"} {
			if !strings.Contains(got, want[0]) || strings.Contains(got, words) != (words == want[1]) {
				t.Errorf("%s: %q in\n%s", name, words, got)
			}
		}
	}
}

// all keeps every notice.
func all(notices []notice.Notice) []notice.Notice { return notices }
