//go:build cgo

package cudart

/*
#cgo CFLAGS: -std=gnu11 -O3 -Wall -Wextra -Werror
#include <stdlib.h>
#include "call.h"
*/
import "C"

import (
	"fmt"
	"slices"
	"unsafe"

	"busbar/internal/dl"
)

// Driver is the loaded and started CUDA driver. Its methods may be called from any thread.
type Driver struct {
	t    *C.struct_busbar_cuda // C memory, which lives as long as the process
	info Info
}

// Load opens the driver, fills the table of its functions and starts it (cuInit). The error is a *dl.LoadError.
func Load(o Options) (*Driver, error) {
	kernel := kernelModule("/proc")
	lib, err := dl.Open(dl.Spec{Name: "the CUDA driver, " + library + ",", Candidates: o.candidates(),
		Remedy: installAdvice(kernel)})
	if err != nil {
		return nil, err
	}
	d := &Driver{
		t:    (*C.struct_busbar_cuda)(C.calloc(1, C.sizeof_struct_busbar_cuda)),
		info: Info{Path: lib.Path()},
	}
	missing := dl.Required(lib.Fill(unsafe.Pointer(d.t), symbols()))
	if version := C.int(0); d.t.driver_version != nil && C.call_driver_version(d.t, &version) == 0 {
		d.info.Version = int(version)
	}
	if missing != nil {
		return nil, d.incomplete(missing)
	}
	if err := d.check("cuInit", C.call_init(d.t)); err != nil {
		return nil, &dl.LoadError{
			Problem: fmt.Sprintf("the CUDA driver %s cannot be used: %v", d.info.Path, err),
			Err:     err,
			Remedy:  startAdvice(err.(*Error).Code, kernel),
		}
	}
	return d, nil
}

// incomplete is the error of a driver that lacks functions.
func (d *Driver) incomplete(missing []dl.Symbol) error {
	newest := slices.MaxFunc(missing, func(a, b dl.Symbol) int { return a.Since - b.Since }).Since
	return &dl.LoadError{
		Problem: fmt.Sprintf("the CUDA driver %s cannot be used: it lacks %s", d.info.Path, dl.Names(missing)),
		Remedy: fmt.Sprintf("busbar needs an NVIDIA driver that supports %s or newer: update the driver.",
			versionText(newest)),
	}
}

func symbols() []dl.Symbol {
	return dl.Symbols(unsafe.Pointer(&C.busbar_cuda_symbols), int(C.busbar_cuda_symbol_count))
}

// Info describes the driver.
func (d *Driver) Info() Info { return d.info }

// Table is the *struct busbar_cuda of cuda.h, for C code. Fields of optional functions may be NULL.
func (d *Driver) Table() unsafe.Pointer { return unsafe.Pointer(d.t) }

// ProfilerStart starts a profiler's capture (nsys profile --capture-range=cudaProfilerApi). It needs a current
// context.
func (d *Driver) ProfilerStart() error {
	if d.t.profiler_start == nil {
		return d.unsupported("cuProfilerStart")
	}
	return d.check("cuProfilerStart", C.call_profiler_start(d.t))
}

// ProfilerStop ends a profiler's capture. It needs a current context.
func (d *Driver) ProfilerStop() error {
	if d.t.profiler_stop == nil {
		return d.unsupported("cuProfilerStop")
	}
	return d.check("cuProfilerStop", C.call_profiler_stop(d.t))
}

func (d *Driver) unsupported(symbol string) error {
	e := &UnsupportedError{Symbol: symbol, Driver: d.info}
	for _, s := range symbols() {
		if s.Name == symbol {
			e.Since = s.Since
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
