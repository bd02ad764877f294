//go:build cgo

package cudart

/*
#include <stdlib.h>
#include "nvml.h"

static int call_nvml_init(const struct busbar_nvml *t) { return t->init(); }
static const char *call_nvml_text(const struct busbar_nvml *t, int code) { return t->error_text(code); }
static int call_nvml_device(const struct busbar_nvml *t, const char *pci, nvml_device *d) {
	return t->device_by_pci(pci, d);
}
*/
import "C"

import (
	"fmt"
	"unsafe"

	"busbar/internal/dl"
)

// NVML is NVIDIA's management library, which comes with the driver. Nothing that is measured depends on it.
type NVML struct {
	t *C.struct_busbar_nvml
}

// LoadNVML opens and starts libnvidia-ml.so.1 in one of the folders; nil is the loader's path, then the usual folders.
// Without the library the error is a *dl.LoadError.
func LoadNVML(dirs []string) (*NVML, error) {
	lib, err := dl.Open(dl.Spec{Name: "NVIDIA's management library", Candidates: places("libnvidia-ml.so.1", dirs)})
	if err != nil {
		return nil, err
	}
	n := &NVML{t: (*C.struct_busbar_nvml)(C.calloc(1, C.sizeof_struct_busbar_nvml))}
	if missing := dl.Required(lib.Fill(unsafe.Pointer(n.t), dl.Symbols(unsafe.Pointer(&C.busbar_nvml_symbols),
		int(C.busbar_nvml_symbol_count)))); missing != nil {
		return nil, fmt.Errorf("%s lacks %s: update the NVIDIA driver", lib.Path(), dl.Names(missing))
	}
	if err := n.check("nvmlInit_v2", C.call_nvml_init(n.t)); err != nil {
		return nil, err
	}
	return n, nil
}

// Device returns the state of a GPU by its PCI address (Device.PCI). Unsupported and hidden values are unknown. With
// an error the result holds the known values.
func (n *NVML) Device(pci string) (Health, error) {
	h := C.struct_busbar_health{clock: [2]C.int{-1, -1}, reasons: -1, ecc: -1,
		persistence: -1,
		ecc_errors:  -1, celsius: -1, milliwatts: -1}
	address := C.CString(pci)
	defer C.free(unsafe.Pointer(address))
	var device C.nvml_device
	err := n.check("nvmlDeviceGetHandleByPciBusId_v2", C.call_nvml_device(n.t, address, &device))
	if err == nil {
		C.busbar_nvml_ask(n.t, device, &h)
		err = n.check(C.GoString(h.failed), h.code)
	}
	if err != nil {
		err = fmt.Errorf("GPU %s: %w", pci, err)
	}
	out := Health{
		SMClock: int(h.clock[0]), MemoryClock: int(h.clock[1]),
		Throttle: throttle(int64(h.reasons)), ECC: onOff(int(h.ecc)), Persistence: onOff(int(h.persistence)),
		ECCErrors: int64(h.ecc_errors), Temperature: int(h.celsius), Power: -1,
	}
	if h.milliwatts >= 0 {
		out.Power = float64(h.milliwatts) / 1e3
	}
	return out, err
}

func (n *NVML) check(op string, code C.int) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s (NVML code %d)", op, C.GoString(C.call_nvml_text(n.t, code)), int(code))
}
