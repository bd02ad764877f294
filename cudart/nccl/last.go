//go:build cgo

package nccl

// #include "call.h"
import "C"

import "strings"

// LastError is NCCL's last message about an error on this rank, or about what it waits for; "" without one, or if the
// library keeps no such text. It only reads memory, from any goroutine, also while another thread hangs in NCCL.
func (l *Library) LastError() string {
	if l.t.last_error == nil {
		return ""
	}
	return strings.TrimSpace(C.GoString(C.nccl_last_error(l.t, nil)))
}
