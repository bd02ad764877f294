package exit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"busbar/internal/dl"
	"busbar/internal/notice/preflights"
	"busbar/internal/result"
	"busbar/mpi"
	"busbar/sweeps"

	"github.com/shoenig/test"
)

func TestExitCodes(t *testing.T) {
	other := errors.New("x")
	for _, k := range []struct {
		err  error
		code int
	}{
		{nil, OK}, {&sweeps.Error{File: "f", Line: 1, Err: other}, Usage}, {Environmentf("x"), Environment},
		{&result.WriteError{Err: other}, Environment}, {&mpi.Error{Op: "MPI_X"}, Failed}, {other, Failed},
		{fmt.Errorf("wrapped: %w", Usagef("x")), Usage},
	} {
		test.EqOp(t, k.code, CodeOf(k.err), test.Sprint(k.err))
	}
}

// An error with parts keeps them when it is sent; another error has its text as problem.
func TestFailureOf(t *testing.T) {
	load := &dl.LoadError{Problem: "none", Tried: []dl.Attempt{{Candidate: "/a", Why: "none"}}, Remedy: "do"}
	for name, c := range map[string]struct {
		err    error
		tried  preflights.Places
		remedy bool
	}{
		"plain":   {errors.New("a; b"), nil, false},
		"library": {With(Environment, load), preflights.Places{"/a: none"}, true},
		"wrapped": {fmt.Errorf("%w\nand more", load), nil, false},
		"ours":    {With(Environment, Remedied("do c", "a: %s", "b")), nil, true},
	} {
		text, err := json.Marshal(FailureOf(c.err))
		var f Failure
		if err != nil || json.Unmarshal(text, &f) != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f.Error() != c.err.Error() || !slices.Equal(f.Parts.Tried, c.tried) || (f.Parts.Remedy != "") != c.remedy {
			t.Errorf("%s: %+v", name, f)
		}
		if !c.remedy && f.Parts.Problem != c.err.Error() {
			t.Errorf("%s: problem %q", name, f.Parts.Problem)
		}
		problem := f.Parts.Problem
		if on := f.On("rank 1"); on.Text != "rank 1: "+c.err.Error() || on.Parts.Problem != "rank 1: "+problem {
			t.Errorf("%s: %+v", name, on)
		}
	}
}
