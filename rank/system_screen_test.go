package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"busbar/internal/result"
)

// tableRow is a row with figures, whole.
var tableRow = regexp.MustCompile(`^ +\d+ +\d+ +float32 +sum +- +(out|in) (thr|lat) +[\d.]+ +[\d.>-]+ +[\d.]+ +[\d.]+ 0$`)

// screenArgs are a few points, some of them skipped with a long reason, with results in ./results.
var screenArgs = []string{"--collective", "all_reduce", "--elements", "16,1K,4K,1T", "--mode", "both", "-n", "20"}

// checkScreen looks at what a person sees: rows that are whole, remarks, nothing that is too wide, nothing else.
func checkScreen(t *testing.T, text string, rows int) {
	t.Helper()
	found := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case len(line) > 80 && !strings.HasPrefix(line, "# results: "): // paths are never broken
			t.Errorf("wider than 80 columns: %q", line)
		case tableRow.MatchString(line):
			found++
		case line != "" && line[0] != '#' && !strings.HasSuffix(line, "skipped"):
			t.Errorf("neither a row nor a remark: %q", line)
		}
	}
	if found != rows {
		t.Errorf("%d rows, want %d:\n%s", found, rows, text)
	}
}

// Without a terminal there are plain lines: results on stdout, and on stderr errors alone; with --quiet there are none.
func TestPlainOutput(t *testing.T) {
	t.Parallel()
	for quiet, rows := range map[string]int{"--quiet=false": 6, "--quiet": 0} {
		f, o := rankRun{np: 4, args: append([]string{quiet}, screenArgs...)}.measured(t)
		checkWhole(t, f, result.OK, result.Skipped)
		if strings.ContainsAny(o.stdout, "\x1b\r") || o.stderr != "" || rows == 0 && o.stdout != "" {
			t.Errorf("%q\n%q", o.stdout, o.stderr)
		}
		checkScreen(t, o.stdout, rows)
		if rows > 0 {
			has(t, o.stdout, "# points: 6 ok, 2 skipped", "# next: post merge && post plot", "# results: ")
		}
	}
}

// On a terminal a line shows the progress and is erased in the end; rows are those of a file, which has them alone.
func TestTerminal(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]rankRun{"Open MPI": {}, "MPICH": {mpirun: mpich}, "alone": {mpirun: alone},
		"file": {logTo: create(t, filepath.Join(t.TempDir(), "log"))}} {
		t.Run(name, func(t *testing.T) {
			parallelOn(t, l.mpirun)
			l.args = screenArgs
			raw := strings.ReplaceAll(onTerminal(t, l), "\r\n", "\n")
			progress := regexp.MustCompile(`\r\x1b\[K (\d/8, \d+:\d\d left: all_reduce float32 sum[^\r\n]*)?`)
			if !progress.MatchString(raw) || strings.Contains(raw[strings.LastIndex(raw, "\x1b"):], "left:") {
				t.Errorf("no line of progress, or one that stays: %q", raw)
			}
			raw = strings.ReplaceAll(regexp.MustCompile(`\r\x1b\[K( \d/8,[^\r\n]*)?`).ReplaceAllString(raw, ""), "\r", "")
			if l.logTo != nil {
				log, err := os.ReadFile(l.logTo.Name())
				if err != nil || raw != "" || bytes.ContainsAny(log, "\x1b\r") {
					t.Errorf("%v, %q on the terminal, %q in the file", err, raw, log)
				}
				raw = string(log)
			}
			checkScreen(t, raw, 6)
		})
	}
}

// onTerminal runs a launch on a terminal of 80 columns and returns what was written to it.
func onTerminal(t *testing.T, l rankRun) string {
	t.Helper()
	far, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	fd := int(far.Fd())
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	if l.tty, err = os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(number)), os.O_RDWR|unix.O_NOCTTY,
		0); err != nil {
		t.Fatal(err)
	}
	written := make(chan string)
	go func() {
		var b bytes.Buffer
		_, _ = b.ReadFrom(far) // until the last process closes its end, which is an error
		written <- b.String()
	}()
	l.env = append(l.env, "TERM=xterm")
	r := l.start(t)
	l.tty.Close()
	if o := r.wait(); o.code != 0 {
		t.Errorf("exit code %d", o.code)
	}
	return <-written
}
