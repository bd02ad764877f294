package nccllog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

const examples = "../../../shared/examples/nccl-logs"

// example reads a public log.
func example(t *testing.T, names ...string) *Log {
	t.Helper()
	var paths []string
	for _, n := range names {
		paths = append(paths, needs.Examples(t, filepath.Join(examples, n))...)
	}
	r := NewReader()
	for _, path := range paths {
		f, err := os.Open(path)
		must.NoError(t, err)
		defer f.Close()
		must.NoError(t, r.Add(path, f))
	}
	l := r.Log()
	consistent(t, l)
	return l
}

// summary is the known content of a public log.
func summary(l *Log) string {
	c := l.largest()
	counts := map[string]int{}
	for _, v := range l.Transports {
		counts[fmt.Sprint(v.Kind, " ", v.How, " ", v.GDR)]++
	}
	ways := map[string]bool{}
	for _, ch := range l.Choices {
		ways[fmt.Sprint(ch.way(), " ", ch.Times, " times")] = true
	}
	last := l.Rows[len(l.Rows)-1]
	return fmt.Sprintf(`%s
%d messages, %d damaged; %d processes, %d members
%d channels, topology from %q; transports %v
%d choices %v; %d calls; %d predictions
%d rows, at last %d B at %g GB/s`, l.Title(),
		l.Reading.Said, l.Reading.Damaged, len(l.Processes), len(c.Members), c.Channels.Coll, c.Topology.File, counts,
		len(l.Choices), ways, len(l.Calls), len(l.Predictions), len(l.Rows), last.Bytes, last.OutBusbw)
}

// A run of two A100 and the same with a topology file that cripples it, and sixteen ranks on two nodes over EFA, of
// 2.9: no commId, busId of devices, a network plugin whose name has a blank.
func TestPublicLogs(t *testing.T) {
	for file, want := range map[string]string{
		"timez-zx_nccl-tests_nccl.log": `2 ranks on 1 node, NCCL 2.27.7 for CUDA 13.0
3117 messages, 0 damaged; 1 processes, 2 members
24 channels, topology from ""; transports map[p2p direct pointer false:2]
11 choices map[RING/SIMPLE on 24 channels 45 times:true]; 22 calls; 105 predictions
11 rows, at last 8589934592 B at 216.6 GB/s`,
		"timez-zx_nccl-tests_nccl-fault.log": `2 ranks on 1 node, NCCL 2.27.7 for CUDA 13.0
1785 messages, 0 damaged; 1 processes, 2 members
2 channels, topology from "/home/zx/nccl-tests/topo_fail.xml"; transports map[p2p direct pointer false:2]
11 choices map[RING/SIMPLE on 2 channels 45 times:true]; 22 calls; 105 predictions
11 rows, at last 8589934592 B at 28.55 GB/s`,
		"aws-samples_aws-efa-eks_p4d_2node.log": `16 ranks on 2 nodes, NCCL 2.9.9 for CUDA 11.2
529 messages, 0 damaged; 16 processes, 16 members
8 channels, topology from ""; transports map[net AWS Libfabric true:32 p2p IPC false:44]
0 choices map[]; 0 calls; 0 predictions
30 rows, at last 4294967296 B at 43.81 GB/s`,
	} {
		test.EqOp(t, want, summary(example(t, file)), test.Sprint(file))
	}
}

// An excerpt without headers: its tables and choices are of one nameless process.
func TestExcerptWithoutHeaders(t *testing.T) {
	l := example(t, "eunomia_nccl-eBPF_p3-allgather-reducescatter-sweep.log")
	if len(l.Choices) != 23 || l.Choices[11].Bytes != 32768 || l.Choices[11].Algo != "PAT" ||
		l.Choices[11].Mean != BytesPerRank || l.Choices[11].Size != Unknown {
		t.Errorf("%d choices, %+v", len(l.Choices), l.Choices[11])
	}
	i := slices.IndexFunc(l.Predictions, func(p Prediction) bool {
		return p.Name == "ReduceScatter" && p.Algo == "Ring" && p.Proto == "Simple"
	})
	if i < 0 || l.Predictions[i].Latency != 22.4 || l.Predictions[i].Bw != 4.8 {
		t.Errorf("%+v", l.Predictions)
	}
}
