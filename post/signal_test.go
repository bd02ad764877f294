package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
	"golang.org/x/sys/unix"
)

// start starts post with its stdout in a pipe, and returns after the first byte: the program is then running.
func start(t *testing.T, args ...string) (*exec.Cmd, *os.File) {
	t.Helper()
	cmd := exec.Command("post", args...)
	cmd.Stderr = os.Stderr
	stdout, end, err := os.Pipe()
	must.NoError(t, err)
	cmd.Stdout = end
	must.NoError(t, errors.Join(cmd.Start(), end.Close()))
	t.Cleanup(func() { _ = errors.Join(cmd.Process.Kill(), stdout.Close()) })
	if _, err := stdout.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return cmd, stdout
}

// unread is how many bytes wait in a pipe.
func unread(t *testing.T, pipe *os.File) int {
	t.Helper()
	n, err := unix.IoctlGetInt(int(pipe.Fd()), unix.TIOCINQ)
	must.NoError(t, err)
	return n
}

func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for range 1000 {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

// TestSignal: the first signal ends a command cleanly, with that signal's exit code and no partial output.
func TestSignal(t *testing.T) {
	for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		dir := t.TempDir()
		fixtures["quick"].save(t, dir)
		fixtures["world2"].save(t, dir)
		cmd, stdout := start(t, "plot", "--bandwidth", "busbw,algbw", "--collective", "all_reduce,all_gather,broadcast",
			dir)
		must.NoError(t, cmd.Process.Signal(signal))
		_, _ = io.Copy(io.Discard, stdout)
		_ = cmd.Wait()
		test.EqOp(t, want, cmd.ProcessState.ExitCode(), test.Sprint(signal))
		left, err := os.ReadDir(dir + "/plots")
		if err != nil || len(left) == 0 || left[0].Name()[0] == '.' {
			t.Errorf("%v: left behind %v, %v", signal, left, err)
		}
	}
}

// TestNoReader: a program that nobody reads ends by SIGPIPE and leaves no temporary file behind.
func TestNoReader(t *testing.T) {
	log := filepath.Join(t.TempDir(), "deepspeed.log")
	const text = "---- Performance of all_gather on 4 devices ----\n" +
		"Size (Bytes)  Description  Duration  Throughput (Gbps)  BusBW (Gbps)\n" +
		"1.0 MB        262144x4     1.500 ms  22.370             16.777\n"
	must.NoError(t, os.WriteFile(log, []byte(text), 0o644))
	for name, set := range map[string]func(*exec.Cmd, *os.File){
		"stdout": func(c *exec.Cmd, f *os.File) { c.Stdout = f },
		"stderr": func(c *exec.Cmd, f *os.File) { c.Stderr = f },
	} {
		dir := t.TempDir()
		cmd := exec.Command("post", log)
		cmd.Env = append(os.Environ(), "TMPDIR="+dir)
		r, w, err := os.Pipe()
		must.NoError(t, err)
		set(cmd, w)
		_ = errors.Join(r.Close(), cmd.Run(), w.Close())
		status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !ok || !status.Signaled() || status.Signal() != syscall.SIGPIPE {
			t.Errorf("%s: ended with %v", name, cmd.ProcessState)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind %v, %v", name, left, err)
		}
	}
}

// TestSecondSignal: a program that cannot shut down, here without a reader, ends with the second signal.
func TestSecondSignal(t *testing.T) {
	dir := t.TempDir()
	for i := range 60 { // more than a pipe holds
		f := fixtures["quick"]
		f.launch = i
		f.save(t, dir)
	}
	cmd, stdout := start(t, "show", dir)
	await(t, "the pipe to be full", func() bool { return unread(t, stdout) >= 60<<10 })
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	await(t, "a signal to end it", func() bool {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() ||
		status.Signal() != syscall.SIGINT {
		t.Errorf("ended with %v", cmd.ProcessState)
	}
}
