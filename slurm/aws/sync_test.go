package aws

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

const syncResults = "../sync-results.sh"

func TestSyncCopiesChangedFiles(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "results"), filepath.Join(dir, "volume/busbar")
	write(t, from+"/a.jsonl", "one\n")
	write(t, from+"/plots/b c.png", "picture")
	check(t, 0, "", start(t, "", syncResults, from+"/", to+"/"))
	if read(to+"/a.jsonl") != "one\n" || read(to+"/plots/b c.png") != "picture" {
		t.Fatal("the first round did not copy both files")
	}

	write(t, from+"/a.jsonl", "one\ntwo\n")
	write(t, to+"/older.jsonl", "of another machine")
	kept := "left as it was"
	write(t, to+"/plots/b c.png", kept[:len("picture")])
	check(t, 0, "", start(t, "", syncResults, from, to))
	test.EqOp(t, "one\ntwo\n", read(to+"/a.jsonl"))
	if read(to+"/older.jsonl") == "" {
		t.Error("a file only at the destination was removed")
	}
	test.EqOp(t, kept[:len("picture")], read(to+"/plots/b c.png"))
	if parts, _ := filepath.Glob(to + "/*.part"); len(parts) > 0 {
		t.Errorf("left behind: %q", parts)
	}
}

func TestSyncWhileARunContinues(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "results"), filepath.Join(dir, "volume")
	write(t, from+"/a.jsonl", "one\n")
	sleeper := exec.Command("sleep", "600")
	must.NoError(t, sleeper.Start())
	r := start(t, "", syncResults, "--every", "600", "--while", strconv.Itoa(sleeper.Process.Pid), from, to)
	until(t, "the first round is done", func() bool { return read(to+"/a.jsonl") != "" })
	write(t, from+"/a.jsonl", "one\nlast\n")
	_ = sleeper.Process.Kill() // wait reports it
	_ = sleeper.Wait()
	check(t, 0, "", r)
	test.EqOp(t, "one\nlast\n", read(to+"/a.jsonl"))
}

// A results folder that cannot be read means an incomplete copy.
func TestSyncOfAnUnreadableFolder(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "results"), filepath.Join(dir, "volume")
	write(t, from+"/a.jsonl", "one\n")
	fake(t, dir, "find", `printf '%s\0' "$1/a.jsonl"; echo "find: $1/plots: stale file handle" >&2; exit 1`)
	check(t, 2, "stale file handle\n", start(t, dir, syncResults, from, to))
	if read(to+"/a.jsonl") != "one\n" {
		t.Error("the readable file was not copied")
	}
}

func TestSyncToS3(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "results")
	write(t, from+"/a.jsonl", "one\n")
	fake(t, dir, "aws", `echo "$*" >>`+dir+`/calls; [ -e `+dir+`/reachable ]`)
	check(t, 2, "cannot copy all of "+from, start(t, dir, syncResults, from, "s3://bucket/x"))
	write(t, dir+"/reachable", "")
	check(t, 0, "", start(t, dir, syncResults, "s3://bucket/x", from))
	want := "s3 sync --only-show-errors " + from + " s3://bucket/x\ns3 sync --only-show-errors s3://bucket/x " + from +
		"\n"
	test.EqOp(t, want, read(dir+"/calls"))
}

// In a loop, an unreachable bucket is reported and retried.
func TestSyncRetries(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "results")
	write(t, from+"/a.jsonl", "one\n")
	fake(t, dir, "aws", `echo call >>`+dir+`/calls; [ -e `+dir+`/reachable ]`)
	r := start(t, dir, syncResults, "--every", "1", from, "s3://bucket/x")
	until(t, "the bucket is out of reach", func() bool { return read(dir+"/calls") != "" })
	write(t, dir+"/reachable", "")
	until(t, "it works again", func() bool { return len(read(dir+"/calls")) > 2*len("call\n") })
	must.NoError(t, r.cmd.Process.Signal(os.Interrupt))
	check(t, 0, "retrying every 1 s", r)
	check(t, 0, "works again", r)
}

func TestSyncUsage(t *testing.T) {
	dir := t.TempDir()
	check(t, 1, "are required", start(t, "", syncResults, dir))
	check(t, 1, `--every requires a number, not "often"`, start(t, "", syncResults, "--every", "often", dir, dir+"/x"))
	check(t, 2, "not found", start(t, "", syncResults, dir+"/nothing", dir+"/x"))
	check(t, 1, "--while requires --every", start(t, "", syncResults, "--while", "1", dir, dir+"/x"))
	check(t, 2, "never existed", start(t, "", syncResults, "--every", "1", "--while", "99999999", dir+"/nothing", dir+
		"/x"))
	write(t, dir+"/file", "")
	write(t, dir+"/from/a", "a")
	check(t, 2, "cannot copy all of", start(t, "", syncResults, dir+"/from", dir+"/file/x"))

	bare := t.TempDir()
	for _, name := range []string{"bash", "env", "dirname", "readlink"} {
		path, err := exec.LookPath(name)
		must.NoError(t, err)
		must.NoError(t, os.Symlink(path, filepath.Join(bare, name)))
	}
	without := &run{cmd: exec.Command(syncResults, dir+"/from", "s3://bucket/x"), done: make(chan struct{})}
	without.cmd.Env, without.cmd.Stderr, without.cmd.WaitDelay = []string{"PATH=" + bare}, without, time.Second
	_ = without.cmd.Run() // check looks at the code
	close(without.done)
	check(t, 2, "aws not found", without)
}
