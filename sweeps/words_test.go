package sweeps

import (
	"math"
	"slices"
	"testing"
	"time"

	"busbar/internal/coll"
)

func TestParsePercent(t *testing.T) {
	for text, want := range map[string]float64{"2%": 0.02, " 0.5 % ": 0.005, "0.02": 0.02, "99.9%": 0.999} {
		if got, err := ParsePercent(text); err != nil || math.Abs(got-want) > 1e-15 {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"2", "0", "-2%", "100%", "NaN", "Inf", "%", "", "two"} {
		if got, err := ParsePercent(text); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"10s": 10 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, " 250ms ": 250 * time.Millisecond,
		"90":  90 * time.Second,
		"0.5": 500 * time.Millisecond, "0": 0, "1e3": 1000 * time.Second,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"-1", "-3s", "1e300", "NaN", "inf", "10 sec", ""} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
	if got, err := ParseBudget("0"); err == nil {
		t.Errorf("a budget of 0: got %v", got)
	}
}

func TestWords(t *testing.T) {
	got, err := Words("allreduce, bcast,all_reduce", ParseCollectives)
	if err != nil || !slices.Equal(got, []coll.Collective{coll.AllReduce, coll.Broadcast}) {
		t.Errorf("got %v, %v", got, err)
	}
	if all, err := Words("sendrecv,ALL", ParseCollectives); err != nil || len(all) != len(coll.Collectives()) ||
		all[0] != coll.SendRecv {
		t.Errorf("got %v, %v", all, err)
	}
	if modes, err := Words("both", ParseModes); err != nil || len(modes) != 2 {
		t.Errorf("got %v, %v", modes, err)
	}
	if roots, err := Words("2,-1,all", ParseRoots); err != nil || !slices.Equal(roots, []int{2, EveryRoot}) {
		t.Errorf("got %v, %v", roots, err)
	}
	for _, list := range []string{"", "reduce,", "reduce,,gather"} {
		if got, err := Words(list, ParseCollectives); err == nil {
			t.Errorf("%q: got %v", list, got)
		}
	}
	if _, err := Words("sum,nnone", ParseOps); err == nil {
		t.Error("nnone passed")
	}
	if _, err := Words("4294967297", ParseRoots); err == nil {
		t.Error("a root of 33 bits passed")
	}
}
