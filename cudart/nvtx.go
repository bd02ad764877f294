//go:build cgo

package cudart

/*
#include <stdlib.h>
#include "nvtx.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"busbar/internal/dl"
)

// NVTX puts named ranges into the timeline of a profiler. A nil one does nothing.
type NVTX struct{}

// LoadNVTX starts the tool that a profiler such as nsys names in NVTX_INJECTION64_PATH; nil where none is named. It
// is called once in a process. As with NVIDIA's own NVTX a tool that is missing or declines is no reason to stop: the
// error is one line with the reason why no ranges are recorded.
func LoadNVTX() (*NVTX, error) {
	path := os.Getenv("NVTX_INJECTION64_PATH")
	if path == "" {
		return nil, nil
	}
	lib, err := dl.Open(dl.Spec{Name: "NVTX tool", Candidates: []string{path}})
	if missing := new(dl.LoadError); errors.As(err, &missing) {
		_, tried, _ := missing.Explain()
		return nil, fmt.Errorf("cannot open the NVTX tool of NVTX_INJECTION64_PATH: %s", tried[0])
	}
	if err != nil {
		return nil, err
	}
	initialize, err := lib.Symbol("InitializeInjectionNvtx2")
	if err != nil {
		return nil, fmt.Errorf("NVTX_INJECTION64_PATH names no NVTX tool: %w", err)
	}
	if C.busbar_nvtx_start(initialize) == 0 {
		return nil, fmt.Errorf("the NVTX tool of NVTX_INJECTION64_PATH declined to start: %s", lib.Path())
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
