package result

import (
	"strings"
	"testing"

	"github.com/shoenig/test/must"
)

func TestDifferencesOfEnvironment(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for i, environment := range []map[string]string{
		{"NCCL_ALGO": "Ring", "NCCL_DEBUG": "INFO", "OMPI_MCA_orte_launch": "1"},
		{"NCCL_ALGO": "Tree", "OMPI_MCA_orte_launch": "2"},
		{"OMPI_MCA_orte_launch": "3"},
	} {
		run := sampleRun()
		run.ID, run.Launch, run.Environment = string(rune('a'+i)), string(rune('A'+i)), environment
		paths = append(paths, writeLines(t, dir, run.ID+".jsonl", run, sampleRecord(sampleCase(t, 1, 8), 1e-5)))
	}
	notes := func(paths ...string) []string {
		d, err := Merge(paths, MergeOptions{})
		must.NoError(t, err)
		return texts(d.Notes())
	}
	if got := notes(paths...); len(got) != 1 ||
		!strings.HasSuffix(got[0],
			`{"code":"launches-differ","parameters":{"variable":"NCCL_ALGO","values":["Ring","Tree","unset"]}}`) {
		t.Errorf("%q", got)
	}
	if got := notes(paths[0]); got != nil {
		t.Errorf("of one run: %q", got)
	}
}
