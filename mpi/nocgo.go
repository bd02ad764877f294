//go:build !cgo

package mpi

import "errors"

// MPI is a loaded library; a build without cgo cannot load one.
type MPI struct{}

// ErrNoCgo is the error of Load in a build without cgo.
var ErrNoCgo = errors.New("this program was built without cgo (CGO_ENABLED=0) and cannot load MPI; build it with a C " +
	"compiler")

// Load always fails in a build without cgo, with ErrNoCgo.
func Load(Options) (*MPI, error) { return nil, ErrNoCgo }
