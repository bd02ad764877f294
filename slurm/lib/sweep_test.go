package lib

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// sweeper is a place with a Slurm job whose srun runs the text in the results folder, OUT.
func sweeper(t *testing.T, srun string) place {
	t.Helper()
	p := install(t)
	p.fake("scontrol", `[ "$1" != requeue ] || echo "$*" >>calls`)
	p.fake("srun", `if [ "$1" = --mpi=list ]; then echo "none pmix"; exit; fi
OUT=$PWD/out
`+srun)
	return p
}

// sweep returns the environment of the job.
func sweep(p place, more ...string) []string {
	return append([]string{"SLURM_JOB_ID=7", "SLURM_JOB_NUM_NODES=1", "SLURM_JOB_CPUS_PER_NODE=2",
		"SLURM_SUBMIT_DIR=" + p.dir,
		"BUSBAR_HOME=" + p.top, "BUSBAR_OUT=" + filepath.Join(p.dir, "out")}, more...)
}

// An interrupted sweep of several backends is requeued, in any order of their files.
func TestInterruptedSweepOfSeveralBackends(t *testing.T) {
	p := sweeper(
		t,
		`for b in gloo mpi nccl; do echo '{"kind":"end","outcome":"interrupted","code":6}' `+
			`>"$OUT/profile_${b}_world2_x.jsonl"; done
exit 6`,
	)
	for range 5 { // the order of processes is random
		must.NoError(t, os.RemoveAll(filepath.Join(p.dir, "out")))
		p.expect(6, "(exit code 6): requeue 1 of 3", sweep(p), "sweep.sh", "--mpi", "openmpi")
	}
	test.EqOp(t, strings.Repeat("requeue 7\n", 5), p.text("calls"))
}

// Invalid numbers are errors before anything is measured.
func TestSweepRejectsNumbers(t *testing.T) {
	p := sweeper(t, "echo measured >>calls")
	for setting, want := range map[string]string{
		"BUSBAR_REQUEUES=never":   `BUSBAR_REQUEUES is "never"`,
		"BUSBAR_GRACE=2m":         `BUSBAR_GRACE is "2m"`,
		"BUSBAR_RANKS_PER_NODE=0": `BUSBAR_RANKS_PER_NODE is "0"`,
	} {
		p.expect(1, want, sweep(p, setting), "sweep.sh", "--mpi", "openmpi")
	}
	test.EqOp(t, "", p.text("calls"))
}

// A sweep without a report does not list its files.
func TestSweepWithoutReport(t *testing.T) {
	p := sweeper(t, `echo '{"kind":"end","outcome":"complete","code":0}' >"$OUT/profile_mpi_world2_x.jsonl"`)
	test.StrNotContains(t, p.expect(0, "the report failed", sweep(p), "sweep.sh", "--mpi",
		"openmpi"), "merged.csv")
}

// A job of a campaign that reaches its time limit with a missing launch is incomplete.
func TestCampaignJobWithLaunchesLeft(t *testing.T) {
	p := sweeper(t, `echo '{"kind":"end","outcome":"complete","code":0}' >"$OUT/profile_mpi_world2_x.jsonl"
kill -USR1 "$PPID"; sleep 0.3`)
	must.NoError(t, os.WriteFile(filepath.Join(p.top, "bin/post"),
		[]byte("#!/bin/sh\nprintf '%s/out --\\n' \""+p.dir+"\" \""+p.dir+"\"\n"), 0o755))
	output := p.expect(143, "are incomplete", sweep(p, "BUSBAR_PLAN="+p.dir, "BUSBAR_REQUEUES=0"),
		"sweep.sh")
	if strings.Count(output, "start 1") != 1 {
		t.Error(output)
	}
}
