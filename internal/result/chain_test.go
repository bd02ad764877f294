package result

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestAncestors holds the bits against walks from run to run, in groups of any shape: chains, forks, circles, runs that
// are not here, older ones that continue younger ones.
func TestAncestors(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 1 + random.IntN(70)
		id := func() string { return fmt.Sprint(random.IntN(n + n/5 + 1)) }
		var files []*source
		parents := map[string][]string{}
		for i := range n {
			run := &Run{ID: fmt.Sprint(i)}
			for range random.IntN(3) {
				run.Resumes = append(run.Resumes, id())
			}
			files = append(files, &source{run: run})
			parents[run.ID] = run.Resumes
		}
		a := ancestors(files)
		for from := range parents {
			reached := map[string]bool{}
			var walk func(string)
			walk = func(at string) {
				for _, p := range parents[at] {
					if !reached[p] {
						reached[p] = true
						walk(p)
					}
				}
			}
			walk(from)
			for to := range parents {
				if want := reached[to] && to != from; a.continues(from, to) != want {
					t.Fatalf("%s continues %s: %v, wanted %v; %v", from, to, !want, want, parents)
				}
			}
		}
	}
	if a := ancestors(nil); a.continues("x", "y") {
		t.Error("a run that is not here continues another")
	}
}
