// Package slurm holds only tests of its scripts, on a real Slurm that slurm/cluster starts on this machine.
package slurm

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"busbar/internal/needs"

	"github.com/shoenig/test/must"
)

var (
	root  = func() string { dir, _ := filepath.Abs(".."); return dir }()
	ready = os.Getenv("BUSBAR_SLURM_TEST") != ""
	// The write end of a pipe: the cluster stops when this process exits.
	owner *os.File
	// The folder that all nodes share, and in it the programs, their libraries and the scripts.
	base, home string
	// The settings of the cluster.
	settings []string
	// The test for which the cluster was mended.
	mendedFor string
)

// patience is the time limit of a wait and of a command on the cluster, also on a busy machine.
const patience = 100 * time.Second

// submitter submits the jobs if root runs the tests.
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

// onCluster skips a test without a cluster. Its first call in a test removes what earlier tests left on the cluster.
func onCluster(t *testing.T) {
	t.Helper()
	if !ready {
		t.Skip("requires a Slurm: make slurm-test starts one")
	}
	if mendedFor != t.Name() {
		mend(t)
		mendedFor = t.Name()
	}
}

// mend cancels all jobs and resumes all nodes. If that fails, it starts another cluster.
func mend(t *testing.T) {
	t.Helper()
	out, err := cluster(nil, "up.sh", "mend").CombinedOutput()
	if err == nil {
		return
	}
	t.Logf("starting another cluster: %v: %s", err, out)
	must.NoError(t, start(settings...))
}

// start replaces the cluster of the tests by a new one and copies the programs to it. A cluster of make slurm-up is not
// affected.
func start(with ...string) error {
	settings = with
	where, err := exec.Command("bash", "-c", `. "$0" && echo "$BASE"`, root+"/slurm/cluster/common.sh").Output()
	if err != nil {
		return fmt.Errorf("folder of the cluster: %w", err)
	}
	if base == "" {
		base = strings.TrimSpace(string(where)) + "-test"
	}
	home = base + "/shared/busbar"
	if err := stop(false); err != nil { // also that of a killed test
		return err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	owner = write
	up := cluster(append([]string{"OWNER=3"}, settings...), "up.sh")
	up.ExtraFiles = []*os.File{read}
	out, err := up.CombinedOutput()
	read.Close()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	programs, err := needs.Folder()
	if err != nil {
		return err
	}
	script := `mkdir -p "$1"/slurm && cp -r "$2"/bin "$2"/lib "$1"/ && cp -r "$0"/slurm/*.sh "$0"/slurm/lib ` +
		`"$0"/slurm/sites "$1"/slurm/ && chmod 1777 "$1"`
	if out, err := exec.Command("bash", "-c", script, root, home, programs).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// stop stops the cluster and keeps its logs after a failure.
func stop(keep bool) error {
	var settings []string
	if keep {
		settings = []string{"KEEP=1"}
		fmt.Fprintln(os.Stderr, "logs and results are in", base)
	}
	if out, err := cluster(settings, "down.sh").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// cluster returns the command of a script of slurm/cluster.
func cluster(settings []string, script string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(root, "slurm/cluster", script), args...)
	cmd.Env = append(append(os.Environ(), "BUSBAR_SLURM="+base), settings...)
	cmd.WaitDelay = 5 * time.Second // for the output of its background processes
	cmd.Dir = home
	if _, err := os.Stat(home); err != nil {
		cmd.Dir = root
	}
	return cmd
}

// login runs a command on the cluster, with options of login.sh, and returns its output.
func login(settings, options []string, words ...string) (string, error) {
	limit := []string{"timeout", "--kill-after=5", strconv.Itoa(int(patience.Seconds()))}
	cmd := cluster(settings, "login.sh", slices.Concat(options, limit, words)...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("%s: %w\n%s%s", cmd, err, out, exit.Stderr)
		if exit.ExitCode() == 124 || exit.ExitCode() == 137 { // of timeout
			err = fmt.Errorf("%w\n%s", err, state())
		}
	}
	return strings.TrimSpace(string(out)), err
}

// asUser runs a command on the login node as an ordinary user.
func asUser(settings []string, words ...string) (string, error) {
	if os.Getuid() == 0 {
		return login(settings, []string{"--as", submitter}, words...)
	}
	return login(settings, nil, words...)
}

// asAdmin runs a command on the login node as the owner of the cluster.
func asAdmin(t *testing.T, words ...string) string {
	t.Helper()
	return output(t)(login(nil, nil, words...))
}

// onNode runs a command on a node as the owner of the cluster.
func onNode(t *testing.T, node string, words ...string) string {
	t.Helper()
	return output(t)(login(nil, []string{"--on", node}, words...))
}

// asMounter runs a command on a node as a user who may mount there.
func asMounter(t *testing.T, node string, words ...string) string {
	t.Helper()
	return output(t)(login([]string{"BUSBAR_SLURM_AS="}, []string{"--on", node}, words...))
}

func output(t *testing.T) func(string, error) string {
	return func(out string, err error) string {
		t.Helper()
		must.NoError(t, err)
		return out
	}
}

// state returns Slurm's report of nodes and jobs, and the end of its log.
func state() string {
	out, err := cluster(nil, "up.sh", "state").CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%s(%v)", out, err)
	}
	return string(out)
}

// await waits for a condition.
func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v for %s\n%s", patience, what, state())
		}
	}
}

// awaitIdle waits until no job is left and all nodes are idle.
func awaitIdle(t *testing.T) {
	t.Helper()
	await(t, "four idle nodes", func() bool {
		return asAdmin(t, "bash", "-c", `squeue -h; sinfo -h -N -p main -o %T`) == "idle\nidle\nidle\nidle"
	})
}
