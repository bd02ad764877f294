//go:build cgo

package cudart

/*
#include "compare.h"
*/
import "C"

import (
	"runtime"
	"sync"
	"unsafe"
)

const (
	compareThreads = 8       // as many saturate a host's memory, and leave some to the other ranks
	comparePart    = 1 << 20 // bytes that are worth a thread
)

// differs is the index of the first of n bytes of host memory that is not the table's, -1 if there is none. Large ones
// are compared by as many threads as this process has CPUs.
func differs(p unsafe.Pointer, n int64, table []byte, first int64) int64 {
	period := int64(len(table))
	part := func(from, to int64) int64 {
		at := int64(C.busbar_cuda_differs(unsafe.Add(p, from), C.int64_t(to-from), unsafe.Pointer(&table[0]), C.int64_t(period),
			C.int64_t((first+from)%period)))
		if at < 0 {
			return -1
		}
		return from + at
	}
	parts := min(compareThreads, int64(runtime.GOMAXPROCS(0)), n/comparePart)
	if parts <= 1 {
		return part(0, n)
	}
	found := make([]int64, parts)
	var wait sync.WaitGroup
	for i := range parts {
		wait.Go(func() { found[i] = part(n*i/parts, n*(i+1)/parts) })
	}
	wait.Wait()
	for _, at := range found {
		if at >= 0 {
			return at
		}
	}
	return -1
}
