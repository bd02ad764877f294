package nccllog

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"busbar/internal/needs"
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
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := r.Add(path, f); err != nil {
			t.Fatal(err)
		}
	}
	l := r.Log()
	consistent(t, l)
	return l
}

// A run of two A100 and the same with a topology file that cripples it: what is known of both by eye.
func TestHealthyAndCrippledRun(t *testing.T) {
	for _, c := range []struct {
		file             string
		lines, said      int64
		channels         int
		busbw2G, busbw8G float64
		topology         string
	}{
		{"timez-zx_nccl-tests_nccl.log", 3143, 3117, 24, 208.82, 216.60, ""},
		{"timez-zx_nccl-tests_nccl-fault.log", 1811, 1785, 2, 28.54, 28.55, "/home/zx/nccl-tests/topo_fail.xml"},
	} {
		l := example(t, c.file)
		if l.Files[0].Lines != c.lines || l.Reading.Said != c.said || l.Reading.Damaged != 0 {
			t.Errorf("%s: %+v of %+v", c.file, l.Reading, l.Files[0])
		}
		if len(l.Processes) != 1 || l.Processes[0].Host != "mew0" || !slices.Equal(l.Processes[0].Ranks, []int{0, 1}) {
			t.Errorf("%s: processes %+v", c.file, l.Processes)
		}
		if v := l.Versions[0]; len(l.Versions) != 1 || v.Text != "2.27.7" || v.Code != 22707 || v.CUDA != "13.0" || l.Driver != 13000 || v.Library != NCCL {
			t.Errorf("%s: version %+v", c.file, l.Versions)
		}
		if len(l.Communicators) != 1 {
			t.Fatalf("%s: %d communicators", c.file, len(l.Communicators))
		}
		k := l.Communicators[0]
		if k.Ranks != 2 || k.Nodes != 1 || k.Channels.Coll != c.channels || len(k.Members) != 2 ||
			!k.Members[1].Destroyed ||
			k.Members[1].Init == nil {
			t.Errorf("%s: communicator %+v", c.file, k)
		}
		if k.Topology.File != c.topology || k.Topology.GPUs != 2 {
			t.Errorf("%s: topology %+v, graphs %+v", c.file, k.Topology, k.Graphs)
		}
		if n := len(l.Choices); n != 11 || l.Choices[0].Bytes != 8<<20 || l.Choices[10].Bytes != 8<<30 {
			t.Errorf("%s: %d choices", c.file, n)
		}
		for _, ch := range l.Choices {
			if ch.Algo != "RING" || ch.Proto != "SIMPLE" || ch.Channels != c.channels || ch.Times != 45 ||
				ch.Size != ch.Bytes {
				t.Errorf("%s: %+v", c.file, ch)
			}
		}
		if len(l.Calls) != 22 || l.Calls[0].Times != 45 || l.Calls[0].Type != "float32" || l.Calls[0].Op != "sum" ||
			l.Calls[0].Size != 8<<20 {
			t.Errorf("%s: calls %+v", c.file, l.Calls[0])
		}
		if s := l.Sequences[0]; s.Mismatch != nil || len(s.Behind) != 0 || s.Compared != 495 {
			t.Errorf("%s: %+v", c.file, s)
		}
		if len(l.Transports) != 2 || len(l.Transports[0].Channels) != c.channels ||
			l.Transports[0].Via != "P2P/direct pointer/read" {
			t.Errorf("%s: transports %+v", c.file, l.Transports)
		}
		if len(l.Predictions) != 5*7*3 {
			t.Errorf("%s: %d predictions", c.file, len(l.Predictions))
		}
		if len(l.Rows) != 11 || l.Rows[8].OutBusbw != c.busbw2G || l.Rows[10].OutBusbw != c.busbw8G {
			t.Errorf("%s: rows %+v", c.file, l.Rows)
		}
		if set := slices.ContainsFunc(l.Settings, func(s Setting) bool {
			return s.Name == "NCCL_TOPO_FILE" && s.Value == c.topology
		}); set != (c.topology != "") {
			t.Errorf("%s: settings %+v", c.file, l.Settings)
		}
	}
}

// Sixteen ranks on two nodes over EFA, of 2.9: no commId, busId of devices, a network plugin whose name has a blank.
func TestSixteenRanksOverEFA(t *testing.T) {
	l := example(t, "aws-samples_aws-efa-eks_p4d_2node.log")
	if len(l.Processes) != 16 || len(l.Communicators) != 1 || l.Reading.Damaged != 0 {
		t.Fatalf("%d processes, %d communicators, %+v", len(l.Processes), len(l.Communicators), l.Reading)
	}
	k := l.Communicators[0]
	if k.Ranks != 16 || k.Nodes != 2 || k.Channels.Coll != 8 || len(k.Members) != 16 ||
		k.Members[2].Bus != "201c0" {
		t.Errorf("%+v", k)
	}
	if v := l.Versions[0]; v.Text != "2.9.9" || v.Code != 20909 {
		t.Errorf("%+v", v)
	}
	if n := l.Network; len(n.Using) != 1 || n.Using[0].Name != "AWS Libfabric" || len(n.Using[0].Processes) != 16 ||
		n.Providers[0].Name != "efa" {
		t.Errorf("%+v", n)
	}
	var net, p2p int
	for _, v := range l.Transports {
		switch v.Kind {
		case "net":
			net++
			if v.How != "AWS Libfabric" || !v.GDR || v.NetDev < 0 {
				t.Errorf("%+v", v)
			}
		case "p2p":
			p2p++
			if v.How != "IPC" {
				t.Errorf("%+v", v)
			}
		}
	}
	if net == 0 || p2p == 0 || net+p2p != len(l.Transports) {
		t.Errorf("%d over the network, %d peer to peer, %d in all", net, p2p, len(l.Transports))
	}
	if l.Settings[0].Name != "NCCL_TOPO_FILE" || l.Settings[0].From != "NET/OFI" || len(l.Settings[0].Processes) != 16 {
		t.Errorf("%+v", l.Settings[0])
	}
	if last := l.Rows[len(l.Rows)-1]; last.Bytes != 4<<30 || last.OutBusbw != 43.81 {
		t.Errorf("%+v", last)
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
