package main

import (
	"fmt"
	"os"
	"path/filepath"
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

