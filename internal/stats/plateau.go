package stats

// Plateau is a range of sizes over which bandwidth does not rise, though larger sizes reach more. From and To are
// places of its first and last size.
type Plateau struct {
	From, To int
	Level    float64 // bytes/s, size by time, in the middle of the range by size
	Later    float64 // bytes/s, the most that the trend reaches at larger sizes
}

const (
	// flat is how far the bandwidths of a plateau lie apart at most, largest by smallest.
	flat = 1.10
	// leastPlateau and plateauSpan are the least sizes of a plateau, and the least ratio of its last to its first.
	leastPlateau = 3
	plateauSpan  = 4
	// reachedLater is how much more larger sizes reach at least.
	reachedLater = 1.25
)

// FindPlateaus looks for plateaus in what a trend says, so that neither noise nor what stands out makes or hides one.
// sizes are those of FindTrend.
func FindPlateaus(sizes []float64, t Trend) (found []Plateau) {
	b := t.bandwidths(sizes)
	for from := 0; from < len(b); from++ {
		least, most, to := b[from], b[from], from
		for i := from + 1; i < len(b); i++ {
			least, most = min(least, b[i]), max(most, b[i])
			if most > flat*least {
				break
			}
			to = i
		}
		p := Plateau{From: from, To: to, Level: b[(from+to)/2]}
		for _, later := range b[to+1:] {
			p.Later = max(p.Later, later)
		}
		if to-from+1 >= leastPlateau && sizes[to] >= plateauSpan*sizes[from] && p.Later >= reachedLater*p.Level {
			found, from = append(found, p), to
		}
	}
	return found
}

// bandwidths are those of the trend, in bytes/s; none where it says nothing.
func (t Trend) bandwidths(sizes []float64) (b []float64) {
	if t.Segments == nil {
		return nil
	}
	for i, s := range sizes {
		b = append(b, s/t.At(i, s))
	}
	return b
}
