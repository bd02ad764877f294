package listing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/step"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/plan"
	"busbar/sweeps"

	"github.com/shoenig/test/must"
)

// A plan lists its source, worlds, points and their time; an impossible plan is a usage error.
func TestWrite(t *testing.T) {
	launched := launch.Started{Size: 4, LocalSize: 1}
	size := int64(1 << 10)
	few := sweeps.Overrides{MinBytes: &size, MaxBytes: &size}
	worlds := sweeps.Overrides{Worlds: []int{2, 8}, Collectives: []coll.Collective{coll.AllGather}}
	training := filepath.Join(t.TempDir(), "t.yaml")
	text := []byte("world: 8\nparts: [{sizes: 8}, {calls: 0.5, sizes: 16}]")
	must.NoError(t, os.WriteFile(training, text, 0o666))
	for name, k := range map[string]struct {
		change  func(o *plan.Options)
		started launch.Started
		want    []string // in this order; nil for a usage error
	}{
		"quick": {func(*plan.Options) {}, launched, []string{"# plan: quick on mpi, 4 ranks\n",
			"# from quick.yaml", "# world 4\n", "# all_reduce\n", "expected time of all points: "}},
		"no launcher": {func(o *plan.Options) { o.Flags = few }, launch.Started{}, []string{
			"# World size is 1 (no launcher)", "mpirun", "mpi, 1 rank\n", "# world 1\n", " 1024 "}},
		"worlds": {func(o *plan.Options) { o.Flags = worlds }, launched, []string{"# world 2\n", "# all_gather\n",
			" too small\n", "# world 8: skipped"}},
		"groups are measured at once in the time of one": {func(o *plan.Options) {
			o.Flags = few
			o.Flags.Groups = []coll.Division{"2:contiguous"}
			o.Flags.Modes, o.Flags.Collectives = []coll.Mode{coll.Latency}, []coll.Collective{coll.AllGather}
		}, launched, []string{" group 1 alone\n", " group 2\n", "4 points; ", " to 30s (rough"}},
		"memory": {func(o *plan.Options) { o.Flags, o.Rotate = few, 1<<50 }, launched, []string{" ?memory\n"}},
		"pattern": {func(o *plan.Options) { o.Flags, o.Pattern = few, "pairs" }, launched, []string{
			"pairs of 4 nodes: 3 rounds of 2 groups", "round 1: 1+4, 2+3", "# world 2\n", "# 3 rounds: "}},
		"nodes are unknown": {func(o *plan.Options) { o.Flags, o.Pattern = few, "pairs" }, launch.Started{}, nil},
		"training": {func(o *plan.Options) { o.Sweep = training }, launched, []string{
			"# part 2 (all_reduce): calls: 0.5\n", "# the training had 8 ranks: "}},
		"no such sweep": {func(o *plan.Options) { o.Sweep = "profil" }, launched, nil},
		"steps": {func(o *plan.Options) {
			o.Step.Model, o.Step.Buckets, o.Backends = "uniform:8x64K", []step.Cap{1 << 20, 2 << 20}, []string{"gloo"}
		}, launched, []string{"# plan: training steps of uniform:8x64K on gloo", "# world 4 on gloo\n",
			"# ddp, float32, progress thread\n", "--bucket 2M is skipped: same buckets as 1M", "1 point; about 10s"}},
	} {
		o := plan.Defaults()
		o.Backends = []string{"mpi"}
		k.change(&o)
		var b strings.Builder
		err := Write(&o, k.started, &b)
		if (err == nil) != (k.want != nil) || err != nil && exit.CodeOf(err) != exit.Usage {
			t.Errorf("%s: %v", name, err)
		}
		text := b.String()
		for _, w := range k.want {
			_, after, ok := strings.Cut(text, w)
			if !ok {
				t.Errorf("%s: no %q in\n%s", name, w, b.String())
				continue
			}
			text = after
		}
	}
}
