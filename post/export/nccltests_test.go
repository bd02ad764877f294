package export

import (
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/coll/colltest"
	"busbar/internal/notice"
	"busbar/internal/result"
)

func TestNCCLTestsHead(t *testing.T) {
	head := func(m result.Method) string {
		var b strings.Builder
		writeNCCLTests(&b, &result.File{Run: result.Run{Method: m},
			Records: []result.Record{
				{Case: colltest.AllReduce(8), Status: result.OK, Time: &result.Time{Seconds: 1, Iterations: 20}},
			}})
		return b.String()
	}
	if got := head(result.Method{}); !strings.Contains(got,
		"graph: 0\n# time: median over batches, iterations as many as each size needed;") {
		t.Error(got)
	}
	warned := result.Record{Case: colltest.AllReduce(8), Status: result.OK, Time: &result.Time{Seconds: 1},
		Warnings: notice.Of(notice.Recorded{Text: "two modes"})}
	var b strings.Builder
	writeNCCLTests(&b, &result.File{Run: result.Run{Warnings: notice.Of(notice.OversubscribedHosts{Hosts: 2})},
		Records: []result.Record{warned}})
	for _, want := range []string{
		"# Warning: oversubscribed: 2 more hosts as well\n#\n# Using devices\n",
		"# 8 2 float sum -1 out-of-place: warning: two modes\n",
	} {
		if got := b.String(); !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if got := head(result.Method{Iterations: 20, Graph: 5}); !strings.Contains(got, "iters: 20 ") ||
		!strings.Contains(got, "graph: 5\n# time: of one batch of all iterations,") {
		t.Error(got)
	}
}

// A group of one node in a world of one node is another series than in a world of two.
func TestGroupLabels(t *testing.T) {
	r := &result.Record{Case: colltest.AllReduce(8), Nodes: 1, RanksPerNode: 4}
	r.Groups = coll.Groups{Division: "2:contiguous", Number: 1}
	one, two := pointLabels(&result.Run{Nodes: 1}, r), pointLabels(&result.Run{Nodes: 2}, r)
	if one == two || !strings.Contains(two, `ranks_per_node="4",world_nodes="2"`) {
		t.Error(two)
	}
}
