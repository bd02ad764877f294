//go:build !cgo

package cudart

import "errors"

// Driver is a loaded CUDA driver; a build without cgo cannot load one.
type Driver struct{}

// NVML is NVIDIA's management library; a build without cgo cannot load it.
type NVML struct{}

// NVTX puts ranges into a profiler's timeline; in a build without cgo it does nothing.
type NVTX struct{}

// ErrNoCgo is the error of Load in a build without cgo.
var ErrNoCgo = errors.New("this program was built without cgo (CGO_ENABLED=0) and cannot load CUDA; build it with a " +
	"C compiler")

// Load always fails in a build without cgo, with ErrNoCgo.
func Load(Options) (*Driver, error) { return nil, ErrNoCgo }

// LoadNVML always fails in a build without cgo, with ErrNoCgo.
func LoadNVML([]string) (*NVML, error) { return nil, ErrNoCgo }

// LoadNVTX always fails in a build without cgo, with ErrNoCgo.
func LoadNVTX() (*NVTX, error) { return nil, ErrNoCgo }
