//go:build cgo

package cudart

/*
#include <stdlib.h>
#include "nvml.h"

static int call_nvml_init(const struct busbar_nvml *t) { return t->init(); }
static int call_nvml_shutdown(const struct busbar_nvml *t) { return t->shutdown(); }
static const char *call_nvml_text(const struct busbar_nvml *t, int code) { return t->error_text(code); }
static int call_nvml_device(const struct busbar_nvml *t, const char *pci, nvml_device *d) { return t->device_by_pci(pci, d); }
static int call_nvml_version(const struct busbar_nvml *t, char *s, unsigned room) { return t->driver_version(s, room); }
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"

	"busbar/internal/dl"
)

// NVML is NVIDIA's management library, which comes with the driver. Nothing that is measured depends on it.
type NVML struct {
	t    *C.struct_busbar_nvml
	path string
}

// LoadNVML opens and starts libnvidia-ml.so.1 in one of the folders; nil is the loader's path, then the usual folders.
// Where there is none the error is a *dl.NotFoundError.
func LoadNVML(dirs []string) (*NVML, error) {
	lib, err := dl.Open(dl.Spec{Name: "NVIDIA's management library", Candidates: places("libnvidia-ml.so.1", dirs)})
	if err != nil {
		return nil, err
	}
	n := &NVML{t: (*C.struct_busbar_nvml)(C.calloc(1, C.sizeof_struct_busbar_nvml)), path: lib.Path()}
	all := unsafe.Slice((*C.struct_busbar_cuda_symbol)(unsafe.Pointer(&C.busbar_nvml_symbols)),
		int(C.busbar_nvml_symbol_count))
	if missing := fill(lib, unsafe.Pointer(n.t), all); missing != nil {
		var names []string
		for _, s := range missing {
			names = append(names, C.GoString(s.name))
		}
		return nil, fmt.Errorf("%s lacks %s: it comes with the driver, which is too old", lib.Path(),
			strings.Join(names, ", "))
	}
	if err := n.check("nvmlInit_v2", C.call_nvml_init(n.t)); err != nil {
		return nil, err
	}
	return n, nil
}

// Path is the file of the library.
func (n *NVML) Path() string { return n.path }

// Driver is the version of NVIDIA's driver: "550.54.15"; "" if it is not told.
func (n *NVML) Driver() string {
	var text [96]C.char
	if n.t.driver_version == nil || C.call_nvml_version(n.t, &text[0], C.uint(len(text))) != 0 {
		return ""
	}
	return C.GoString(&text[0])
}

// Device asks a GPU, by its PCI address (Device.PCI), how it is. What a GPU does not have, or does not tell this user,
// is unknown. With an error what is known is there all the same.
func (n *NVML) Device(pci string) (Health, error) {
	h := C.struct_busbar_health{clock: [2]C.int{-1, -1}, clock_max: [2]C.int{-1, -1}, reasons: -1, ecc: -1,
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
		SMClock: int(h.clock[0]), SMClockMax: int(h.clock_max[0]), MemoryClock: int(h.clock[1]),
		MemoryClockMax: int(h.clock_max[1]),
		Throttle:       throttle(int64(h.reasons)), ECC: onOff(int(h.ecc)), Persistence: onOff(int(h.persistence)),
		ECCErrors: int64(h.ecc_errors), Temperature: int(h.celsius), Power: -1,
	}
	if h.milliwatts >= 0 {
		out.Power = float64(h.milliwatts) / 1e3
	}
	return out, err
}

// Close ends the library's work.
func (n *NVML) Close() error { return n.check("nvmlShutdown", C.call_nvml_shutdown(n.t)) }

func (n *NVML) check(op string, code C.int) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s (NVML code %d)", op, C.GoString(C.call_nvml_text(n.t, code)), int(code))
}
