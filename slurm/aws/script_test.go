package aws

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shoenig/test/must"
)

const patience = time.Minute // for what should take a moment

// A run is a command in the background.
type run struct {
	cmd  *exec.Cmd
	done chan struct{}
	mu   sync.Mutex
	out  bytes.Buffer
}

func (r *run) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.Write(b)
}

func (r *run) output() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.out.String()
}

// start starts a program, with a folder of fake programs first on PATH.
func start(t *testing.T, fakes string, name string, args ...string) *run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	r := &run{cmd: exec.CommandContext(ctx, name, args...), done: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr, r.cmd.WaitDelay = r, r, time.Second
	r.cmd.Env = append(os.Environ(), "PATH="+fakes+":"+os.Getenv("PATH"),
		"AWS_EC2_METADATA_SERVICE_ENDPOINT=http://127.0.0.1:1")
	if err := r.cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait() // code returns the exit code
		cancel()
		close(r.done)
	}()
	t.Cleanup(func() {
		cancel()
		<-r.done
	})
	return r
}

// code waits for the end and returns the exit code.
func (r *run) code() int {
	<-r.done
	return r.cmd.ProcessState.ExitCode()
}

// check waits for a program and checks its exit code and output.
func check(t *testing.T, code int, want string, r *run) {
	t.Helper()
	if got := r.code(); got != code || !strings.Contains(r.output(), want) {
		t.Errorf("%q\nexit code %d, want %d and %q:\n%s", r.cmd.Args, got, code, want, r.output())
	}
}

// until waits for a condition.
func until(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited %v until %s", patience, what)
		}
	}
}

// fake writes a fake program, a few lines of shell, into a folder.
func fake(t *testing.T, dir, name, text string) {
	t.Helper()
	must.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/usr/bin/env bash\n"+text+"\n"), 0o755))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)))
}

func read(path string) string {
	b, _ := os.ReadFile(path) // "" if it does not exist
	return string(b)
}
