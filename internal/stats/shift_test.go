package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"busbar/internal/golden"
)

// Bounds exclude the true difference about as often as stated, also with outliers and with a correlation of 0.5; in too
// few samples that correlation cannot be seen.
func TestShiftCovers(t *testing.T) {
	const trials = 2000
	for _, k := range golden.Table[struct {
		N                           int
		Correlation, Outliers, Most float64
	}](t, `
		N    Correlation  Outliers  Most
		3    0            0         0.05
		3    0.3          0         0.10
		5    0            0.1       0.05
		5    0.5          0         0.10
		10   0            0.1       0.05
		10   0.5          0         0.10
		20   0.5          0.1       0.08
		100  0.5          0         0.07
	`) {
		r := rand.New(rand.NewPCG(1, uint64(k.N)))
		wrong := 0
		for range trials {
			var sides [2][]float64
			for i := range sides {
				e := r.NormFloat64() / math.Sqrt(1-k.Correlation*k.Correlation)
				for range k.N {
					e = k.Correlation*e + r.NormFloat64()
					v := e + 7*float64(i)
					if r.Float64() < k.Outliers {
						v += 20
					}
					sides[i] = append(sides[i], v)
				}
			}
			if s := ShiftOf(sides[0], sides[1], 0.95); s.Lo > 7 || s.Hi < 7 {
				wrong++
			}
		}
		if share := float64(wrong) / trials; share > k.Most || share < 0.01 {
			t.Errorf("%+v: %.3f", k, share)
		}
	}
}

func TestShiftOfFewSamples(t *testing.T) {
	if s := ShiftOf([]float64{1, 3}, []float64{5, 5, 5}, 0.95); s.Known || s.Change != 3 || s.Lo != 3 || s.Hi != 3 {
		t.Errorf("%+v", s)
	}
	if s := ShiftOf([]float64{1, 1, 1}, []float64{2, 2, 2}, 0.95); !s.Known || s.Lo != 1 || s.Hi != 1 {
		t.Errorf("equal samples: %+v", s)
	}
}
