package exit

import (
	"errors"
	"fmt"
	"testing"

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
