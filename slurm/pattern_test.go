package slurm

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// limitLinks limits the link to each node, in Mbit/s, until the end of the test: so slow that the network dominates,
// although all nodes share the cores of one machine.
func limitLinks(t *testing.T, speed map[string]int) {
	t.Helper()
	for i := 1; i <= 4; i++ {
		node, link := fmt.Sprintf("node%d", i), fmt.Sprintf("veth%d", i)
		_, err := login(nil, nil, "tc", "qdisc", "replace", "dev", link, "root", "tbf", "rate",
			fmt.Sprintf("%dmbit", speed[node]), "burst", "16kb", "limit", "8mb")
		if err != nil && strings.Contains(err.Error(), "qdisc kind is unknown") {
			t.Skip("requires the token bucket filter of the kernel (sch_tbf)")
		}
		must.NoError(t, err)
		t.Cleanup(func() { asAdmin(t, "tc", "qdisc", "del", "dev", link, "root") })
	}
}

// shown returns the output of post show for the results of the job.
func (j *job) shown() string {
	j.t.Helper()
	out, err := asUser(nil, filepath.Join(home, "bin", "post"), "show", j.out)
	must.NoError(j.t, err)
	return strings.Join(strings.Fields(out), " ")
}

// rank lists a pattern under srun too, which sets the ranks per node.
func TestPatternListed(t *testing.T) {
	needs.TestAll(t)
	onCluster(t)
	awaitIdle(t)
	out, err := asUser(nil, "srun", jobLimit, "--nodes=4", "--ntasks=8", "--ntasks-per-node=2", "bin/rank", "--pattern",
		"pairs", "--list")
	must.NoError(t, err)
	for _, w := range []string{"2 ranks per node", "round 3: "} {
		test.EqOp(t, 1, strings.Count(out, w), test.Sprint(w, out))
	}
}

var slow = regexp.MustCompile(`(\S+) is slow[:;]`)

// The pattern finds only the node with the slow link, in pairs and in halves; with equal links no node is slow. It
// does not test "slow only while others measure": the nodes here share the cores of one machine.
func TestPattern(t *testing.T) {
	needs.TestAll(t)
	onCluster(t)
	for _, c := range []struct{ kind, weak string }{{"pairs", ""}, {"pairs", "node3"}, {"halves", "node3"}} {
		t.Run(c.kind+c.weak, func(t *testing.T) {
			onCluster(t)
			speed := map[string]int{"node1": 100, "node2": 100, "node3": 100, "node4": 100}
			if c.weak != "" {
				speed[c.weak] = 4
			}
			limitLinks(t, speed)
			j := submit(t, 4, nil, "--pattern", c.kind, "--collective", "all_reduce", "-b", "64K", "-e", "64K",
				"--mode", "latency", "--budget", "2s", "-w", "1")
			j.ended("COMPLETED", 0, 0)
			text := j.shown()
			t.Log(text)
			named := map[string]bool{}
			for _, m := range slow.FindAllStringSubmatch(text, -1) {
				named[m[1]] = true
			}
			if c.weak == "" && len(named) > 0 || c.weak != "" && (!named[c.weak] || len(named) > 1) {
				t.Errorf("slow: %v, want %q", named, c.weak)
			}
			for _, f := range j.runs() {
				if f.Run.Pattern == nil || len(f.Run.Pattern.Hosts) != 4 || f.Run.World != 4 {
					t.Errorf("%s: %+v of a world of %d", f.Path, f.Run.Pattern, f.Run.World)
				}
			}
		})
	}
}
