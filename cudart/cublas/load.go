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
	"os"
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

// Load opens the newest cuBLAS that the driver can serve and fills the table of its functions; nothing of it starts
// yet. The error is a *dl.LoadError.
func Load(o Options) (*Library, error) {
	lib, err := o.open()
	if err != nil {
		return nil, err
	}
	l := &Library{t: (*C.struct_busbar_cublas)(C.calloc(1, C.sizeof_struct_busbar_cublas)),
		info: Info{Path: lib.Path()}}
	if missing := dl.Required(lib.Fill(unsafe.Pointer(l.t), dl.Symbols(unsafe.Pointer(&C.busbar_cublas_symbols),
		int(C.busbar_cublas_symbol_count)))); missing != nil {
		return nil, &dl.LoadError{Problem: fmt.Sprintf("%s cannot be used: it lacks %s, which cuBLAS has", lib.Path(),
			dl.Names(missing))}
	}
	_, err = lib.Symbol("busbar_rehearsal_cublas")
	l.info.Rehearsed = err == nil
	if l.info.Version, err = l.version(); err != nil {
		return nil, &dl.LoadError{Problem: fmt.Sprintf("cannot read the version of %s: %v", lib.Path(), err)}
	}
	return l, nil
}

// open opens the first candidate that comes with its own libcublasLt. The error is a *dl.LoadError.
func (o Options) open() (*dl.Library, error) {
	candidates, none := o.find()
	failed := &dl.LoadError{Problem: "cuBLAS could not be loaded", Remedy: advice}
	for _, c := range candidates {
		dir, file := filepath.Split(c)
		half := strings.Replace(file, "libcublas.so", "libcublasLt.so", 1)
		if dir != "" {
			// libcublas needs libcublasLt, and not every package records its path for the loader. It is opened with
			// its own candidate only, since the loader gives the first one of that name to every libcublas. Where it
			// cannot be opened, the loader's error for libcublas names what is missing.
			_, _ = dl.Open(dl.Spec{Name: "cuBLASLt", Candidates: []string{dir + half}})
		}
		lib, err := dl.Open(dl.Spec{Name: "cuBLAS", Candidates: []string{c}})
		var missing *dl.LoadError
		if errors.As(err, &missing) {
			failed.Tried = append(failed.Tried, missing.Tried...)
			continue
		}
		if err == nil {
			err = sameFolder(lib.Path(), half)
		}
		if err == nil {
			return lib, nil
		}
		failed.Tried = append(failed.Tried, dl.Attempt{Candidate: c, Why: err.Error()})
	}
	failed.Tried = append(failed.Tried, none...)
	return nil, failed
}

// sameFolder checks that every file in this process whose name begins with half lies in the folder of the library at
// path.
func sameFolder(path, half string) error {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(maps)) {
		_, file, _ := strings.Cut(line, "/")
		file = "/" + strings.TrimSpace(file)
		if strings.HasPrefix(filepath.Base(file), half) && filepath.Dir(file) != filepath.Dir(path) {
			return fmt.Errorf("%s is loaded with %s of another folder; put the folder that holds both first into "+
				"LD_LIBRARY_PATH", path, file)
		}
	}
	return nil
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
