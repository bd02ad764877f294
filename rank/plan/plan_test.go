package plan

import (
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/sweeps"
)

// Without sizes, collectives or a sweep, the plan is quick; with sizes or collectives, flags alone make it.
func TestSelectSweep(t *testing.T) {
	size, iterations := int64(8), 5
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{}, "quick"},
		{Options{Flags: sweeps.Overrides{Iterations: &iterations}}, "quick"},
		{Options{Flags: sweeps.Overrides{Modes: []coll.Mode{coll.Latency}}}, "quick"},
		{Options{Flags: sweeps.Overrides{MinBytes: &size}}, ""},
		{Options{Flags: sweeps.Overrides{Collectives: []coll.Collective{coll.AllToAll}}}, ""},
		{Options{Sweep: "profile"}, "profile"},
		{Options{Sweep: "profile", Flags: sweeps.Overrides{Iterations: &iterations}}, "profile"},
		{Options{Pattern: "pairs"}, "pattern"},
		{Options{Step: StepOptions{Model: "gpt2"}}, ""},
	} {
		f, err := c.options.readSweep()
		if err != nil || !strings.HasPrefix(f.Name, c.want) || (c.want == "") != (f.Name == "") {
			t.Errorf("%+v reads %q, %v; want %q", c.options, f.Name, err, c.want)
		}
		if _, err := c.options.sweepOf(f, file{}); err != nil {
			t.Errorf("%+v: %v", c.options, err)
		}
	}
	o := Options{Sweep: "profil"}
	if _, err := o.readSweep(); err == nil || !strings.Contains(err.Error(), "profile") {
		t.Errorf("a sweep that does not exist: %v", err)
	}
}
