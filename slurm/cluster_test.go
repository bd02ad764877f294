// Package slurm holds no Go code but the tests of its scripts, on a real Slurm that slurm/cluster starts on this machine.
package slurm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	root  = func() string { dir, _ := filepath.Abs(".."); return dir }()
	ready = os.Getenv("BUSBAR_SLURM_TEST") != ""
	// The end of a pipe that nobody writes to: the other end tells the cluster that this process has gone.
	owner *os.File
	// The folder that all nodes see, and in it what a user would have: the programs, their libraries, these scripts.
	base, home string
)

// submitter submits the jobs; only root may choose another than himself.
const submitter = "nobody"

func TestMain(m *testing.M) {
	if !ready {
		os.Exit(m.Run())
	}
	code, err := 1, start("TASK=none")
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	if err := stop(code != 0); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// onCluster keeps a test to machines where a cluster was asked for.
func onCluster(t *testing.T) {
	t.Helper()
	if !ready {
		t.Skip("wants a Slurm: make slurm-test starts one")
	}
}

// start brings up a cluster of its own, beside one that make slurm-up may have started, and unpacks the programs on it.
func start(settings ...string) error {
	where, err := exec.Command("bash", "-c", `. "$0" && echo "$BASE"`, root+"/slurm/cluster/common.sh").Output()
	if err != nil {
		return fmt.Errorf("where the cluster lies: %w", err)
	}
	if base == "" {
		base = strings.TrimSpace(string(where)) + "-test"
	}
	home = base + "/shared/busbar"
	if err := stop(false); err != nil { // one that a killed test left
		return err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	owner = write
	up := cluster(append(settings, "OWNER=3"), "up.sh")
	up.ExtraFiles = []*os.File{read}
	out, err := up.CombinedOutput()
	read.Close()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	script := `mkdir -p "$1"/slurm && cp -r "$0"/bin "$0"/lib "$1"/ && cp -r "$0"/slurm/*.sh "$0"/slurm/lib "$0"/slurm/sites "$1"/slurm/ && chmod 1777 "$1"`
	if out, err := exec.Command("bash", "-c", script, root, home).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// stop ends the cluster; after a failure its logs are kept.
func stop(keep bool) error {
	var settings []string
	if keep {
		settings = []string{"KEEP=1"}
		fmt.Fprintln(os.Stderr, "the logs and results are kept in", base)
	}
	if out, err := cluster(settings, "down.sh").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// cluster is one of the scripts of slurm/cluster.
func cluster(settings []string, script string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(root, "slurm/cluster", script), args...)
	cmd.Env = append(append(os.Environ(), "BUSBAR_SLURM="+base), settings...)
	cmd.Dir = home
	if _, err := os.Stat(home); err != nil {
		cmd.Dir = root
	}
	return cmd
}

// asUser runs a command on the login node as an ordinary user, and returns what it wrote.
func asUser(settings []string, words ...string) (string, error) {
	if os.Getuid() == 0 {
		words = append([]string{"--as", submitter}, words...)
	}
	return said(cluster(settings, "login.sh", words...))
}

// asAdmin runs a command as the owner of the cluster.
func asAdmin(t *testing.T, words ...string) string {
	t.Helper()
	out, err := said(cluster(nil, "login.sh", words...))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// asMounter runs a command on a node as who may mount there.
func asMounter(t *testing.T, node string, words ...string) string {
	t.Helper()
	out, err := said(cluster([]string{"BUSBAR_SLURM_AS="}, "login.sh", append([]string{"--on", node}, words...)...))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func said(cmd *exec.Cmd) (string, error) {
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w\n%s%s", cmd, err, out, exit.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// await waits for a state, for as long as a busy machine may take.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !condition(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited two minutes for %s\n%s", what, asAdmin(t, "scontrol", "show", "job"))
		}
	}
}

// awaitIdle waits until no job is there and all nodes can take one.
func awaitIdle(t *testing.T) {
	t.Helper()
	await(t, "four idle nodes", func() bool {
		return asAdmin(t, "squeue", "-h") == "" && asAdmin(t, "sinfo", "-h", "-p", "main", "-t", "idle", "-o", "%D") == "4"
	})
}
