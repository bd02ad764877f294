package stats

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"busbar/internal/needs"
)

// PeerTails is at most its nominal rate, whatever the number of tests besides; outliers do not hide each other.
func TestPeerTails(t *testing.T) {
	fleets := 20000
	if needs.Shortened(t) {
		fleets = 2000
	}
	for _, n := range []int{MinPeers, 9, 16, 64} {
		r, wrong := seeded(uint64(n)), percent{}
		for range fleets {
			least := 1.0
			for _, p := range PeerTails(numbered(normal.sample(r, n))) {
				least = min(least, p*float64(n))
			}
			wrong.add(least <= 0.01)
		}
		wantPercent(t, fmt.Sprint(n, " nodes"), wrong, 0, 1)
	}
	ties := slices.Repeat([]float64{1, 1, 1, 2, 2}, 8)
	ties[0] = 20
	for i, p := range PeerTails(numbered(ties)) {
		if p < 1e-4 != (i == 0) {
			t.Errorf("value %d of ties: p = %g", i, p)
		}
	}
	x := normal.sample(seeded(1), 20)
	for i := range 8 {
		x[i] += 30
	}
	for i, p := range PeerTails(numbered(x)) {
		if p < 1e-4 != (i < 8) {
			t.Errorf("value %d of 20, 8 of which are outliers: p = %g", i, p)
		}
	}
}

func numbered(x []float64) map[int]float64 { return maps.Collect(slices.All(x)) }
