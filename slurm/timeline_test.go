package slurm

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

var lastJob = regexp.MustCompile(`job (\d+) writes (\S+)`)

// timelineOf submits slurm/timeline.sh and returns the output of its last job, which exits with code.
func timelineOf(t *testing.T, code int, whileRunning func(), args ...string) string {
	t.Helper()
	words := append([]string{"slurm/timeline.sh", "--out", fmt.Sprintf("results/timeline%d", code)}, args...)
	m := lastJob.FindStringSubmatch(output(t)(asUser(nil, words...)))
	whileRunning()
	state := map[bool]string{true: "COMPLETED", false: "FAILED"}[code == 0]
	(&job{t: t, id: m[1]}).ended(state, code, 0)
	text, err := os.ReadFile(m[2])
	must.NoError(t, err)
	return string(text)
}

// Traces are on the nodes' own disks, or on the shared one. Those of a node that is lost are named, and the others have
// their timeline.
func TestTimeline(t *testing.T) {
	needs.TestAll(t)
	onCluster(t)
	awaitIdle(t)
	examples := filepath.Join(root, "examples/ddp-timeline")
	for node, script := range map[string]string{
		"node1": `cp "$0"/rank0.json.gz /tmp/traces`, "node2": `cp "$0"/rank1.json.gz /tmp/traces`,
		"node3": `mkfifo /tmp/traces/rank2.json`, // whoever reads it waits
		"node4": `cp "$0"/rank0.json.gz /tmp/traces/rank3.json.gz`,
	} {
		onNode(t, node, "bash", "-c", "mkdir -p /tmp/traces && "+script+" && chmod -R a+rX /tmp/traces", examples)
	}
	has := func(text string, words ...string) {
		t.Helper()
		for _, w := range words {
			test.StrContains(t, text, w)
		}
	}
	whole := timelineOf(t, 0, func() {}, "--tasks", "2", examples)
	has(whole, "Rank 1 is a straggler")
	test.StrNotContains(t, whole, "not extracted")
	asAdmin(t, "scontrol", "update", "NodeName=node4", "State=DOWN", "Reason=test")
	t.Cleanup(func() { power(t, "on", "node3") })
	has(timelineOf(t, 6, func() {
		await(t, "the trace of node3", func() bool {
			return strings.Contains(onNode(t, "node3", "ps", "-e", "-o", "args"), "/rank2.json")
		})
		power(t, "off", "node3")
	}, "--nodes", "node[1-4]", "/tmp/traces/*"), "not extracted", "  node3: /tmp/traces/rank2.json\n",
		"  node4: all its traces: no job ran there\n", "Rank 1 is a straggler")
}
