package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompareSameRuns: each launch counts on both sides, all ratios are exactly 1, and the JSON states the reason.
func TestCompareSameRuns(t *testing.T) {
	for _, n := range []int{1, 6} {
		dir := filepath.Join(t.TempDir(), "a")
		launches{n: n, step: 1, factor: 1, noise: 0.1}.save(t, dir)
		stepLaunches{n: n, step: 1, factor: 1, noise: 0.1}.save(t, dir)
		copied := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		want := "inconclusive"
		if n >= 6 { // as many pairs
			want = "same"
		}
		for name, args := range map[string][]string{
			"folder": {dir, dir}, "copy": {dir, copied}, "limit": {"--fail-above", "1%", dir, dir},
		} {
			t.Run(fmt.Sprintf("%d launches, %s", n, name), func(t *testing.T) { sameRuns(t, n, want, args) })
		}
		if _, code, _ := compareJSON(t, "--fail-on", "warning", dir, dir); code != codeExceeded {
			t.Errorf("--fail-on warning: exit %d", code)
		}
	}
}

func sameRuns(t *testing.T, n int, want string, args []string) {
	t.Helper()
	d, code, stderr := compareJSON(t, args...)
	if code != 0 || stderr != "" || !d.has("same-runs") {
		t.Errorf("exit %d, notices %+v; %s", code, d.Notices, stderr)
	}
	for _, code := range []string{"regression", "speedup", "too-few-launches", "launch-order"} {
		if d.has(code) {
			t.Errorf("notice %s", code)
		}
	}
	check := func(p comparedPoint) {
		t.Helper()
		if p.Ratio == nil || *p.Ratio != 1 || p.Verdict != want || p.More != nil || p.A != p.B || p.A.Launches != n ||
			p.P != nil && *p.P != 1 {
			t.Errorf("%+v", p)
		}
	}
	for _, c := range d.Comparisons {
		for _, p := range c.Points {
			check(p)
		}
		for _, p := range d.Steps.Comparisons[0].Points {
			check(p)
		}
		if len(c.Points) != 14 || len(d.Steps.Comparisons[0].Points) == 0 {
			t.Errorf("%d points, and %d of steps", len(c.Points), len(d.Steps.Comparisons[0].Points))
		}
	}
}

// TestCompareSharedRuns: sides that share some of their runs are refused.
func TestCompareSharedRuns(t *testing.T) {
	dir := t.TempDir()
	ab, b := filepath.Join(dir, "ab"), filepath.Join(dir, "b")
	launches{n: 2, step: 1, factor: 1}.save(t, ab)
	launches{n: 1, step: 1, first: 1, factor: 1}.save(t, b)
	for _, args := range [][]string{{ab, b}, {b, ab}, {b, b, ab}} {
		if _, code, stderr := compareJSON(t, args...); code != codeUsage ||
			!strings.Contains(stderr, "compare different runs") {
			t.Errorf("%v: exit %d; %s", args, code, stderr)
		}
	}
}

// TestCompareReportsFiles: problems of files are notices like all others: in the JSON, for --fail-on, and for --ignore.
func TestCompareReportsFiles(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	launches{n: 4, step: 2, factor: 1}.save(t, a)
	launches{n: 4, step: 2, first: 1, factor: 1}.save(t, b)
	files, err := filepath.Glob(filepath.Join(b, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	f, err := os.OpenFile(files[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"kind":"case"`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if d, code, stderr := compareJSON(t, "--fail-on", "warning", a, b); !d.has("torn-line") || code != codeExceeded ||
		!strings.Contains(stderr, "incomplete") {
		t.Errorf("exit %d, %+v; %s", code, d.Notices, stderr)
	}
	if d, code, stderr := compareJSON(t, "--fail-on", "warning", "--ignore", "torn-line", a, b); d.has("torn-line") ||
		code != 0 || stderr != "" {
		t.Errorf("ignored: exit %d, %+v; %s", code, d.Notices, stderr)
	}
}
