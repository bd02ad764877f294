package slurm

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test/must"
)

// up.sh possible has its own exit code for a machine that forbids namespaces.
func TestForbiddenNamespaces(t *testing.T) {
	up := root + "/slurm/cluster/up.sh"
	cmd := exec.Command("setpriv", "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", up, "possible")
	if os.Getuid() != 0 {
		if out, err := exec.Command("unshare", "--user", "true").CombinedOutput(); err != nil {
			t.Skipf("requires root, or user namespaces in which to forbid others: %s", out)
		}
		cmd = exec.Command("unshare", "--user", "--map-root-user", "bash", "-c",
			`echo 0 >/proc/sys/user/max_net_namespaces; exec "$0" possible`, up)
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(string(out), "does not allow namespaces") {
		t.Errorf("%v: %s", err, out)
	}
}

// A cluster stops when its owner exits.
func TestClusterStopsWithItsOwner(t *testing.T) {
	needs.TestAll(t)
	onCluster(t)
	read, write, err := os.Pipe()
	must.NoError(t, err)
	defer write.Close()
	where := base + "-owned"
	up := cluster([]string{"NODES=1", "OWNER=3", "BUSBAR_SLURM=" + where}, "up.sh")
	up.ExtraFiles = []*os.File{read}
	out, err := up.CombinedOutput()
	read.Close()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	pid, err := os.ReadFile(where + "/run/head.pid")
	must.NoError(t, err)
	write.Close()
	await(t, "the end of the cluster", func() bool {
		_, folder := os.Stat(where)
		_, head := os.Stat("/proc/" + strings.TrimSpace(string(pid)))
		return errors.Is(folder, os.ErrNotExist) && errors.Is(head, os.ErrNotExist)
	})
}
