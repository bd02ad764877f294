package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"busbar/internal/coll"
)

// scale maps values of one axis to 0…1 and carries its ticks.
type scale struct {
	min, max float64
	log      bool
	ticks    []tick
}

// tick is a mark on an axis; minor ones have no label.
type tick struct {
	value float64
	label string
}

func (s scale) norm(v float64) float64 {
	if s.log {
		return math.Log(v/s.min) / math.Log(s.max/s.min)
	}
	return (v - s.min) / (s.max - s.min)
}

// newScale fits a scale of the unit to the values; labels is how many tick labels there is room for.
func newScale(u Unit, values []float64, labels int) scale {
	lo, hi := values[0], values[0]
	for _, v := range values {
		lo, hi = math.Min(lo, v), math.Max(hi, v)
	}
	s := scale{log: u != GBps}
	switch u {
	case Bytes:
		s.min, s.max = widen(lo, hi, 1.15, 4)
		s.ticks = binaryTicks(s.min, s.max, labels)
	case Ranks:
		s.min, s.max = widen(lo, hi, 1.12, 2)
		s.ticks = rankTicks(values, labels)
	case Seconds:
		s.min, s.max = widen(lo, hi, 1.3, 8)
		s.ticks = timeTicks(s.min, s.max)
	case Times:
		s.min, s.max = widen(lo, hi, 1.02, 1.1)
		s.ticks = ratioTicks(s.min, s.max, labels)
	default:
		s.min, s.max = 0, hi*1.04
		s.ticks = linearTicks(s.max, labels)
	}
	return s
}

// widen adds a margin to a logarithmic range, and more where it is narrower than the factor least.
func widen(lo, hi, margin, least float64) (float64, float64) {
	if hi/lo < least {
		margin = math.Max(margin, math.Sqrt(least*lo/hi))
	}
	return lo / margin, hi * margin
}

// binaryTicks puts labels at every power of two, or every second, third, fifth or tenth of them.
func binaryTicks(lo, hi float64, labels int) []tick {
	first, last := int(math.Ceil(math.Log2(lo))), int(math.Floor(math.Log2(hi)))
	step := 1
	for _, step = range []int{1, 2, 3, 5, 10, 20} {
		if (last-first)/step < labels {
			break
		}
	}
	var ticks []tick
	for e := max(first, 0); e <= last; e++ {
		t := tick{value: math.Exp2(float64(e))}
		if e%step == 0 {
			t.label = coll.FormatSize(1<<e, true)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// rankTicks labels the worlds that were measured, or their powers of two where they are many.
func rankTicks(worlds []float64, labels int) []tick {
	seen := map[float64]bool{}
	for _, w := range worlds {
		seen[w] = true
	}
	var ticks []tick
	for w := range seen {
		t := tick{value: w}
		if len(seen) <= labels || math.Exp2(math.Round(math.Log2(w))) == w {
			t.label = strconv.Itoa(int(w))
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// timeTicks labels decades of seconds, with 2 and 5 between them where the decades are few.
func timeTicks(lo, hi float64) []tick {
	decades := math.Log10(hi / lo)
	var ticks []tick
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for m := 1; m <= 9; m++ {
			t := tick{value: float64(m) * math.Pow10(e)}
			if t.value < lo || t.value > hi {
				continue
			}
			if m == 1 || decades < 2 && (m == 2 || m == 5) {
				t.label = formatSeconds(t.value)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// linearTicks labels 0, step, 2·step, … with a step of 1, 2 or 5 times a power of ten.
func linearTicks(hi float64, labels int) []tick {
	power := math.Pow10(int(math.Floor(math.Log10(hi / float64(labels)))))
	step := power
	for _, m := range []float64{1, 2, 5, 10} {
		if step = m * power; hi/step <= float64(labels) {
			break
		}
	}
	if !(step > 0) || math.IsInf(step, 0) { // no steps between such values
		return []tick{{0, "0"}}
	}
	decimals := max(0, int(-math.Floor(math.Log10(step)+1e-9)))
	var ticks []tick
	for i := 0; float64(i)*step <= hi; i++ {
		v := float64(i) * step
		ticks = append(ticks, tick{v, strconv.FormatFloat(v, 'f', decimals, 64)})
	}
	return ticks
}

// ratioTicks labels steps of equal difference where the range is narrow, else 0.1, 0.2, 0.5, 1, 2, 5, …
func ratioTicks(lo, hi float64, labels int) (ticks []tick) {
	if hi/lo < 3 {
		for _, t := range linearTicks(hi-lo, labels) { // for their distance
			if step := t.value; step > 0 {
				for i := math.Ceil(lo/step - 1e-9); i*step <= hi; i++ {
					ticks = append(ticks, tick{i * step, strconv.FormatFloat(i*step, 'f', decimalsOf(t.label), 64)})
				}
				return ticks
			}
		}
	}
	for e := math.Floor(math.Log10(lo)); e <= math.Ceil(math.Log10(hi)); e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, e); v >= lo && v <= hi {
				ticks = append(ticks, tick{v, strconv.FormatFloat(v, 'g', 3, 64)})
			}
		}
	}
	return ticks
}

func decimalsOf(label string) int {
	_, fraction, _ := strings.Cut(label, ".")
	return len(fraction)
}

// formatSeconds writes a time with the unit that people use for it: 20 µs, 1 ms, 2 s.
func formatSeconds(s float64) string {
	switch {
	case s < 0.9995e-6:
		return fmt.Sprintf("%.3g ns", s*1e9)
	case s < 0.9995e-3:
		return fmt.Sprintf("%.3g µs", s*1e6)
	case s < 0.9995:
		return fmt.Sprintf("%.3g ms", s*1e3)
	}
	return fmt.Sprintf("%.3g s", s)
}
