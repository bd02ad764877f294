//go:build cgo

package program

import (
	"sync/atomic"
	"unsafe"
)

// Asked returns the number of operations given to the second thread; from any goroutine.
func (c *Crew) Asked() uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(&c.c.asked.count)))
}

// Computed returns the number of units computed by all threads, and the sum of their results, about 1 per unit.
func (c *Crew) Computed() (units uint64, sum float64) {
	sum = float64(c.c.sum)
	for i := range c.threads - 1 {
		sum += float64(unsafe.Slice(c.c.helper, c.threads-1)[i].sum)
	}
	return uint64(c.c.units), sum
}
