package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"busbar/internal/golden"
	"busbar/post/steps/stepstest"
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

func TestExitCodes(t *testing.T) {
	dir := t.TempDir()
	fixtures["tiny"].save(t, filepath.Join(dir, "measured"))
	fixtures["rehearsed"].save(t, filepath.Join(dir, "rehearsed"))
	t.Chdir(dir)
	for _, c := range []struct {
		args string
		code int
	}{
		{"", 1}, {"mrge", 1}, {"merge --nosuch", 1}, {"merge --format xml", 1}, {"plot --collective x", 1},
		{"show --format", 1}, {"merge --format= measured", 1}, {"plot --format= measured", 1},
		{"plot --bandwidth= measured", 1}, {"plot --collective= measured", 1}, {"completion bsh", 1}, {"completion", 1},
		{"merge", 2}, {"merge gone", 2}, {"show gone", 2}, {"plot gone", 2},
		{"merge -o measured/" + filepath.Base(fixtures["tiny"].save(t, "measured")) + "/x measured", 2},
		{"merge measured rehearsed", 1}, {"report measured rehearsed", 1}, {"report --layout= measured", 1},
		{"report --layout html measured", 1}, {"report --layout comparison rehearsed", 0},
		{"compare measured", 1}, {"compare measured gone", 2}, {"report --layout comparison gone", 2},
		{"report --layout comparison -o " + filepath.Base(fixtures["tiny"].save(t, ".")) + "/x measured", 2},
		{"report --layout comparison measured rehearsed", 1}, {"report measured", 0}, {"report gone", 2},
		{"merge measured", 0}, {"merge --include-rehearsed measured rehearsed", 0}, {"show measured rehearsed", 0},
		{"plot --format svg measured", 0},
		{"timeline", 1}, {"timeline --format xml measured", 1}, {"timeline --comm-pattern ( measured", 1},
		{"timeline --step-pattern [ measured", 1}, {"timeline --top 0 measured", 1}, {"timeline gone", 2},
		{"timeline measured", 2}, {"expect gone", 2}, {"expect measured", 0}, {"expect --reference gone measured", 2},
		{"expect --fail-below half measured", 1}, {"expect --peak 3 measured", 1}, {"expect --fail-on x measured", 1},
		{"--help", 0}, {"help plot", 0}, {"merge --help", 0}, {"--version", 0}, {"completion zsh", 0},
	} {
		var stdout, stderr bytes.Buffer
		if code := exitCode(run(t.Context(), strings.Fields(c.args), &stdout, &stderr), &stderr); code != c.code {
			t.Errorf("post %s: exit %d, want %d; it said %s", c.args, code, c.code, &stderr)
		}
		if c.code != 0 && stderr.Len() == 0 {
			t.Errorf("post %s: exit %d without a word", c.args, c.code)
		}
		if said := stdout.String() + stderr.String(); strings.Contains(said, "\x1b") {
			t.Errorf("post %s: control codes", c.args)
		}
	}
}

// A cancelled merge leaves no file, and keeps an older one.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	fixtures["tiny"].save(t, dir)
	old := filepath.Join(dir, "merged.csv")
	if err := os.WriteFile(old, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
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
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
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
		if err := run(t.Context(), args, &out, io.Discard); err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(out.String(), "\n") {
			if len([]rune(line)) > 80 && !strings.Contains(line, filepath.Dir(dir)) {
				t.Errorf("%d columns: %s", len([]rune(line)), line)
			}
		}
	}
}
