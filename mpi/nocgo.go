//go:build !cgo

package mpi

import "errors"

// MPI is a loaded library; in a build without cgo there is none.
type MPI struct{}

// ErrNoCgo says why MPI cannot be loaded.
var ErrNoCgo = errors.New("this program was built without cgo (CGO_ENABLED=0) and cannot load MPI; build it with a C " +
	"compiler")

// Load always fails in a build without cgo, with ErrNoCgo.
func Load(Options) (*MPI, error) { return nil, ErrNoCgo }
