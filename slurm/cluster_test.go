// Package slurm holds no Go code but the tests of its scripts, on a real Slurm that slurm/cluster starts on this
// machine.
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

	"busbar/internal/needs"
	"time"
)

var (
	root  = func() string { dir, _ := filepath.Abs(".."); return dir }()
	ready = os.Getenv("BUSBAR_SLURM_TEST") != ""
	// The end of a pipe without a writer: the other end notifies the cluster when this process exits.
	owner *os.File
	// The folder that all nodes see, and in it what a user would have: the programs, their libraries, these scripts.
	base, home string
	// The settings with which the cluster was started.
	settings []string
	// The test for which the cluster was mended.
	mendedFor string
)

// patience is how long a test waits for one thing, on a busy machine too. A command on the cluster has no more.
const patience = 100 * time.Second

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

// onCluster skips a test where no cluster was asked for. Its first call in a test removes what earlier tests left on
// the cluster.
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

// mend cancels all jobs and resumes all nodes. A cluster with a process that cannot be killed is exchanged for another.
func mend(t *testing.T) {
	t.Helper()
	out, err := cluster(nil, "up.sh", "mend").CombinedOutput()
	if err == nil {
		return
	}
	t.Logf("starting another cluster: %v: %s", err, out)
	if err := start(settings...); err != nil {
		t.Fatal(err)
	}
}

// start brings up a cluster of its own, in place of one that it started before, beside one that make slurm-up may
// have started, and unpacks the programs on it.
func start(with ...string) error {
	settings = with
	where, err := exec.Command("bash", "-c", `. "$0" && echo "$BASE"`, root+"/slurm/cluster/common.sh").Output()
	if err != nil {
		return fmt.Errorf("where the cluster lies: %w", err)
	}
	if base == "" {
		base = strings.TrimSpace(string(where)) + "-test"
	}
	home = base + "/shared/busbar"
	if err := stop(false); err != nil { // also one that a killed test left
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
	cmd.WaitDelay = 5 * time.Second // for output of a process that the command has left
	cmd.Dir = home
	if _, err := os.Stat(home); err != nil {
		cmd.Dir = root
	}
	return cmd
}

// login runs a command on the cluster, with options of login.sh, and returns what it wrote.
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
	return must(t)(login(nil, nil, words...))
}

// onNode runs a command on a node as the owner of the cluster.
func onNode(t *testing.T, node string, words ...string) string {
	t.Helper()
	return must(t)(login(nil, []string{"--on", node}, words...))
}

// asMounter runs a command on a node as who may mount there.
func asMounter(t *testing.T, node string, words ...string) string {
	t.Helper()
	return must(t)(login([]string{"BUSBAR_SLURM_AS="}, []string{"--on", node}, words...))
}

func must(t *testing.T) func(string, error) string {
	return func(out string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// state is what Slurm reports of its nodes and jobs, and the end of its log.
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

// awaitIdle waits until no job is left and all nodes can take one.
func awaitIdle(t *testing.T) {
	t.Helper()
	await(t, "four idle nodes", func() bool {
		return asAdmin(t, "bash", "-c", `squeue -h; sinfo -h -N -p main -o %T`) == "idle\nidle\nidle\nidle"
	})
}
