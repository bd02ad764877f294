//go:build cgo

package program

import (
	"sync/atomic"
	"unsafe"
)

// Asked is how many operations the second thread has ever been given; from any goroutine.
func (c *Crew) Asked() uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(&c.c.asked.count)))
}

// Computed is how many units all threads have computed, and the sum of what they came to, which is about 1 for each.
func (c *Crew) Computed() (units uint64, sum float64) {
	sum = float64(c.c.sum)
	for i := range c.threads - 1 {
		sum += float64(unsafe.Slice(c.c.helper, c.threads-1)[i].sum)
	}
	return uint64(c.c.units), sum
}
