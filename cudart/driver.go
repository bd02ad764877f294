//go:build cgo

package cudart

/*
#cgo CFLAGS: -std=gnu11 -O3 -Wall -Wextra -Werror
#include <stdlib.h>
#include "call.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"busbar/internal/dl"
)

// Driver is the loaded and started CUDA driver. Its methods may be called from any thread.
type Driver struct {
	t    *C.struct_busbar_cuda // C memory, which lives as long as the process
	info Info
}

// Load opens the driver, fills the table of its functions and starts it (cuInit). The error is a *LoadError.
func Load(o Options) (*Driver, error) {
	lib, err := dl.Open(dl.Spec{Name: "the CUDA driver", Candidates: o.candidates()})
	if err != nil {
		failed := &LoadError{Kernel: kernelModule("/proc")}
		var missing *dl.NotFoundError
		if errors.As(err, &missing) {
			failed.Tried = missing.Tried
		} else {
			failed.Err = err
		}
		return nil, failed
	}
	d := &Driver{
		t:    (*C.struct_busbar_cuda)(C.calloc(1, C.sizeof_struct_busbar_cuda)),
		info: Info{Path: lib.Path(), BuildID: lib.BuildID()},
	}
	if err := d.fill(lib); err != nil {
		return nil, err
	}
	if err := d.check("cuInit", C.call_init(d.t)); err != nil {
		return nil, d.unusable(err)
	}
	return d, nil
}

func (d *Driver) fill(lib *dl.Library) error {
	missing := fill(lib, unsafe.Pointer(d.t), symbols())
	serves := ""
	if d.t.driver_version != nil {
		var version C.int
		if C.call_driver_version(d.t, &version) == 0 {
			d.info.Version = int(version)
			serves = "; it serves " + d.info.String()
		}
	}
	if missing == nil {
		return nil
	}
	var names []string
	newest := 0
	for _, s := range missing {
		names = append(names, fmt.Sprintf("%s (%s)", C.GoString(s.name), versionText(int(s.since))))
		newest = max(newest, int(s.since))
	}
	return &LoadError{Path: d.info.Path, Reason: "it lacks " + strings.Join(names, ", ") + serves,
		Advice: fmt.Sprintf("busbar needs an NVIDIA driver that serves %s or newer: update the driver.",
			versionText(newest))}
}

// fill takes the addresses of symbols into a table. Without an optional one its field stays NULL; required ones that
// are missing are returned.
func fill(lib *dl.Library, table unsafe.Pointer,
	symbols []C.struct_busbar_cuda_symbol) (missing []C.struct_busbar_cuda_symbol) {
	for _, s := range symbols {
		address, err := lib.Symbol(C.GoString(s.name))
		switch {
		case err == nil:
			*(*unsafe.Pointer)(unsafe.Add(table, s.offset)) = address
		case s.required != 0:
			missing = append(missing, s)
		}
	}
	return missing
}

func (d *Driver) unusable(err error) error {
	failed := &LoadError{Path: d.info.Path, Reason: err.Error(), Err: err}
	var e *Error
	if errors.As(err, &e) {
		failed.Advice = startAdvice(e.Code, kernelModule("/proc"))
	}
	return failed
}

func symbols() []C.struct_busbar_cuda_symbol {
	return unsafe.Slice((*C.struct_busbar_cuda_symbol)(unsafe.Pointer(&C.busbar_cuda_symbols)),
		int(C.busbar_cuda_symbol_count))
}

// Info describes the driver.
func (d *Driver) Info() Info { return d.info }

// Table is the *struct busbar_cuda of cuda.h, for C code. Fields of optional functions may be NULL.
func (d *Driver) Table() unsafe.Pointer { return unsafe.Pointer(d.t) }

// ProfilerStart begins what a profiler captures (nsys profile --capture-range=cudaProfilerApi). It needs a current
// context.
func (d *Driver) ProfilerStart() error {
	if d.t.profiler_start == nil {
		return d.unsupported("cuProfilerStart")
	}
	return d.check("cuProfilerStart", C.call_profiler_start(d.t))
}

// ProfilerStop ends what a profiler captures. It needs a current context.
func (d *Driver) ProfilerStop() error {
	if d.t.profiler_stop == nil {
		return d.unsupported("cuProfilerStop")
	}
	return d.check("cuProfilerStop", C.call_profiler_stop(d.t))
}

func (d *Driver) unsupported(symbol string) error {
	e := &UnsupportedError{Symbol: symbol, Driver: d.info}
	for _, s := range symbols() {
		if C.GoString(s.name) == symbol {
			e.Since = int(s.since)
		}
	}
	return e
}

func (d *Driver) check(op string, rc C.result) error {
	if rc == 0 {
		return nil
	}
	var name, text *C.char
	C.call_error(d.t, rc, &name, &text)
	return &Error{Op: op, Code: int(rc), Name: C.GoString(name), Text: C.GoString(text)}
}
