//go:build cgo

package cublas

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror
#include <stdlib.h>
#include "call.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unsafe"

	"busbar/internal/dl"
)

// Library is a loaded library. What it makes belongs to the device that is current on the calling OS thread.
type Library struct {
	t    *C.struct_busbar_cublas // C memory, which lives as long as the process
	info Info
}

// Load opens the newest cuBLAS that the driver can serve and fills the table of its functions; nothing of it starts yet. The
// error is a *LoadError.
func Load(o Options) (*Library, error) {
	candidates, none := o.find()
	for _, c := range candidates {
		openBeside(c)
	}
	lib, err := dl.Open(dl.Spec{Name: "cuBLAS", Candidates: candidates})
	if err != nil {
		failed := &LoadError{Tried: none}
		var missing *dl.NotFoundError
		if errors.As(err, &missing) {
			failed.Tried = append(missing.Tried, none...)
		}
		return nil, failed
	}
	l := &Library{t: (*C.struct_busbar_cublas)(C.calloc(1, C.sizeof_struct_busbar_cublas)), info: Info{Path: lib.Path(), BuildID: lib.BuildID()}}
	for i := range int(C.busbar_cublas_symbol_count) {
		s := C.cublas_symbol(C.int(i))
		address, err := lib.Symbol(C.GoString(s.name))
		switch {
		case err == nil:
			*(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(l.t), s.offset)) = address
		case s.required != 0:
			return nil, &LoadError{Reason: fmt.Sprintf("%s cannot be used: it lacks %s, which cuBLAS has", lib.Path(), C.GoString(s.name))}
		}
	}
	_, err = lib.Symbol("busbar_rehearsal_cublas")
	l.info.Rehearsed = err == nil
	if l.info.Version, err = l.version(); err != nil {
		return nil, &LoadError{Reason: fmt.Sprintf("%s does not say its version: %v", lib.Path(), err)}
	}
	return l, nil
}

// openBeside opens the library's other half where it lies in the same folder: libcublas needs libcublasLt, and not every
// package tells the loader where that is. Where it cannot be opened the loader says of libcublas what is missing.
func openBeside(candidate string) {
	dir, file := filepath.Split(candidate)
	if dir == "" {
		return
	}
	_, _ = dl.Open(dl.Spec{Name: "cuBLASLt", Candidates: []string{dir + strings.Replace(file, "libcublas.so", "libcublasLt.so", 1)}})
}

// version asks part by part: the number that cublasGetVersion_v2 gives has been put together in two ways.
func (l *Library) version() (string, error) {
	var parts [3]string
	for i := range parts {
		var value C.int
		if err := check("cublasGetProperty", C.cublas_property(l.t, C.int(i), &value)); err != nil {
			return "", err
		}
		parts[i] = fmt.Sprint(int(value))
	}
	return strings.Join(parts[:], "."), nil
}

// Info describes the library.
func (l *Library) Info() Info { return l.info }

func check(op string, rc C.int) error {
	if rc == 0 {
		return nil
	}
	return &Error{Op: op, Code: int(rc)}
}
