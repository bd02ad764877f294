//go:build cgo

package cudart

/*
#include "call.h"
#include "compare.h"
*/
import "C"

import (
	_ "embed"
	"errors"
	"math"
	"unsafe"
)

//go:embed kernels.ptx
var kernelText string

const (
	wordBytes      = 16 // bytes per access of a kernel's thread
	blockThreads   = 256
	residentBlocks = 8       // of a multiprocessor
	cycleRoom      = 1 << 20 // bytes of a table, repeated until it is whole words
	noOffset       = math.MaxUint64
)

// kernels are busbar's own, compiled by the driver for the device, with their place for a table and for what compare
// finds.
type kernels struct {
	m             *Mover
	module        C.cuda_module
	fillWords     C.cuda_function
	compareWords  C.cuda_function
	compareNear   C.cuda_function
	cycle, result Pointer
	room          int64 // bytes at cycle
	blocks        int64 // at most
}

func (m *Mover) loadKernels() (*kernels, error) {
	d := m.c.d
	if !d.hasModules() {
		return nil, d.unsupported(moduleFunctions)
	}
	processors, err := d.attribute(attributeProcessors, m.c.device)
	if err != nil {
		return nil, err
	}
	k := &kernels{m: m, room: min(cycleRoom, m.chunk), blocks: max(1, int64(processors)*residentBlocks)}
	if k.module, err = m.c.loadModule(kernelText); err != nil {
		return nil, err
	}
	k.fillWords, err = m.c.function(k.module, "busbar_fill")
	if err == nil {
		k.compareWords, err = m.c.function(k.module, "busbar_compare")
	}
	if err == nil {
		k.compareNear, err = m.c.function(k.module, "busbar_near")
	}
	if err == nil {
		k.cycle, err = m.c.Alloc(k.room)
	}
	if err == nil {
		k.result, err = m.c.Alloc(8)
	}
	if err != nil {
		return nil, errors.Join(err, k.close())
	}
	return k, nil
}

func (k *kernels) close() error {
	if k == nil {
		return nil
	}
	return errors.Join(k.m.c.Free(k.cycle), k.m.c.Free(k.result), k.m.c.unloadModule(k.module))
}

// take reports whether kernels are available, with room for that table.
func (k *kernels) take(table []byte) bool { return k != nil && cycleBytes(int64(len(table))) <= k.room }

// cycleBytes is the length of a table that is repeated until it is whole words.
func cycleBytes(period int64) int64 {
	whole := period
	for whole%wordBytes != 0 {
		whole *= 2
	}
	return whole
}

// fill starts to fill.
func (k *kernels) fill(p Pointer, bytes int64, table []byte, first int64) error {
	return k.launch("busbar_fill", k.fillWords, p, bytes, table, first, Near{})
}

func (k *kernels) differs(p Pointer, bytes int64, table []byte, first int64, near Near) (int64, error) {
	d, s := k.m.c.d, k.m.stream
	if err := d.check("cuMemsetD8Async", C.call_set_bytes(d.t, C.cuda_pointer(k.result), 0xff, 8, s.s)); err != nil {
		return -1, err
	}
	name, f := "busbar_compare", k.compareWords
	if near.ULPs > 0 {
		name, f = "busbar_near", k.compareNear
	}
	if err := k.launch(name, f, p, bytes, table, first, near); err != nil {
		return -1, err
	}
	if err := k.m.fetch(1, k.result, 8); err != nil {
		return -1, err
	}
	if err := s.Synchronize(); err != nil {
		return -1, err
	}
	if at := *(*uint64)(k.m.host[1]); at != noOffset {
		return int64(at), nil
	}
	return -1, nil
}

// launch brings the table to the device, turned so that it fits the word in which p lies, and starts a kernel.
func (k *kernels) launch(name string, f C.cuda_function, p Pointer, bytes int64, table []byte, first int64,
	near Near) error {
	period, lead := int64(len(table)), int64(p%wordBytes)
	cycle := cycleBytes(period)
	turned := (first%period + period - lead%period) % period
	C.busbar_cuda_repeat(k.m.host[0], C.int64_t(cycle), unsafe.Pointer(&table[0]), C.int64_t(period), C.int64_t(turned))
	if err := k.m.send(k.cycle, 0, cycle); err != nil {
		return err
	}
	perBlock := int64(blockThreads * wordBytes)
	blocks := min(k.blocks, (lead+bytes-1)/perBlock+1)
	rc := C.call_launch(k.m.c.d.t, f, C.uint(blocks), blockThreads, k.m.stream.s, C.cuda_pointer(p), C.uint64_t(bytes),
		C.cuda_pointer(k.cycle), C.uint64_t(cycle/wordBytes), C.cuda_pointer(k.result), near.c())
	return k.m.c.check("cuLaunchKernel of "+name, rc)
}
