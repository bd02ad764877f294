//go:build !cgo

package gloo

import "errors"

// Library is a loaded library; a build without cgo cannot load one.
type Library struct{}

// ErrNoCgo is the error of Load in a build without cgo.
var ErrNoCgo = errors.New("this program was built without cgo (CGO_ENABLED=0) and cannot load Gloo; build it with a " +
	"C compiler")

// Load always fails in a build without cgo, with ErrNoCgo.
func Load(string) (*Library, error) { return nil, ErrNoCgo }
