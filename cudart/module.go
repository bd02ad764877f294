//go:build cgo

package cudart

/*
#include <stdlib.h>
#include "call.h"
*/
import "C"

import "unsafe"

// moduleFunctions are those that busbar's kernels need.
const moduleFunctions = "cuModuleLoadDataEx, cuModuleUnload, cuModuleGetFunction or cuLaunchKernel"

func (d *Driver) hasModules() bool {
	return d.t.module_load != nil && d.t.module_unload != nil && d.t.module_function != nil && d.t.launch_kernel != nil
}

// loadModule has the driver compile a text of PTX for the device.
func (c *Context) loadModule(ptx string) (m C.cuda_module, err error) {
	text := C.CString(ptx)
	defer C.free(unsafe.Pointer(text))
	err = c.check("cuModuleLoadDataEx", C.call_module_load(c.d.t, &m, unsafe.Pointer(text)))
	return m, err
}

// unloadModule does nothing for a module that was never loaded.
func (c *Context) unloadModule(m C.cuda_module) error {
	if m == nil {
		return nil
	}
	return c.check("cuModuleUnload", C.call_module_unload(c.d.t, m))
}

func (c *Context) function(m C.cuda_module, name string) (f C.cuda_function, err error) {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	err = c.check("cuModuleGetFunction of "+name, C.call_module_function(c.d.t, &f, m, text))
	return f, err
}
