// Package sites holds the settings of sites, one file each. Its tests check that scripts can source each file, and that
// each line has a reason and a source.
package sites

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func files(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("*.env")
	if err != nil || len(found) < 6 {
		t.Fatalf("sites: %q %v", found, err)
	}
	return found
}

var (
	setting = regexp.MustCompile(`^(# )?export [A-Z][A-Z0-9_]*=("[^"]*"|[^ "]*) +# .+\([^()]+\)$`)
	include = regexp.MustCompile(`^\. "\$\(dirname "\$\{BASH_SOURCE\[0\]\}"\)/[a-z-]+\.env" # .+\(.+\)$`)
	branch  = regexp.MustCompile(`^if .*; fi # .+\([^()]+\)$`)
)

func TestEveryLineHasAReasonAndASource(t *testing.T) {
	for _, file := range files(t) {
		text, err := os.ReadFile(file)
		must.NoError(t, err)
		for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
			comment := strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "# export ")
			if !comment && !setting.MatchString(line) && !include.MatchString(line) && !branch.MatchString(line) {
				t.Errorf("%s:%d: want: export VARIABLE=value # why (source)\n%s", file, i+1, line)
			}
		}
	}
}

// Scripts source a site with set -eu.
func TestSitesCanBeSourced(t *testing.T) {
	for _, file := range files(t) {
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", `. "$1"; env`, "bash", file)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "SBATCH_EXPORT=ALL") {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}

func TestDetect(t *testing.T) {
	adapter := func(name, driver string) string {
		sys := t.TempDir()
		for _, dir := range []string{"drivers/" + driver, "class/infiniband/" + name + "/device"} {
			must.NoError(t, os.MkdirAll(filepath.Join(sys, dir), 0o755))
		}
		must.NoError(t, os.Symlink(filepath.Join(sys, "drivers", driver),
			filepath.Join(sys, "class/infiniband", name, "device/driver")))
		return "SYSFS=" + sys
	}
	here := t.TempDir()
	for _, c := range []struct {
		environment []string
		want        string
	}{
		{nil, ""},
		{[]string{"NERSC_HOST=perlmutter"}, "perlmutter"},
		{[]string{"SLURM_CLUSTER_NAME=lumi"}, "lumi"},
		{[]string{"PCLUSTER=" + here}, "pcluster"},
		{[]string{"SLURM_CLUSTER_NAME=parallelcluster", adapter("rdmap16s27", "efa")}, "pcluster"},
		{[]string{adapter("rdmap16s27", "efa")}, "aws-efa"},
		{[]string{adapter("mlx5_0", "mlx5_core")}, "infiniband"},
		{[]string{adapter("hfi1_0", "hfi1")}, ""},
	} {
		cmd := exec.Command("./detect.sh")
		cmd.Env = append([]string{"PATH=/usr/bin:/bin", "SYSFS=" + here + "/none", "PCLUSTER=" + here + "/none"},
			c.environment...)
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q: %q, %v; want %q", c.environment, got, err, c.want)
		}
		if c.want == "" {
			continue
		}
		_, err = os.Stat(c.want + ".env")
		test.NoError(t, err)
	}
}
