package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// name is a test, or with an empty test the rest of its package.
type name struct{ pkg, test string }

func (n name) String() string { return strings.TrimSpace(n.pkg + " " + n.test) }

// test is what is known of a test so far.
type test struct {
	since  time.Time // when it started or went on; zero while it waits for its turn
	output []string
}

// runner follows one run of go test.
type runner struct {
	out   io.Writer
	limit time.Duration
	again string
	path  string // of the events
	tests map[name]*test
	some  bool // some tests must run

	reported                map[string]bool // packages of which a failure was printed
	passed, failed, skipped int
	stuck                   name
}

const (
	// A test that runs longer than notable is shown, every so often.
	notable = 15 * time.Second
	// tail is how many lines of a failed test's output are printed; its log has all of them.
	tail = 40
)

func newRunner(out io.Writer, path string) *runner {
	return &runner{out: out, path: path, tests: map[name]*test{}, reported: map[string]bool{}}
}

func (r *runner) run(ctx context.Context, words []string) error {
	if err := os.MkdirAll(filepath.Dir(r.path), 0o755); err != nil {
		return err
	}
	kept, err := os.Create(r.path)
	if err != nil {
		return err
	}
	cmd := exec.Command("go", words...)
	// A group of its own, so that one signal reaches go and all test binaries.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if err := r.follow(ctx, stdout, kept, cmd.Process.Pid); err != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		return errors.Join(err, cmd.Wait())
	}
	err = cmd.Wait()
	if closing := kept.Close(); err == nil {
		err = closing
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped)
	if r.stuck != (name{}) {
		return fmt.Errorf("%s ran longer than %s and was stopped, and all tests with it", r.stuck, r.limit)
	}
	if err == nil && r.some && r.passed+r.skipped == 0 {
		return errors.New("no test ran, though some were left to make test-all")
	}
	return err
}

// follow reads the events to their end. A signal to this program, or a test beyond its limit, ends the group of
// processes.
func (r *runner) follow(ctx context.Context, stdout io.Reader, kept io.Writer, group int) error {
	lines := make(chan []byte)
	failed := make(chan error, 1)
	go func() {
		in := bufio.NewReader(stdout)
		defer close(lines)
		for {
			line, err := in.ReadBytes('\n')
			if len(line) > 0 {
				lines <- line
			}
			if err != nil {
				if err != io.EOF {
					failed <- err
				}
				return
			}
		}
	}()
	tick := time.NewTicker(notable)
	defer tick.Stop()
	end := func(s syscall.Signal) {
		_ = syscall.Kill(-group, s) // it may have ended by itself
		time.AfterFunc(notable, func() { _ = syscall.Kill(-group, syscall.SIGKILL) })
	}
	interrupted := ctx.Done()
	for {
		select {
		case line, more := <-lines:
			if !more {
				select {
				case err := <-failed:
					return err
				default:
					return nil
				}
			}
			if _, err := kept.Write(line); err != nil {
				return err
			}
			var e event
			if json.Unmarshal(line, &e) == nil {
				r.take(e)
			}
		case <-tick.C:
			if r.show() {
				end(syscall.SIGQUIT)
			}
		case <-interrupted:
			interrupted = nil
			end(syscall.SIGTERM)
		}
	}
}

// take notes an event.
func (r *runner) take(e event) {
	key := name{e.Package, e.Test}
	if e.Package == "" {
		key.pkg, _, _ = strings.Cut(e.ImportPath, " ")
		key.pkg = strings.TrimSuffix(key.pkg, ".test")
	}
	t := r.tests[key]
	if t == nil {
		t = &test{}
		r.tests[key] = t
	}
	switch e.Action {
	case "run", "cont":
		t.since = time.Now()
	case "pause":
		t.since = time.Time{}
	case "output", "build-output":
		t.output = append(t.output, e.Output)
	case "skip":
		r.skipped += count(e)
	case "pass":
		r.passed += count(e)
		if e.Test == "" {
			fmt.Fprintf(r.out, "ok    %-34s %6.1f s\n", e.Package, e.Elapsed)
		}
	case "fail", "build-fail":
		r.failed += count(e)
		if e.Test == "" {
			r.crashed(e.Package)
		}
		r.fail(key, t)
		t.output = nil
	}
	if slices.Contains([]string{"pass", "skip", "fail"}, e.Action) {
		delete(r.tests, key)
	}
}

// count is 1 for a test at the top and 0 for a subtest or a package.
func count(e event) int {
	if e.Test == "" || strings.Contains(e.Test, "/") {
		return 0
	}
	return 1
}

// crashed reports the tests of a package that ended without a result: the output of a panic, a signal or a timeout
// belongs to the last test that was named, which may have passed.
func (r *runner) crashed(pkg string) {
	for key, t := range r.tests {
		if key.pkg != pkg || key.test == "" {
			continue
		}
		if _, own := messages(t.output); own {
			r.fail(key, t)
		}
		delete(r.tests, key)
	}
}

// messages are the lines of an output that go test did not add; own is false where they only name failed tests.
func messages(output []string) (lines []string, own bool) {
	for line := range strings.Lines(strings.Join(output, "")) {
		w := strings.TrimSpace(line)
		if strings.HasPrefix(w, "=== ") || w == "FAIL" || strings.HasPrefix(line, "FAIL\t") ||
			strings.HasPrefix(w, "exit status ") {
			continue
		}
		lines = append(lines, line)
		own = own || !strings.HasPrefix(w, "--- ")
	}
	return lines, own
}

// fail prints what a failed test wrote, and how to run it again. A package whose only failure is that of its tests is
// not reported, nor a test whose only failure is that of its subtests.
func (r *runner) fail(key name, t *test) {
	lines, own := messages(t.output)
	if !own && r.reported[key.pkg] {
		return
	}
	r.reported[key.pkg] = true
	log := filepath.Join(
		filepath.Dir(r.path),
		strings.NewReplacer("/", ".", " ", ".", "'", "").Replace(key.String())+".log",
	)
	where := "log:   " + log
	if err := os.WriteFile(log, []byte(strings.Join(t.output, "")), 0o644); err != nil {
		where = err.Error()
	}
	shown, first := essence(lines)
	fmt.Fprintf(
		r.out,
		"FAIL  %s\n%s%s      %s\n      alone: %s\n",
		key,
		strings.Join(shown, ""),
		first,
		where,
		r.alone(key),
	)
}

// message is how the output of t.Error and t.Log begins.
var message = regexp.MustCompile(`^ +\w+_test\.go:\d+: `)

// essence is the beginning of a crash, or else the end of an output, and the first message where that is not in it.
func essence(lines []string) (shown []string, first string) {
	crash := slices.IndexFunc(lines, func(l string) bool {
		return strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ") || strings.HasPrefix(l, "SIG")
	})
	if crash >= 0 {
		return lines[crash:min(len(lines), crash+tail)], ""
	}
	end := max(0, len(lines)-tail)
	if i := slices.IndexFunc(lines, message.MatchString); i >= 0 && i < end {
		first = "      first: " + strings.TrimSpace(lines[i]) + "\n"
	}
	return lines[end:], first
}

// alone is the command that runs one test.
func (r *runner) alone(key name) string {
	folder := "./" + strings.TrimPrefix(strings.TrimPrefix(key.pkg, "busbar"), "/")
	if key.test == "" {
		return r.again + " -count=1 -v " + folder
	}
	return fmt.Sprintf("%s -count=1 -v -run '%s' %s", r.again, pattern(key.test), folder)
}

// show prints the tests that have been running for long, and marks one that runs longer than the limit. A test that
// waits for its subtests is not shown. It reports whether it marked one just now.
func (r *runner) show() bool {
	before := r.stuck
	var running []string
	for key, t := range r.tests {
		since := time.Since(t.since)
		if key.test == "" || t.since.IsZero() || since < notable || r.waits(key) {
			continue
		}
		running = append(running, fmt.Sprintf("%s (%d s)", key, int(since.Seconds())))
		if since > r.limit && r.stuck == (name{}) {
			r.stuck = key
		}
	}
	slices.Sort(running)
	if len(running) > 0 {
		fmt.Fprintf(r.out, "...   %s\n", strings.Join(running, ", "))
	}
	return r.stuck != before
}

// waits reports whether a test has subtests that have not ended.
func (r *runner) waits(key name) bool {
	for other := range r.tests {
		if other.pkg == key.pkg && strings.HasPrefix(other.test, key.test+"/") {
			return true
		}
	}
	return false
}
