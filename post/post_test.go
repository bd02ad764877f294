package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"busbar/internal/golden"
	"busbar/post/steps/stepstest"
	"github.com/shoenig/test/must"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"post": main})
}

// TestScripts runs whole commands; `fixture NAME DIR` writes a made-up run, `steps NAME DIR` one of training steps,
// `truncate FILE N` cuts N bytes off its end.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: golden.Update(),
		Setup: func(e *testscript.Env) error {
			examples, err := filepath.Abs("../examples")
			e.Setenv("EXAMPLES", examples)
			return err
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"launches":     scriptLaunches,
			"steplaunches": scriptStepLaunches,
			"fixture": func(ts *testscript.TestScript, _ bool, args []string) {
				f, ok := fixtures[args[0]]
				if !ok {
					ts.Fatalf("no fixture %s", args[0])
				}
				f.save(t, ts.MkAbs(args[1]))
			},
			"steps": func(ts *testscript.TestScript, _ bool, args []string) {
				made, ok := stepRuns[args[0]]
				if !ok {
					ts.Fatalf("no steps %s", args[0])
				}
				stepstest.Save(t, ts.MkAbs(args[1]), made().File())
			},
			"cut": func(ts *testscript.TestScript, _ bool, args []string) {
				path := ts.MkAbs(args[0])
				info, err := os.Stat(path)
				ts.Check(err)
				ts.Check(os.Truncate(path, info.Size()*9/10))
			},
			"exits": scriptExits,
			"pictures": func(ts *testscript.TestScript, _ bool, args []string) {
				names, err := filepath.Glob(ts.MkAbs(args[0]))
				ts.Check(err)
				if len(names) < 4 {
					ts.Fatalf("%d pictures: %v", len(names), names)
				}
			},
		},
	})
}

// scriptExits is the command `exits CODE ARGS...` of scripts: post with these arguments exits with this code.
func scriptExits(ts *testscript.TestScript, _ bool, args []string) {
	code, exit := 0, (*exec.ExitError)(nil)
	if err := ts.Exec("post", args[1:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	if args[0] != strconv.Itoa(code) {
		ts.Fatalf("exit code %d", code)
	}
}

// A cancelled merge leaves no file, and keeps an older one.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	fixtures["tiny"].save(t, dir)
	old := filepath.Join(dir, "merged.csv")
	must.NoError(t, os.WriteFile(old, []byte("old"), 0o644))
	for _, command := range []string{"merge", "plot", "show", "report --layout=comparison", "compare --by launch"} {
		for signal, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
			ctx, cancel := context.WithCancelCause(t.Context())
			cancel(&signalError{signal})
			var stdout, stderr bytes.Buffer
			if code := exitCode(run(ctx, append(strings.Fields(command), dir), &stdout, &stderr),
				&stderr); code != want ||
				!strings.Contains(stderr.String(), signal.String()) {
				t.Errorf("%s: exit %d, want %d; it said %s", command, code, want, &stderr)
			}
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 {
		t.Errorf("left behind: %v %v", files, err)
	}
	if b, _ := os.ReadFile(old); string(b) != "old" {
		t.Errorf("merged.csv is now %q", b)
	}
}

// Every help text fits 80 columns, and lists no command that does not exist.
func TestHelp(t *testing.T) {
	root := newRoot(streams{io.Discard, io.Discard})
	commands := append(root.Commands(), root)
	for _, c := range root.Commands() {
		if c.Name() == "completion" { // its commands' help is not ours
			continue
		}
		commands = append(commands, c.Commands()...)
	}
	for _, c := range commands {
		var help bytes.Buffer
		c.SetOut(&help)
		must.NoError(t, c.Help())
		for _, line := range strings.Split(help.String(), "\n") {
			if len([]rune(line)) > 80 {
				t.Errorf("%s --help: %d columns: %s", c.Name(), len([]rune(line)), line)
			}
		}
	}
}

// Lines of tables fit a terminal with any content; lines with paths may not.
func TestOutputFits80Columns(t *testing.T) {
	dir := t.TempDir()
	all, steps := filepath.Join(dir, "all"), filepath.Join(dir, "steps")
	for _, f := range fixtures {
		f.save(t, all)
	}
	long := stepstest.Default()
	long.Slower = 2000
	stepstest.Save(t, steps, long.File())
	a, b := pair(t, launches{n: 4, factor: 1, noise: 0.3}, launches{n: 4, factor: 1e-7, noise: 0.3})
	for _, args := range [][]string{
		{"show", all}, {"show", "--peak", "0.001GB/s", all}, {"show", "--peak", "1e6GB/s", all}, {"show", steps},
		{"compare", a, b}, {"compare", "--by", "launch", a}, {"compare", steps, steps},
	} {
		var out bytes.Buffer
		must.NoError(t, run(t.Context(), args, &out, io.Discard))
		for _, line := range strings.Split(out.String(), "\n") {
			if len([]rune(line)) > 80 && !strings.Contains(line, filepath.Dir(dir)) {
				t.Errorf("%d columns: %s", len([]rune(line)), line)
			}
		}
	}
}
