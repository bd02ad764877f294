//go:build !cgo

package dl

import (
	"errors"
	"unsafe"
)

// Library is an open shared library; a build without cgo opens none.
type Library struct{}

// ErrNoCgo is the reason why no library can be opened.
var ErrNoCgo = errors.New("this program was built without cgo (CGO_ENABLED=0) and cannot open shared libraries; " +
	"build it with a C compiler")

// Open always fails in a build without cgo, with ErrNoCgo.
func Open(Spec) (*Library, error) { return nil, ErrNoCgo }

// Path is empty in a build without cgo.
func (*Library) Path() string { return "" }

// BuildID is empty in a build without cgo.
func (*Library) BuildID() string { return "" }

// Symbol always fails in a build without cgo, with ErrNoCgo.
func (*Library) Symbol(string) (unsafe.Pointer, error) { return nil, ErrNoCgo }
