package main

import (
	"math"
	"testing"

	"github.com/shoenig/test"
)

func TestCompare(t *testing.T) {
	ours, bare := make([]float64, 25), make([]float64, 25)
	for i := range ours {
		bare[i] = 1e-6 * float64(1+i%5)
		ours[i] = bare[i] * (1 + float64(i-12)/1000)
	}
	r := compare(ours, bare)
	// The 8th and the 18th of 25 hold the median in 95.7 % of cases.
	if math.Abs(r.median-1) > 1e-9 || math.Abs(r.lo-0.995) > 1e-9 || math.Abs(r.hi-1.005) > 1e-9 || r.pairs != 25 {
		t.Errorf("got %+v", r)
	}
}

func TestWithin(t *testing.T) {
	r := ratio{hi: 1.06, bare: 1e-6}
	for _, c := range []struct {
		limit, slack float64
		want         string
	}{{1.06, 0, "yes"}, {1.05, 0, "no"}, {1.05, 11e-9, "yes"}, {1.05, 9e-9, "no"}} {
		test.EqOp(t, c.want, r.within(c.limit, c.slack), test.Sprint(c.limit, c.slack))
	}
}

func TestOperations(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    int
	}{{1e-7, 4096}, {1e-6, 1000}, {1e-4, 20}, {0.01, 10}, {1, 4}} {
		test.EqOp(t, c.want, operations(c.seconds, 4096), test.Sprint(c.seconds))
	}
}
