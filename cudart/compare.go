//go:build cgo

package cudart

/*
#include "compare.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

const (
	compareThreads = 8       // as many saturate a host's memory, and leave some to the other ranks
	comparePart    = 1 << 20 // bytes that are worth a thread
)

// Near is the tolerance for floats against a table. The zero value compares bit for bit.
type Near struct {
	Bytes    int64  // of an element: 1, 2, 4 or 8
	ULPs     uint64 // units in the last place
	Greatest uint64 // bits of the largest value; larger bits, except the sign, are NaN
}

func (n Near) c() C.struct_busbar_near {
	return C.struct_busbar_near{bytes: C.uint64_t(n.Bytes), ulps: C.uint64_t(n.ULPs), greatest: C.uint64_t(n.Greatest)}
}

// fits checks that lengths and offsets are whole elements.
func (n Near) fits(lengths ...int64) error {
	if n.ULPs == 0 {
		return nil
	}
	if n.Bytes != 1 && n.Bytes != 2 && n.Bytes != 4 && n.Bytes != 8 {
		return fmt.Errorf("cannot compare elements of %d bytes: busbar supports 1, 2, 4 or 8", n.Bytes)
	}
	for _, l := range lengths {
		if l%n.Bytes != 0 {
			return fmt.Errorf("offset or length of %d bytes is not a multiple of the element size %d", l, n.Bytes)
		}
	}
	return nil
}

// differs is the index of the first of n bytes of host memory that differs from the table's, or of the first element
// that is not near it; -1 if all match. Large memory is compared by as many threads as this process has CPUs.
func differs(p unsafe.Pointer, n int64, table []byte, first int64, near Near) int64 {
	period := int64(len(table))
	part := func(from, to int64) int64 {
		start, length, begin := unsafe.Add(p, from), C.int64_t(to-from), C.int64_t((first+from)%period)
		var at int64
		if near.ULPs > 0 {
			at = int64(C.busbar_cuda_far(start, length, unsafe.Pointer(&table[0]), C.int64_t(period), begin, near.c()))
		} else {
			at = int64(C.busbar_cuda_differs(start, length, unsafe.Pointer(&table[0]), C.int64_t(period), begin))
		}
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
	edge := func(i int64) int64 { // between elements of every size
		if i == parts {
			return n
		}
		return n * i / parts &^ 7
	}
	for i := range parts {
		wait.Go(func() { found[i] = part(edge(i), edge(i+1)) })
	}
	wait.Wait()
	for _, at := range found {
		if at >= 0 {
			return at
		}
	}
	return -1
}
