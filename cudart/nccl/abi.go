//go:build cgo

package nccl

/*
#include <stdlib.h>
#include "call.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"busbar/internal/dl"
)

// Symbol is one function of NCCL that the package uses where a library has it.
type Symbol struct {
	dl.Symbol
	There bool
}

// Symbols are all functions that the package uses, and whether this library has them.
func (l *Library) Symbols() (all []Symbol) {
	for _, s := range symbols() {
		all = append(all, Symbol{s, *(*unsafe.Pointer)(unsafe.Add(unsafe.Pointer(l.t), s.Offset)) != nil})
	}
	return all
}

// ErrorText is the library's text for a result (ncclResult_t).
func (l *Library) ErrorText(code int) string {
	return C.GoString(C.nccl_error_string(l.t, C.int(code)))
}

// CheckConfig hands ncclConfig_t in each of its lengths to the library, which makes a communicator of one rank of it,
// or fails without a GPU; the error names the refused length. Some libraries check for a GPU first: looked
// reports whether this one checks the structure, tested with a wrong mark.
func (l *Library) CheckConfig(id ID) (looked bool, err error) {
	if l.t.init_config == nil {
		return false, l.lacks("ncclCommInitRankConfig")
	}
	try := func(cfg Config, magic C.uint) C.int {
		config := cfg.pass()
		defer C.free(unsafe.Pointer(config))
		config.magic = magic
		c := l.comm()
		rc := C.busbar_nccl_init(c.c, 1, 0, unsafe.Pointer(&id), config)
		if rc == 0 {
			C.busbar_nccl_close(c.c)
		}
		return rc
	}
	for _, cfg := range []Config{{MinCTAs: 1}, {CTAPolicy: 1}} {
		if rc := try(cfg, C.NCCL_CONFIG_MAGIC); rc == invalidArgument {
			return true, fmt.Errorf("%s: %w", cfg, l.check("ncclCommInitRankConfig", rc, nil))
		}
	}
	return try(Config{MinCTAs: 1}, 0) == invalidArgument, nil
}
