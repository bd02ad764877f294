package bench

import "testing"

func TestWaysOf(t *testing.T) {
	for _, c := range []struct {
		ranks [ways]int
		want  string
	}{{[ways]int{4, 0, 0}, "in place"}, {[ways]int{0, 0, 1}, "pinned host memory"}, {[ways]int{0, 3, 1}, "kernels (3 ranks), pinned host memory (1 rank)"}} {
		if got := waysOf(c.ranks); got != c.want {
			t.Errorf("%v: %q, want %q", c.ranks, got, c.want)
		}
	}
}
