package analysis

import (
	"strings"
	"testing"

	"busbar/internal/coll"
)

// A finding can be told without its curve, whatever is said of how that was taken.
func TestBrief(t *testing.T) {
	c := &Curve{Who: "nccl", Condition: Condition{Case: coll.Case{Collective: coll.AllReduce, Type: coll.Float32, Op: coll.Sum, World: 16}, Nodes: 2, Rotate: 1 << 20, Average: "mean over ranks"}}
	f := Finding{Curve: c}
	f.state("from %s on it is slow", "1 MiB")
	if got := f.Places()[0].Brief(); got != "from 1 MiB on it is slow." || !strings.HasPrefix(f.Says, "nccl, all_reduce") {
		t.Errorf("%q of %q", got, f.Says)
	}
	f.Says = "Two curves differ."
	if got := f.Places()[0].Brief(); got != f.Says {
		t.Errorf("%q of %q", got, f.Says)
	}
}
