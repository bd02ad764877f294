package lib

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/golden"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

const plan = `name: trial
launches: 3
nodes: [1, 2]
seed: 7
flags: --backend mpi -b 64 -e 64
variants: {x: {a: , b: {environment: {WORDS: two words}}}}
sbatch: {options: --exclusive}
`

// campaigner is a place with a plan, a queue of the given lines, and an sbatch that records its arguments.
func campaigner(t *testing.T, queue string) place {
	t.Helper()
	p := install(t)
	p.write("plan.yaml", plan)
	p.fake("squeue", "cat <<'END'\n"+queue+"\nEND")
	p.fake("sbatch", `n=$(wc -l <calls 2>/dev/null || echo 0)
printf 'plan=%s site=%s' "$BUSBAR_PLAN" "$BUSBAR_SITE" >>calls
printf ' <%s>' "$@" >>calls
echo >>calls
echo $((n + 71))`)
	return p
}

func (p place) write(name, text string) {
	p.t.Helper()
	must.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644))
}

// Errors are reported before anything is submitted or written.
func TestCampaignRefuses(t *testing.T) {
	p := campaigner(t, "")
	p.write("keys.yaml", "name: trial\nnodes: [1]\nvariant: {}\n")
	p.write("root.yaml", strings.Replace(plan, "--backend mpi", "--collective broadcast --root 3",
		1)+"ranks_per_node: 3\n")
	p.write("flags.yaml", strings.Replace(plan, "--backend mpi", "--bakend mpi", 1))
	for _, c := range golden.Table[struct {
		Want string
		Args []string
	}](t, `
		Want                                                                  Args
		a plan is required
		unknown option --dry before the plan                                  --dry; plan.yaml
		--site requires a value; known: aws-efa                               --site
		--out requires a value                                                --out
		--report requires                                                     --report
		unknown site "moon"                                                   --site; moon; plan.yaml
		absent.yaml: no such file                                             absent.yaml
		keys.yaml:3:1: unknown key "variant"; did you mean "variants"?        keys.yaml
		--bakend; did you mean --backend?                                     flags.yaml
		(--nodes=1): --collective broadcast --root 3                          root.yaml
		--array is not for the options: the key launches of the plan sets it  plan.yaml; --array=7
		-N is not for the options: the key nodes of the plan sets it          plan.yaml; -N4
		--export is not for the options: the campaign sets it                 plan.yaml; --export=NONE
	`) {
		p.expect(1, c.Want, nil, "campaign.sh", c.Args...)
	}
	p.fake("squeue", "echo slurmctld is down; exit 1")
	p.expect(1, "nothing is submitted: slurmctld is down", nil, "campaign.sh", "plan.yaml")
	for _, made := range []string{"calls", "results"} {
		if _, err := os.Stat(filepath.Join(p.dir, made)); err == nil {
			t.Errorf("%s exists", made)
		}
	}
}

// A dry run prints the commands that a real run submits.
func TestCampaignSubmits(t *testing.T) {
	p := campaigner(t, "")
	output := p.expect(0, "6 jobs to submit", nil, "campaign.sh", "--site=generic", "--dry-run", "--out",
		"results/mine", "plan.yaml", "-p", "main")
	for _, want := range []string{"sbatch --parsable", `BUSBAR_SITE="generic"`, "-p main", "/results/mine/log/",
		"--array=1-3%1"} {
		test.StrContains(t, output, want)
	}
	_, err := os.Stat(filepath.Join(p.dir, "calls"))
	test.Error(t, err)
	_, err = os.Stat(filepath.Join(p.dir, "results"))
	test.Error(t, err)

	p.expect(0, "submitted: 73", nil, "campaign.sh", "--site=generic", "--out", "results/mine", "plan.yaml", "-p",
		"main")
	calls := strings.Split(strings.TrimSpace(p.text("calls")), "\n")
	if len(calls) != 3 {
		t.Fatalf("submitted:\n%s", p.text("calls"))
	}
	folder := filepath.Join(p.dir, "results/mine")
	for i, want := range []string{"<--array=1-3%1>", "<--array=1-3%1>", "<--dependency=afterany:71:72> <--wrap="} {
		if !strings.Contains(calls[i], want) || !strings.Contains(calls[i], " site=generic ") ||
			!strings.Contains(calls[i], "<--exclusive> <-p> <main>") {
			t.Errorf("call %d, want %s: %s", i, want, calls[i])
		}
		if i < 2 && (!strings.HasPrefix(calls[i], "plan="+folder+" ") ||
			!strings.HasSuffix(calls[i], "/slurm/sweep.sh>")) {
			t.Errorf("call %d: %s", i, calls[i])
		}
	}
	p.has("results/mine/plan.yaml", "results/mine/campaign.json")
	if info, err := os.Stat(filepath.Join(folder, "log")); err != nil || !info.IsDir() {
		t.Error("no folder for the logs of jobs")
	}
}

// Jobs in the queue are not submitted again, and the new report waits for them too.
func TestCampaignReadsTheQueue(t *testing.T) {
	p := campaigner(t, "")
	_, output := p.run(nil, "campaign.sh", "--dry-run", "plan.yaml")
	id := strings.SplitN(strings.SplitN(output, "--job-name=", 2)[1], ".", 2)[0]
	p.expect(0, "submitted: 73", nil, "campaign.sh", "plan.yaml")
	p.fake("squeue",
		"cat <<'END'\n"+id+".1 1 500\n"+id+".1 3 500\nother-"+id+".1 2 9\nbusbar N/A 12\n"+id+".report N/A 501\n"+id+
			".2 1 502\n"+id+".2 2 502\n"+id+".2 3 502\nEND")
	output = p.expect(0, "1 job to submit", nil, "campaign.sh", "plan.yaml")
	if !strings.Contains(output, "--array=2%1") ||
		!strings.Contains(p.text("calls"), "<--dependency=afterany:500:502:74>") {
		t.Errorf("%s\n%s", output, p.text("calls"))
	}
}

// Flags that are valid only in the world of a job are accepted: a root beyond the ranks of this machine, a pattern.
func TestCampaignWorlds(t *testing.T) {
	p := campaigner(t, "")
	for name, flags := range map[string]string{"root": "--collective broadcast --root 39",
		"pattern": "--pattern pairs"} {
		p.write(name+".yaml", "name: a\nnodes: [20]\nranks_per_node: 2\nflags: "+flags+"\n")
		p.expect(0, "5 jobs to submit", nil, "campaign.sh", "--dry-run", name+".yaml")
	}
}

// Only one of two concurrent scripts submits.
func TestCampaignTwiceAtOnce(t *testing.T) {
	p := campaigner(t, "")
	p.fake("squeue", `cat queue 2>/dev/null || true`)
	p.fake("sbatch", `for w in "$@"; do case $w in --job-name=*) name=${w#*=} ;; --array=*) tasks=1 ;; esac; done
sleep 0.3
echo called >>calls
if [ -n "${tasks:-}" ]; then for i in 1 2 3; do echo "$name $i 500" >>queue; done; fi
echo 500`)
	outputs := make(chan string)
	for range 2 {
		go func() {
			_, output := p.run(nil, "campaign.sh", "plan.yaml")
			outputs <- output
		}()
	}
	output := <-outputs + <-outputs
	if n := strings.Count(p.text("calls"), "called"); n != 3 ||
		!strings.Contains(output, "nothing to submit: all missing launches are in the queue") {
		t.Errorf("sbatch was called %d times:\n%s", n, output)
	}
}

// The plan sets the ranks per node; the caller's environment does not change it.
func TestCampaignRanksOfNode(t *testing.T) {
	p := campaigner(t, "")
	p.write("plan.yaml", plan+"ranks_per_node: 3\n")
	p.fake("sbatch", `echo "$BUSBAR_RANKS_PER_NODE" >>calls; echo 71`)
	p.expect(0, "submitted", []string{"BUSBAR_RANKS_PER_NODE=8"}, "campaign.sh", "plan.yaml")
	test.StrHasPrefix(t, "3\n3\n", p.text("calls"))
}

// steps is a fake srun of a job that records how each step was started and exits with code 1.
func (p place) steps() (environment []string) {
	p.fake("srun", `if [ "$1" = --mpi=list ]; then echo pmix; exit; fi
{ printf 'variant=%s words=%s' "${BUSBAR_VARIANT-none}" "${WORDS-none}"; printf ' <%s>' "$@"; echo; } >>"$STEPS"
exit 1`)
	p.fake("scontrol", "exit 1")
	return []string{"STEPS=" + filepath.Join(p.dir, "steps"), "BUSBAR_HOME=" + p.top, "SLURM_JOB_ID=7",
		"SLURM_JOB_NUM_NODES=2",
		"SLURM_JOB_CPUS_PER_NODE=4(x2)", "SLURM_SUBMIT_DIR=" + p.dir}
}

// A job of a campaign whose ranks reject the run: each variant has only its own environment, and the job is incomplete.
func TestCampaignJobRefused(t *testing.T) {
	p := campaigner(t, "")
	p.write("plan.yaml", strings.Replace(plan, "two words", `'it''s "$HOME" \ 2'`, 1))
	p.expect(0, "submitted", nil, "campaign.sh", "--out", "the results", "plan.yaml")
	environment := append(p.steps(), "BUSBAR_PLAN="+filepath.Join(p.dir, "the results"), "SLURM_ARRAY_JOB_ID=7",
		"SLURM_ARRAY_TASK_ID=2")
	p.expect(1, "are incomplete", environment, "sweep.sh")
	steps := p.text("steps")
	for _, want := range []string{"variant=a words=none ", `variant=b words=it's "$HOME" \ 2 `} {
		if strings.Count(steps, want) != 1 {
			t.Errorf("no %s in\n%s", want, steps)
		}
	}
	p.has("the results/nodes2/launch2/a/refused.txt", "the results/nodes2/launch2/b/refused.txt")
	_, output := p.run(nil, "../bin/post", "campaign", "show", "the results")
	test.StrContains(t, output, "nodes2/launch2/a: rank refused to measure: code 1 in job 7_2")
}

// Flags reach rank as they were given.
func TestSweepQuotes(t *testing.T) {
	p := install(t)
	environment := p.steps()
	p.run(environment, "sweep.sh", "--mpi", "openmpi", "--variant", `a "$b" 'c' *`, "--campaign", "ends with a blank ")
	test.StrContains(t, p.text("steps"),
		`<--mpi> <openmpi> <--variant> <a "$b" 'c' *> <--campaign> <ends with a blank > <--out> <`)
}

// A folder without results is an error.
func TestCampaignReport(t *testing.T) {
	p := campaigner(t, "")
	p.expect(0, "submitted", nil, "campaign.sh", "plan.yaml")
	if code, output := p.run(nil, "campaign.sh", "--report", "results/trial"); code == 0 {
		t.Errorf("nothing was measured, and the exit code is 0:\n%s", output)
	}
}
