//go:build cgo

package nccl

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror
#include <stdlib.h>
#include "call.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"

	"busbar/internal/dl"
	"busbar/internal/operation"
)

// Library is a loaded library. What it makes belongs to the device that is current on the calling OS thread, so callers
// lock theirs.
type Library struct {
	t    *C.struct_busbar_nccl
	info Info
}

// ncclxSymbols are functions that only NCCLX has.
var ncclxSymbols = []string{"ncclCommGetUniqueHash", "ncclReduceScatterQuantize", "ncclAllReduceSparseBlock"}

// Load opens an NCCL-compatible library and fills the table of its functions; it starts nothing. Without a path
// or folders it tries the loader's path, the Python packages of the active environment (VIRTUAL_ENV, CONDA_PREFIX), of
// the python3 of PATH, of the user and of the system, and the usual folders. The error is a *dl.LoadError.
//
// Set the library's environment before: the library may keep what it has read.
func Load(o Options) (*Library, error) {
	candidates, none := o.find()
	lib, err := dl.Open(dl.Spec{Name: "NCCL", Candidates: candidates, Remedy: o.advice()})
	if failed := new(dl.LoadError); errors.As(err, &failed) {
		failed.Problem = "no NCCL library (" + library + ") could be loaded"
		if o.Path != "" {
			failed.Problem = fmt.Sprintf("no NCCL library could be loaded (--nccl %s)", o.Path)
		}
		failed.Tried = append(failed.Tried, none...)
	}
	if err != nil {
		return nil, err
	}
	unusable := func(format string, args ...any) error {
		return &dl.LoadError{Problem: lib.Path() + fmt.Sprintf(format, args...), Remedy: o.advice()}
	}
	l := &Library{t: (*C.struct_busbar_nccl)(C.calloc(1, C.sizeof_struct_busbar_nccl))}
	l.info = Info{Path: lib.Path(), BuildID: lib.BuildID(), CUDA: builtFor(lib.Path())}
	missing := lib.Fill(unsafe.Pointer(l.t), symbols())
	if required := dl.Required(missing); required != nil {
		return nil, unusable(" cannot be used: it lacks %s, so it is not NCCL-compatible, or only "+
			"a part of such a library", dl.Names(required))
	}
	for _, s := range missing {
		if s.Since != 0 {
			l.info.Missing = append(l.info.Missing, s.Name)
		}
	}
	if err := l.describe(lib); err != nil {
		return nil, unusable(" cannot be used: reading its version failed: %v", err)
	}
	if o.NCCLX && !has(lib, ncclxSymbols...) {
		return nil, unusable(" is %s %s, not NCCLX: it has no NCCLX functions (%s)", l.info.Name,
			l.info.Version, strings.Join(ncclxSymbols, ", "))
	}
	return l, nil
}

func symbols() []dl.Symbol {
	return dl.Symbols(unsafe.Pointer(&C.busbar_nccl_symbols), int(C.busbar_nccl_symbol_count))
}

func (l *Library) describe(lib *dl.Library) error {
	var code C.int
	if err := l.check("ncclGetVersion", C.nccl_version(l.t, &code), nil); err != nil {
		return err
	}
	l.info.Code = int(code)
	l.info.Version = versionText(l.info.Code)
	l.info.Name = NameNCCL
	switch {
	case l.t.rehearsal_version != nil:
		l.info.Name, l.info.Rehearsed = NameRehearsal, true
	case has(lib, ncclxSymbols...):
		l.info.Name = NameNCCLX
	case strings.Contains(C.GoString(C.nccl_error_string(l.t, internalError)), "MSCCLPP"):
		l.info.Name = NameMSCCLPP
	}
	return nil
}

func has(lib *dl.Library, symbols ...string) bool {
	for _, name := range symbols {
		if _, err := lib.Symbol(name); err == nil {
			return true
		}
	}
	return false
}

// Info describes the library.
func (l *Library) Info() Info { return l.info }

// Parameters are the NCCL_* parameters in force, as the library reports them; nil if it does not (before NCCL 2.30).
func (l *Library) Parameters() map[string]string {
	if l.t.parameter == nil || l.t.parameter_keys == nil {
		return nil
	}
	// The texts belong to the OS thread that asked.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var keys **C.char
	var count, length C.int
	if C.nccl_parameter_keys(l.t, &keys, &count) != 0 {
		return nil
	}
	all := map[string]string{}
	for _, key := range unsafe.Slice(keys, count) {
		var value *C.char
		if C.nccl_parameter(l.t, key, &value, &length) == 0 && value != nil {
			all[C.GoString(key)] = C.GoString(value)
		}
	}
	return all
}

// Phase reports the program's phase to a simulation, for faults of that phase. It has no effect on other libraries.
func (l *Library) Phase(name string) {
	if l.t.rehearsal_phase == nil {
		return
	}
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	C.nccl_phase(l.t, text)
}

// NewID makes the id of a new communicator; it opens a socket that the other ranks connect to. The error is an
// *Error.
func (l *Library) NewID() (ID, error) {
	var id C.nccl_id
	err := l.check("ncclGetUniqueId", C.nccl_unique_id(l.t, &id), nil)
	return *(*ID)(unsafe.Pointer(&id)), err
}

// MemAlloc allocates device memory in NCCL's preferred way (ncclMemAlloc) and returns its address. The error is an
// *operation.UnsupportedError or an *Error.
func (l *Library) MemAlloc(bytes int64) (uint64, error) {
	if l.t.mem_alloc == nil || l.t.mem_free == nil {
		return 0, l.lacks("ncclMemAlloc")
	}
	var p unsafe.Pointer
	err := l.check("ncclMemAlloc", C.nccl_mem_alloc(l.t, &p, C.size_t(bytes)), nil)
	return uint64(uintptr(p)), err
}

// MemFree frees memory of MemAlloc; it does nothing for 0.
func (l *Library) MemFree(p uint64) error {
	if p == 0 {
		return nil
	}
	return l.check("ncclMemFree", C.nccl_mem_free(l.t, C.uint64_t(p)), nil)
}

func (l *Library) lacks(function string) error {
	return operation.Unsupported("%s %s (%s) has no %s", l.info.Name, l.info.Version, l.info.Path, function)
}

// check makes an error of a code: an *Error or ErrInterrupted.
func (l *Library) check(op string, rc C.int, comm C.nccl_comm) error {
	code := int(rc)
	switch code {
	case 0:
		return nil
	case interruptedCode:
		return ErrInterrupted
	}
	e := &Error{Op: op, Code: code, Name: resultName(code), mscclpp: l.info.Name == NameMSCCLPP}
	e.Text = C.GoString(C.nccl_error_string(l.t, rc))
	if l.t.last_error != nil {
		e.Last = strings.TrimSpace(C.GoString(C.nccl_last_error(l.t, comm)))
	}
	return e
}
