//go:build cgo

package cudart

/*
#include <stdlib.h>
#include "nvtx.h"
*/
import "C"

import (
	"fmt"
	"os"
	"unsafe"

	"busbar/internal/dl"
)

// NVTX puts named ranges into the timeline of a profiler. A nil one does nothing.
type NVTX struct{}

// LoadNVTX starts the tool that a profiler such as nsys names in NVTX_INJECTION64_PATH; nil where none is named. It is
// called once in a process.
func LoadNVTX() (*NVTX, error) {
	path := os.Getenv("NVTX_INJECTION64_PATH")
	if path == "" {
		return nil, nil
	}
	lib, err := dl.Open(dl.Spec{Name: "the profiler's NVTX tool (NVTX_INJECTION64_PATH)", Candidates: []string{path}})
	if err != nil {
		return nil, err
	}
	initialize, err := lib.Symbol("InitializeInjectionNvtx2")
	if err != nil {
		return nil, fmt.Errorf("NVTX_INJECTION64_PATH is no NVTX tool: %w", err)
	}
	if C.busbar_nvtx_start(initialize) == 0 {
		return nil, fmt.Errorf("the NVTX tool %s (NVTX_INJECTION64_PATH) does not start: no ranges will be in the profile", lib.Path())
	}
	return &NVTX{}, nil
}

// Push begins a range on the calling OS thread, inside those that are open.
func (n *NVTX) Push(name string) {
	if n == nil {
		return
	}
	text := C.CString(name)
	C.busbar_nvtx_push(text)
	C.free(unsafe.Pointer(text))
}

// Pop ends the innermost range of the calling OS thread.
func (n *NVTX) Pop() {
	if n != nil {
		C.busbar_nvtx_pop()
	}
}
