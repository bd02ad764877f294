package result

import (
	"strings"
	"testing"
	"time"

	"busbar/internal/golden"
)

func TestNameHasJobAndStep(t *testing.T) {
	for _, c := range golden.Table[struct{ Job, Step, Want string }](t, `
		Job    Step        Want
		-      -           Z.jsonl
		-      3           Z.jsonl
		42     3           Z_job42.3.jsonl
		42     -           Z_job42.jsonl
		42     4294967291  Z_job42.jsonl
		../42  3           Z.jsonl
		42     3/../..     Z_job42.jsonl
	`) {
		run := Run{World: 4, Slurm: map[string]string{"SLURM_JOB_ID": c.Job, "SLURM_STEP_ID": c.Step}}
		run.Backend.Name = "mpi"
		if name := fileName(&run, time.Unix(0, 0)); name != "profile_mpi_world4_19700101T000000000"+c.Want ||
			strings.Contains(name, "/") {
			t.Errorf("job %q, step %q: %s", c.Job, c.Step, name)
		}
	}
}
