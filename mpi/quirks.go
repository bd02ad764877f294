package mpi

import (
	"fmt"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/operation"
)

// quirk is the reason to refuse an operation in which a library is known to crash.
func quirk(library string, s operation.Spec) error {
	version, isMPICH := strings.CutPrefix(library, "MPICH ")
	if !isMPICH || s.Collective != coll.Reduce || s.Placement != coll.InPlace || s.Root == 0 {
		return nil
	}
	var major, minor int
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n != 2 {
		return nil
	}
	// github.com/pmodels/mpich/issues/6540 and 6893.
	if at := major*100 + minor; at >= 304 && at < 402 {
		return operation.Unsupported(
			"%s crashes in MPI_Reduce in place when the root is not rank 0 (MPICH issue 6540, fixed in 4.2)", library)
	}
	return nil
}
