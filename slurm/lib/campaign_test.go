package lib

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const plan = `name: trial
launches: 3
nodes: [1, 2]
seed: 7
flags: --backend mpi -b 64 -e 64
variants: {x: {a: , b: {environment: {WORDS: two words}}}}
sbatch: {options: --exclusive}
`

// campaigner is a place with a plan, a queue of the given lines, and an sbatch that keeps what it was asked for.
func campaigner(t *testing.T, queue string) place {
	t.Helper()
	p := install(t)
	p.write("plan.yaml", plan)
	p.stand("squeue", "cat <<'END'\n"+queue+"\nEND")
	p.stand("sbatch", `n=$(wc -l <calls 2>/dev/null || echo 0)
printf 'plan=%s site=%s' "$BUSBAR_PLAN" "$BUSBAR_SITE" >>calls
printf ' <%s>' "$@" >>calls
echo >>calls
echo $((n + 71))`)
	return p
}

func (p place) write(name, text string) {
	p.t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// What is wrong is said before anything is submitted or written.
func TestCampaignRefuses(t *testing.T) {
	p := campaigner(t, "")
	p.write("keys.yaml", "name: trial\nnodes: [1]\nvariant: {}\n")
	p.write("flags.yaml", strings.Replace(plan, "--backend mpi", "--bakend mpi", 1))
	for _, c := range []struct {
		says string
		args []string
	}{
		{"which plan?", nil},
		{"unknown option --dry before the plan", []string{"--dry", "plan.yaml"}},
		{"--site wants a value; there is aws-efa", []string{"--site"}},
		{"--out wants a value", []string{"--out"}},
		{"--report wants the folder of a campaign", []string{"--report"}},
		{`there is no site "moon"`, []string{"--site", "moon", "plan.yaml"}},
		{"absent.yaml: no such file", []string{"absent.yaml"}},
		{`keys.yaml:3:1: unknown key "variant"; did you mean "variants"?`, []string{"keys.yaml"}},
		{"unknown flag --bakend; did you mean --backend?", []string{"flags.yaml"}},
	} {
		p.expect(1, c.says, nil, "campaign.sh", c.args...)
	}
	p.stand("squeue", "echo slurmctld is down; exit 1")
	p.expect(1, "squeue cannot be asked which jobs of the campaign are in the queue, so nothing is submitted: slurmctld is down", nil, "campaign.sh", "plan.yaml")
	for _, made := range []string{"calls", "results"} {
		if _, err := os.Stat(filepath.Join(p.dir, made)); err == nil {
			t.Errorf("%s was made", made)
		}
	}
}

// A dry run shows what would be submitted, by exactly the lines that are submitted then.
func TestCampaignSubmits(t *testing.T) {
	p := campaigner(t, "")
	said := p.expect(0, "to submit: 6 jobs", nil, "campaign.sh", "--site=generic", "--dry-run", "--out", "results/mine", "plan.yaml", "-p", "main")
	for _, want := range []string{"sbatch --parsable", `BUSBAR_SITE="generic"`, "-p main", "/results/mine/log/", "--array=1-3%1"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is missing in\n%s", want, said)
		}
	}
	if _, err := os.Stat(filepath.Join(p.dir, "calls")); err == nil {
		t.Error("a dry run has submitted")
	}
	if _, err := os.Stat(filepath.Join(p.dir, "results")); err == nil {
		t.Error("a dry run has made a folder")
	}

	p.expect(0, "submitted: 73", nil, "campaign.sh", "--site=generic", "--out", "results/mine", "plan.yaml", "-p", "main")
	calls := strings.Split(strings.TrimSpace(p.text("calls")), "\n")
	if len(calls) != 3 {
		t.Fatalf("submitted:\n%s", p.text("calls"))
	}
	folder := filepath.Join(p.dir, "results/mine")
	for i, want := range []string{"<--array=1-3%1>", "<--array=1-3%1>", "<--dependency=afterany:71:72> <--wrap="} {
		if !strings.Contains(calls[i], want) || !strings.Contains(calls[i], " site=generic ") || !strings.Contains(calls[i], "<--exclusive> <-p> <main>") {
			t.Errorf("call %d, wanted %s: %s", i, want, calls[i])
		}
		if i < 2 && (!strings.HasPrefix(calls[i], "plan="+folder+" ") || !strings.HasSuffix(calls[i], "/slurm/sweep.sh>")) {
			t.Errorf("call %d: %s", i, calls[i])
		}
	}
	p.has("results/mine/plan.yaml", "results/mine/campaign.json")
	if info, err := os.Stat(filepath.Join(folder, "log")); err != nil || !info.IsDir() {
		t.Error("there is no folder for what jobs write")
	}
}

// Jobs in the queue are not submitted again, and the new report waits for them too.
func TestCampaignAsksTheQueue(t *testing.T) {
	p := campaigner(t, "")
	_, said := p.run(nil, "campaign.sh", "--dry-run", "plan.yaml")
	id := strings.SplitN(strings.SplitN(said, "--job-name=", 2)[1], ".", 2)[0]
	p.expect(0, "submitted: 73", nil, "campaign.sh", "plan.yaml")
	p.stand("squeue", "cat <<'END'\n"+id+".1 1 500\n"+id+".1 3 500\nother-"+id+".1 2 9\nbusbar N/A 12\n"+id+".report N/A 501\n"+id+".2 1 502\n"+id+".2 2 502\n"+id+".2 3 502\nEND")
	said = p.expect(0, "to submit: 1 job", nil, "campaign.sh", "plan.yaml")
	if !strings.Contains(said, "--array=2%1") || !strings.Contains(p.text("calls"), "<--dependency=afterany:500:502:74>") {
		t.Errorf("%s\n%s", said, p.text("calls"))
	}
}

// The last job's work by hand: what is there is merged and drawn; a folder without results is an error.
func TestCampaignReport(t *testing.T) {
	p := campaigner(t, "")
	p.expect(0, "submitted", nil, "campaign.sh", "plan.yaml")
	if code, said := p.run(nil, "campaign.sh", "--report", "results/trial"); code == 0 {
		t.Errorf("nothing was measured, and it ended with 0:\n%s", said)
	}
}
