package lib

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"busbar/internal/needs"

	"github.com/shoenig/test/must"
)

// A place is a folder with the programs and the scripts, as in the repository.
type place struct {
	t        *testing.T
	top, dir string
	tools    string // the first folder on PATH, for fake programs
}

func install(t *testing.T) place {
	t.Helper()
	p := place{t: t, top: t.TempDir(), dir: t.TempDir(), tools: t.TempDir()}
	root, err := filepath.Abs("../..")
	must.NoError(t, err)
	made := needs.Programs(t)
	needs.File(t, filepath.Join(made, "lib/busbar-mpi-*.so"), "make build builds it if mpicc exists")
	// Tests replace programs.
	must.NoError(t, os.CopyFS(filepath.Join(p.top, "bin"), os.DirFS(filepath.Join(made, "bin"))))
	for _, folder := range []string{made + "/lib", root + "/scripts"} {
		must.NoError(t, os.Symlink(folder, filepath.Join(p.top, filepath.Base(folder))))
	}
	must.NoError(t, os.CopyFS(filepath.Join(p.top, "slurm"), os.DirFS(filepath.Join(root, "slurm"))))
	return p
}

// pathWithout returns PATH without a program: links to all other files replace the folder that contains it.
func pathWithout(t *testing.T, program string) string {
	t.Helper()
	folders := filepath.SplitList(os.Getenv("PATH"))
	for i, folder := range folders {
		if _, err := os.Stat(filepath.Join(folder, program)); err != nil {
			continue
		}
		files, err := os.ReadDir(folder)
		must.NoError(t, err)
		folders[i] = t.TempDir()
		for _, f := range files {
			if f.Name() == program {
				continue
			}
			must.NoError(t, os.Symlink(filepath.Join(folder, f.Name()), filepath.Join(folders[i], f.Name())))
		}
	}
	return strings.Join(folders, string(filepath.ListSeparator))
}

// fake writes a fake program, a few lines of shell, into the first folder on PATH.
func (p place) fake(name, text string) {
	p.t.Helper()
	must.NoError(p.t, os.WriteFile(filepath.Join(p.tools, name), []byte("#!/usr/bin/env bash\n"+text+"\n"), 0o755))
}

// run runs a script in p.dir and returns its exit code and output.
func (p place) run(environment []string, script string, args ...string) (int, string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(p.top, "slurm", script), args...)
	cmd.Dir, cmd.WaitDelay = p.dir, 5*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Env = append(os.Environ(), "PATH="+p.tools+":"+os.Getenv("PATH"), "LAUNCHER=mpirun")
	cmd.Env = append(cmd.Env, environment...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		p.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// expect fails unless the script exits with code and prints want.
func (p place) expect(code int, want string, environment []string, script string, args ...string) string {
	p.t.Helper()
	got, output := p.run(environment, script, args...)
	if got != code || !strings.Contains(output, want) {
		p.t.Fatalf("%s %q\nexit code %d, want %d and %q:\n%s", script, args, got, code, want, output)
	}
	return output
}

// has fails unless each pattern names a file that is not empty.
func (p place) has(patterns ...string) {
	p.t.Helper()
	for _, pattern := range patterns {
		found, _ := filepath.Glob(filepath.Join(p.dir, pattern))
		if len(found) == 0 {
			p.t.Errorf("no %s", pattern)
		}
		for _, file := range found {
			if s, err := os.Stat(file); err != nil || s.Size() == 0 {
				p.t.Errorf("%s is empty: %v", file, err)
			}
		}
	}
}

// text returns the content of all files that match a pattern.
func (p place) text(pattern string) string {
	p.t.Helper()
	found, _ := filepath.Glob(filepath.Join(p.dir, pattern))
	var all strings.Builder
	for _, file := range found {
		if s, err := os.Stat(file); err == nil && s.IsDir() {
			continue
		}
		b, err := os.ReadFile(file)
		must.NoError(p.t, err)
		all.Write(b)
	}
	return all.String()
}
