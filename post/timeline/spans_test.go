package timeline

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"busbar/post/trace"
)

// drawn are spans on a short line, so that they nest, touch, repeat and are empty often.
func drawn(r *rand.Rand, line int64) []trace.Span {
	all := make([]trace.Span, r.IntN(12))
	for i := range all {
		all[i].Start = r.Int64N(line)
		all[i].End = all[i].Start + r.Int64N(line-all[i].Start+1)
		if r.IntN(4) == 0 {
			all[i].End = all[i].Start
		}
		if i > 0 && r.IntN(5) == 0 {
			all[i] = all[i-1]
		}
	}
	return all
}

// set makes a set of spans in any order.
func set(of []trace.Span) (s spans) {
	slices.SortFunc(of, func(a, b trace.Span) int { return cmp.Compare(a.Start, b.Start) })
	for _, a := range of {
		s = s.with(a)
	}
	return s
}

// inked says of every moment of the line whether a span has it.
func inked(of []trace.Span, line int64) []bool {
	ink := make([]bool, line)
	for _, s := range of {
		for t := s.Start; t < s.End; t++ {
			ink[t] = true
		}
	}
	return ink
}

func TestSetsAgreeWithEveryMoment(t *testing.T) {
	const line = 40
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		a, b := drawn(r, line), drawn(r, line)
		x, y := set(a), set(b)
		inA, inB := inked(a, line), inked(b, line)
		check := func(what string, got spans, want func(i int) bool) {
			t.Helper()
			var sum int64
			ink := inked(got, line)
			for i := range ink {
				if ink[i] != want(i) {
					t.Fatalf("%s of %v and %v is %v: wrong at %d", what, a, b, got, i)
				}
				if ink[i] {
					sum++
				}
			}
			if got.length() != sum {
				t.Fatalf("%s of %v and %v is %d long, want %d", what, a, b, got.length(), sum)
			}
			for i, s := range got {
				if s.End <= s.Start || i > 0 && s.Start <= got[i-1].End {
					t.Fatalf("%s of %v and %v is %v, which is no set", what, a, b, got)
				}
			}
			w := trace.Span{Start: r.Int64N(line), End: r.Int64N(line)}
			sum = 0
			for i := w.Start; i < w.End; i++ {
				if ink[i] {
					sum++
				}
			}
			if m := got.measure().in(w); m != sum {
				t.Fatalf("%v has %d in %v, want %d", got, m, w, sum)
			}
		}
		check("union of one", x, func(i int) bool { return inA[i] })
		check("union", x.or(y), func(i int) bool { return inA[i] || inB[i] })
		check("intersection", x.and(y), func(i int) bool { return inA[i] && inB[i] })
		check("difference", x.without(y), func(i int) bool { return inA[i] && !inB[i] })
	}
}
