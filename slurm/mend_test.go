package slurm

import (
	"strings"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// Jobs and node states of one test do not affect the next.
func TestMend(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*testing.T)
	}{
		{"drained node",
			func(t *testing.T) { asAdmin(t, "scontrol", "update", "NodeName=node2", "State=DRAIN", "Reason=test") }},
		{"node down",
			func(t *testing.T) { asAdmin(t, "scontrol", "update", "NodeName=node2", "State=DOWN", "Reason=test") }},
		{"node without power", func(t *testing.T) { power(t, "off", "node2") }},
		{"node that does not respond", func(t *testing.T) {
			output(t)(asUser(nil, "sbatch", jobLimit, "--output=/dev/null", "--nodelist=node2", "--wrap",
				"sleep 300"))
			await(t, "the job to start", func() bool { return asAdmin(t, "squeue", "-h", "--states=running") != "" })
			onNode(t, "node2", "pkill", "-STOP", "slurmd")
		}},
		{"jobs", func(t *testing.T) {
			for _, options := range []string{"--nodes=4 --exclusive", "--hold"} {
				words := append([]string{"sbatch", jobLimit, "--output=/dev/null"}, strings.Fields(options)...)
				output(t)(asUser(nil, append(words, "--wrap", "sleep 300")...))
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "drained node" {
				needs.TestAll(t)
			}
			onCluster(t)
			c.spoil(t)
			t.Run("next test", func(t *testing.T) {
				onCluster(t)
				test.EqOp(t, "", asAdmin(t, "squeue", "-h"))
				out, err := asUser(nil, "srun", jobLimit, "--immediate=20", "--nodes=4", "hostname")
				must.NoError(t, err)
				test.Len(t, 4, strings.Fields(out), test.Sprint(out))
			})
		})
	}
}
