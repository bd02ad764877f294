package lib

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sweeper is a place with a Slurm job whose srun runs the text in the results folder, OUT.
func sweeper(t *testing.T, srun string) place {
	t.Helper()
	p := install(t)
	p.stand("scontrol", `[ "$1" != requeue ] || echo "$*" >>calls`)
	p.stand("srun", `if [ "$1" = --mpi=list ]; then echo "none pmix"; exit; fi
OUT=$PWD/out
`+srun)
	return p
}

// sweep are the variables of the job; another post than the real one may be named.
func sweep(p place, more ...string) []string {
	return append([]string{"SLURM_JOB_ID=7", "SLURM_JOB_NUM_NODES=1", "SLURM_JOB_CPUS_PER_NODE=2",
		"SLURM_SUBMIT_DIR=" + p.dir,
		"BUSBAR_HOME=" + p.top, "BUSBAR_OUT=" + filepath.Join(p.dir, "out")}, more...)
}

// Of several backends each has a file. A sweep that was interrupted with points that failed goes back into the queue,
// whichever of the files is read first.
func TestInterruptedSweepOfSeveralBackends(t *testing.T) {
	p := sweeper(
		t,
		`for b in gloo mpi nccl; do echo '{"kind":"end","outcome":"interrupted","code":6}' `+
			`>"$OUT/profile_${b}_world2_x.jsonl"; done
exit 6`,
	)
	for range 5 { // which process ends first is chance
		if err := os.RemoveAll(filepath.Join(p.dir, "out")); err != nil {
			t.Fatal(err)
		}
		p.expect(6, "work is left (exit code 6): back into the queue, 1 of 3", sweep(p), "sweep.sh", "--mpi", "openmpi")
	}
	if got := p.text("calls"); got != strings.Repeat("requeue 7\n", 5) {
		t.Errorf("asked Slurm for\n%s", got)
	}
}

// What is to be a number is one before anything is measured.
func TestSweepRefusesNumbers(t *testing.T) {
	p := sweeper(t, "echo measured >>calls")
	for setting, says := range map[string]string{
		"BUSBAR_REQUEUES=never":   `BUSBAR_REQUEUES is "never": it is a whole number from 0 on.`,
		"BUSBAR_GRACE=2m":         `BUSBAR_GRACE is "2m": it is a whole number from 0 on.`,
		"BUSBAR_RANKS_PER_NODE=0": `BUSBAR_RANKS_PER_NODE is "0": it is a whole number from 1 on.`,
	} {
		p.expect(1, says, sweep(p, setting), "sweep.sh", "--mpi", "openmpi")
	}
	if got := p.text("calls"); got != "" {
		t.Errorf("did\n%s", got)
	}
}

// A sweep whose files cannot be merged does not claim that they are.
func TestSweepThatIsNotMerged(t *testing.T) {
	p := sweeper(t, `echo '{"kind":"end","outcome":"complete","code":0}' >"$OUT/profile_mpi_world2_x.jsonl"`)
	if said := p.expect(0, "the report failed (see the error above)", sweep(p), "sweep.sh", "--mpi",
		"openmpi"); strings.Contains(said, "merged.csv") {
		t.Error(said)
	}
}

// A campaign's job that has a launch left when the time is up does not end as one that is done.
func TestCampaignJobWithLaunchesLeft(t *testing.T) {
	p := sweeper(t, `echo '{"kind":"end","outcome":"complete","code":0}' >"$OUT/profile_mpi_world2_x.jsonl"
kill -USR1 "$PPID"; sleep 0.3`)
	if err := os.WriteFile(filepath.Join(p.top, "bin/post"),
		[]byte("#!/bin/sh\nprintf '%s/out --\\n' \""+p.dir+"\" \""+p.dir+"\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	said := p.expect(143, "share of the campaign is not done", sweep(p, "BUSBAR_PLAN="+p.dir, "BUSBAR_REQUEUES=0"),
		"sweep.sh")
	if strings.Count(said, "start 1") != 1 {
		t.Error(said)
	}
}
