package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/result"
	"busbar/rank/exit"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// asRoot lets a test mount: without root it runs the test again in a user namespace. It reports whether the test runs
// here.
func asRoot(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() == 0 {
		return true
	}
	c := exec.Command("unshare", "--user", "--map-root-user", "--mount", os.Args[0], "-test.run", "^"+t.Name()+"$")
	c.Env = append(os.Environ(), "TMPDIR="+shortDir(t)) // Open MPI's usual folder belongs to root
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%s: %v (as root no namespace is needed; without one, user namespaces must be allowed)\n%s", c, err,
			out)
	}
	return false
}

// shortDir returns a temporary folder with a short path, for the sockets of Open MPI.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bb")
	must.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// mount mounts a tmpfs on a new folder.
func mount(t *testing.T, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	must.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, options), must.Sprint(dir))
	t.Cleanup(func() {
		test.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH))
	})
	return dir
}

// On a full disk the run fails with a message, and a file elsewhere has the record that did not fit.
func TestDiskIsFull(t *testing.T) {
	t.Parallel()
	if !asRoot(t) {
		return
	}
	disk := mount(t, "size=200k")
	out := filepath.Join(disk, "results")
	elsewhere := shortDir(t)
	o := rankRun{args: endless(out), env: []string{"TMPDIR=" + elsewhere}}.run(t)
	if o.code != exit.Environment {
		t.Errorf("want exit code %d: %s", exit.Environment, o)
	}
	f := readOne(t, out)
	rescued, err := filepath.Glob(filepath.Join(elsewhere, "busbar-rescue-*.jsonl"))
	if err != nil || len(rescued) != 1 {
		t.Fatalf("rescue files: %v %v\n%s", rescued, err, o)
	}
	for _, want := range []string{"no space left on device", f.Path, rescued[0], "--out"} {
		test.StrContains(t, o.stderr, want, test.Sprint(o))
	}
	rest, err := result.ReadFile(t.Context(), rescued[0])
	must.NoError(t, err)
	checkEnd(t, rest, result.Aborted, exit.Environment)
	if rest.Run.ID != f.Run.ID || len(rest.Records) == 0 {
		t.Errorf("the rescue file is of run %s with %d records, want run %s", rest.Run.ID, len(rest.Records),
			f.Run.ID)
	}
	next := 1
	for _, r := range append(f.Records, rest.Records...) {
		must.EqOp(t, next, r.N)
		next++
	}
	// one record may be incomplete
	if n, all := len(merged(t, out, rescued[0])), len(f.Records)+len(rest.Records); n > all || n < all-1 {
		t.Errorf("%d points after merging, %d records", n, all)
	}
	// With free space the run resumes in its folder.
	must.NoError(t, syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=1m"))
	again := rankRun{args: small(out, "--resume -N 2")}.mustRun(t)
	if !strings.Contains(again.stdout, "continues run "+f.Run.ID) {
		t.Error(again)
	}
}

// If the folder is removed, the run ends and the rescue file has all records.
func TestResultsAreRemoved(t *testing.T) {
	t.Parallel()
	out := filepath.Join(t.TempDir(), "results")
	elsewhere := shortDir(t)
	r := rankRun{args: endless(out), env: []string{"TMPDIR=" + elsewhere}}.start(t)
	before := r.awaitPoints(out, 5)
	r.signal(1, syscall.SIGSTOP) // no output between the two steps
	r.awaitStandstill(out)
	must.NoError(t, os.Rename(out, filepath.Join(t.TempDir(), "aside")))
	r.signal(1, syscall.SIGCONT)
	o := r.wait()
	if o.code != exit.Environment || strings.Count(o.stderr, "was removed while the run was writing it") != 1 {
		t.Errorf("want exit code %d, and the reason once: %s", exit.Environment, o)
	}
	if strings.Contains(o.stderr, "what was measured before is kept in") {
		t.Errorf("the message names a removed file: %s", o)
	}
	f := readOne(t, elsewhere)
	test.StrContains(t, o.stderr, f.Path, test.Sprint(o))
	checkEnd(t, f, result.Aborted, exit.Environment)
	checkKept(t, f, before)
}
