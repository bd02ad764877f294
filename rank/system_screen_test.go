package main

import (
	"regexp"
	"strings"
	"testing"

	"busbar/internal/result"
)

// tableRow is a complete row with values.
var tableRow = regexp.MustCompile(
	`^ +\d+ +\d+ +float32 +sum +- +(out|in) (thr|lat) +[\d.]+ +[\d.>-]+ +[\d.]+ +[\d.]+ 0$`,
)

// screenArgs are a few points, some skipped with a long reason, with results in ./results.
var screenArgs = flags("--collective all_reduce --elements 16,1K,4K,1T --mode both -n 20")

// checkScreen checks the output: complete rows, comments, at most 80 columns.
func checkScreen(t *testing.T, text string, rows int) {
	t.Helper()
	found := 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case len(line) > 80 && !strings.HasPrefix(line, "# results: "): // paths are never wrapped
			t.Errorf("wider than 80 columns: %q", line)
		case tableRow.MatchString(line):
			found++
		case line != "" && line[0] != '#' && !strings.HasSuffix(line, "skipped"):
			t.Errorf("neither a row nor a comment: %q", line)
		}
	}
	if found != rows {
		t.Errorf("%d rows, want %d:\n%s", found, rows, text)
	}
}

// Results go to stdout, errors to stderr; --quiet prints nothing.
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
			has(t, o.stdout, "# points: 6 ok, 2 skipped", "# next: post report /", "# results: ")
		}
	}
}

// A run without a launcher first prints that its world size is 1; a launch of one rank does not.
func TestWorldOfOne(t *testing.T) {
	t.Parallel()
	for mpirun, hint := range map[string]bool{alone: true, openMPI: false} {
		_, o := rankRun{mpirun: mpirun, np: 1, args: few}.measured(t)
		if strings.HasPrefix(o.stdout, "# World size is 1 (no launcher)") != hint {
			t.Errorf("%s: %s", mpirun, o)
		}
	}
}
