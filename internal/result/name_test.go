package result

import (
	"strings"
	"testing"
	"time"
)

func TestNameHasJobAndStep(t *testing.T) {
	for _, c := range []struct {
		job, step, want string
	}{
		{"", "", "Z.jsonl"},
		{"", "3", "Z.jsonl"},
		{"42", "3", "Z_job42.3.jsonl"},
		{"42", "", "Z_job42.jsonl"},
		{"42", "4294967291", "Z_job42.jsonl"},
		{"../42", "3", "Z.jsonl"},
		{"42", "3/../..", "Z_job42.jsonl"},
	} {
		run := Run{World: 4, Slurm: map[string]string{"SLURM_JOB_ID": c.job, "SLURM_STEP_ID": c.step}}
		run.Backend.Name = "mpi"
		if name := fileName(&run, time.Unix(0, 0)); name != "profile_mpi_world4_19700101T000000000"+c.want ||
			strings.Contains(name, "/") {
			t.Errorf("job %q, step %q: %s", c.job, c.step, name)
		}
	}
}
