package lib

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// A trace that cannot be read is named by the job that reads it and by the last job, which reports the others.
func TestTimelineNamesBadTrace(t *testing.T) {
	p := install(t)
	bad, log := filepath.Join(p.dir, "bad.json"), filepath.Join(p.dir, "out/log/")
	must.NoError(t, os.MkdirAll(log, 0o777))
	examples, err := filepath.Glob("../../examples/ddp-timeline/*.gz")
	must.NoError(t, err)
	good, err := filepath.Abs(examples[0])
	must.NoError(t, err)
	both := bad + "\n" + good + "\n"
	for path, text := range map[string]string{bad: "{", log + "/0.traces": both, log + "/0.node": ""} {
		must.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	said := p.expect(123, bad, []string{"SLURM_ARRAY_TASK_ID=0"}, "timeline.sh", "--extract", "out", "--top 1")
	test.StrNotContains(t, said, "unknown option")
	test.StrContains(t, p.expect(6, "  "+bad+"\n", nil, "timeline.sh", "--join", "out"), good)
	p.fake("sbatch", "exit 1")
	p.fake("scontrol", "exit 1")
	p.expect(1, "no node in x", nil, "timeline.sh", "--nodes", "x", "y")
	p.expect(2, "no trace in y", nil, "timeline.sh", "y")
}
