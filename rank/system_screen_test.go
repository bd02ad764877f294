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
		case len(line) > 80:
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

// Where there is no terminal there are plain lines: results on stdout, nothing but trouble on stderr.
func TestPlainOutput(t *testing.T) {
	t.Parallel()
	for _, l := range []rankRun{{mpirun: openMPI, np: 4}, {mpirun: mpich, np: 2}} {
		t.Run(l.mpirun, func(t *testing.T) {
			parallelOn(t, l.mpirun)
			l.args = screenArgs
			o := l.mustRun(t)
			if strings.ContainsAny(o.stdout+o.stderr, "\x1b\r") || o.stderr != "" {
				t.Errorf("%q\n%q", o.stdout, o.stderr)
			}
			checkScreen(t, o.stdout, 6)
			for _, want := range []string{"# points: 6 ok, 2 skipped", "# next: post merge && post plot",
				"# results: "} {
				if !strings.Contains(o.stdout, want) {
					t.Errorf("no %q: %s", want, o.stdout)
				}
			}
		})
	}
}

func TestQuiet(t *testing.T) {
	parallel(t)
	dir := t.TempDir()
	o := rankRun{mpirun: openMPI, np: 2, args: append([]string{"--quiet"}, screenArgs...), dir: dir}.mustRun(t)
	if o.stdout != "" || o.stderr != "" {
		t.Errorf("not silent: %s", o)
	}
	checkWhole(t, readOne(t, filepath.Join(dir, "results")), result.OK, result.Skipped)
}

// On a terminal a line tells of the progress and is gone in the end; the rows are those of a file.
func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, l := range []rankRun{{mpirun: openMPI, np: 2}, {mpirun: mpich, np: 2}, {mpirun: alone}} {
		t.Run(l.mpirun, func(t *testing.T) {
			parallelOn(t, l.mpirun)
			l.args = screenArgs
			raw := onTerminal(t, l)
			if !regexp.MustCompile(`\d/8, \d+:\d\d left: all_reduce float32 sum`).MatchString(raw) {
				t.Errorf("no line tells of the progress: %q", raw)
			}
			shown := render(raw)
			if strings.Contains(shown, "left:") {
				t.Errorf("the line of progress is still there:\n%s", shown)
			}
			checkScreen(t, shown, 6)
		})
	}
}

// Results that go to a file are plain, though the progress is on a terminal.
func TestTerminalAndFile(t *testing.T) {
	parallel(t)
	l := rankRun{mpirun: openMPI, np: 2, args: screenArgs}
	l.logTo = create(t, filepath.Join(t.TempDir(), "log"))
	raw := onTerminal(t, l)
	if !strings.Contains(raw, "left: all_reduce") {
		t.Errorf("no line tells of the progress: %q", raw)
	}
	if shown := render(raw); strings.TrimSpace(shown) != "" {
		t.Errorf("on the terminal is left:\n%s", shown)
	}
	log, err := os.ReadFile(l.logTo.Name())
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsAny(log, "\x1b\r") {
		t.Errorf("control codes in the file: %q", log)
	}
	checkScreen(t, string(log), 6)
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

// render is what a terminal shows after a text: the codes that move the cursor and erase are obeyed, colours are not.
func render(raw string) string {
	var lines [][]byte
	row, col := 0, 0
	put := func(c byte) {
		for len(lines) <= row {
			lines = append(lines, nil)
		}
		for len(lines[row]) <= col {
			lines[row] = append(lines[row], ' ')
		}
		lines[row][col] = c
		col++
	}
	code := regexp.MustCompile(`^\x1b\[(\?)?(\d*)(?:;\d+)*([A-Za-z])`)
	for len(raw) > 0 {
		if m := code.FindStringSubmatch(raw); m != nil {
			raw = raw[len(m[0]):]
			n, err := strconv.Atoi(m[2])
			if err != nil {
				n = 1
			}
			switch m[3] {
			case "A":
				row = max(0, row-n)
			case "B":
				row += n
			case "C":
				col += n
			case "D":
				col = max(0, col-n)
			case "G":
				col = max(0, n-1)
			case "J", "K":
				if row < len(lines) {
					if m[2] == "2" {
						lines[row] = nil
					}
					lines[row] = lines[row][:min(col, len(lines[row]))]
					if m[3] == "J" {
						lines = lines[:row+1]
					}
				}
			}
			continue
		}
		switch c := raw[0]; c {
		case '\n':
			row++
		case '\r':
			col = 0
		default:
			put(c)
		}
		raw = raw[1:]
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(string(line), " ") + "\n")
	}
	return b.String()
}
