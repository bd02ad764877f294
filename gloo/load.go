//go:build cgo

package gloo

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror
#include "call.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"path/filepath"

	"busbar/internal/dl"
)

const shimFile = "busbar-gloo.so"

// Library is a loaded library. Its contexts are independent of each other.
type Library struct {
	t    *C.table
	info Info
}

// Load opens the shim and through it libgloo: the file at path, or with "" the one in busbar's own folders. The error
// is a *dl.LoadError.
func Load(path string) (*Library, error) {
	candidates := []string{path}
	if path == "" {
		candidates = nil
		for _, dir := range dl.Folders() {
			candidates = append(candidates, filepath.Join(dir, shimFile))
		}
	}
	lib, err := dl.Open(dl.Spec{Name: "busbar's shim for Gloo, " + shimFile + ",", Candidates: candidates,
		Remedy: build})
	if failed := new(dl.LoadError); errors.As(err, &failed) {
		failed.Remedy = advice(failed.Tried)
	}
	if err != nil {
		return nil, err
	}
	symbol, err := lib.Symbol("busbar_gloo")
	if err != nil {
		return nil, &dl.LoadError{Problem: fmt.Sprintf("%s is not the Gloo shim of busbar (%v)", lib.Path(), err),
			Remedy: build}
	}
	if abi := *(*uint32)(symbol); abi != C.BUSBAR_GLOO_ABI {
		return nil, &dl.LoadError{
			Problem: fmt.Sprintf("%s is a shim of another version of busbar: its table has number "+
				"%d, this program needs %d; rebuild it", lib.Path(), abi, C.BUSBAR_GLOO_ABI),
			Remedy: build,
		}
	}
	l := &Library{t: (*C.table)(symbol)}
	l.info = Info{Version: C.GoString(l.t.version), Path: C.GoString(C.call_path(l.t)), ShimPath: lib.Path()}
	if real, err := filepath.EvalSymlinks(l.info.Path); err == nil {
		l.info.Path = real
	}
	l.info.BuildID = dl.BuildID(l.info.Path)
	return l, nil
}

// Info describes the library.
func (l *Library) Info() Info { return l.info }
