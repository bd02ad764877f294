package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// submit.sh builds the sbatch command from a site, options and flags.
func TestSubmitLine(t *testing.T) {
	dir := t.TempDir()
	for _, words := range []string{"mkdir sites",
		"cp -r " + root + "/slurm/lib " + root + "/slurm/submit.sh " + root + "/slurm/sweep.sh .", "touch other.sh"} {
		cmd := exec.Command("bash", "-c", words)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	for name, text := range map[string]string{
		"generic": "export SBATCH_EXPORT=ALL\n", "a": "export SBATCH_ACCOUNT=mine # why\n",
		"b": "export SBATCH_QOS=debug\n"} {
		must.NoError(t, os.WriteFile(filepath.Join(dir, "sites", name+".env"), []byte(text), 0o644))
	}
	sweep := filepath.Join(dir, "sweep.sh")
	for _, c := range []struct {
		args string
		site string
		want []string
	}{
		{"", "", []string{`SBATCH_EXPORT="ALL"`, `BUSBAR_SITE="generic"`, "sbatch " + sweep}},
		{"--site a -N4 --gpus-per-node=8 -- --backend nccl -n 20", "",
			[]string{`SBATCH_ACCOUNT="mine"`, "sbatch -N4 --gpus-per-node=8 " + sweep + " --backend nccl -n 20"}},
		{"--site=a -N4", "b", []string{`SBATCH_ACCOUNT="mine"`, "sbatch -N4 " + sweep}},
		{"-N4", "b", []string{`SBATCH_QOS="debug"`, "sbatch -N4 " + sweep}},
		{"-N 4 other.sh plan.yaml --dry-run", "", []string{"sbatch -N 4 other.sh plan.yaml --dry-run"}},
		{"other.sh -- -n 1", "", []string{"sbatch other.sh -n 1"}},
		{"--site c", "", []string{`unknown site "c"`, "a b generic"}},
		{"--site", "", []string{"--site requires a name"}},
		{"-N4 absent.sh", "", []string{"absent.sh not found"}},
	} {
		cmd := exec.Command("./submit.sh", append([]string{"--dry-run"}, strings.Fields(c.args)...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "BUSBAR_SITE="+c.site)
		out, _ := cmd.CombinedOutput()
		for _, want := range c.want {
			test.StrContains(t, string(out), want, test.Sprint(c.args, out))
		}
	}
}
