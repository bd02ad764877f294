//go:build cgo

package nccl

/*
#include <stdlib.h>
#include "call.h"
*/
import "C"

import (
	"unsafe"

	"busbar/internal/operation"
)

// Comm is a communicator. Its methods belong to one thread, the one on which its device is current, except Interrupt.
type Comm struct {
	l *Library
	// Stays until the process ends, a few bytes: operations of an aborted communicator still look at it.
	c          *C.struct_busbar_nccl_comm
	rank, size int
}

// Init makes this process a rank of a communicator of that size; all its ranks call it with one id, which a rank made
// with NewID, and with the same configuration. It returns when the communicator can be used, also where its own calls
// do not block (NCCL_COMM_BLOCKING=0). The error is an *operation.UnsupportedError or an *Error.
func (l *Library) Init(size, rank int, id ID, cfg Config) (*Comm, error) {
	if err := l.carries(cfg); err != nil {
		return nil, err
	}
	c := l.comm()
	config, function := cfg.pass(), "ncclCommInitRank"
	if config != nil {
		defer C.free(unsafe.Pointer(config))
		function = "ncclCommInitRankConfig"
	}
	rc := C.busbar_nccl_init(c.c, C.int(size), C.int(rank), unsafe.Pointer(&id), config)
	if err := c.check(function, rc); err != nil {
		return nil, c.drop(err)
	}
	c.rank, c.size = rank, size
	return c, nil
}

func (l *Library) comm() *Comm {
	c := (*C.struct_busbar_nccl_comm)(C.calloc(1, C.sizeof_struct_busbar_nccl_comm))
	c.t = l.t
	return &Comm{l: l, c: c}
}

// drop discards a communicator that was created only in part.
func (c *Comm) drop(err error) error {
	if c.c.comm != nil && c.l.t.abort != nil {
		C.busbar_nccl_abort(c.c)
	}
	return err
}

// carries refuses a configuration that the library would ignore. The symbols that came with a field show whether the
// library knows it, not the version.
func (l *Library) carries(cfg Config) error {
	bytes, _ := cfg.prefix()
	switch {
	case bytes == 0:
		return nil
	case l.info.Name == NameMSCCLPP:
		return operation.Unsupported("MSCCL++ ignores ncclConfig_t; leave out %s", cfg)
	case l.t.init_config == nil:
		return l.lacks("ncclCommInitRankConfig")
	case l.t.split == nil || cfg.CTAPolicy != 0 && l.t.window_register == nil:
		return operation.Unsupported("%s %s is older than %s and would ignore it", l.info.Name, l.info.Version, cfg)
	}
	return nil
}

// pass makes the structure in C memory; nil if nothing is set.
func (c Config) pass() *C.struct_nccl_config {
	bytes, version := c.prefix()
	if bytes == 0 {
		return nil
	}
	set := func(value int) C.int {
		if value == 0 {
			return C.NCCL_UNSET
		}
		return C.int(value)
	}
	config := (*C.struct_nccl_config)(C.calloc(1, C.sizeof_struct_nccl_config))
	*config = C.struct_nccl_config{
		size: C.size_t(bytes), magic: C.NCCL_CONFIG_MAGIC, version: C.uint(version), blocking: 1,
		cga_cluster_size: C.NCCL_UNSET, min_ctas: set(c.MinCTAs), max_ctas: set(c.maxCTAs()), split_share: C.NCCL_UNSET,
		traffic_class: C.NCCL_UNSET, collnet_enable: C.NCCL_UNSET, cta_policy: set(c.CTAPolicy),
		shrink_share: C.NCCL_UNSET, nvls_ctas: C.NCCL_UNSET,
	}
	return config
}

// Device is the ordinal of the GPU that the communicator uses. The error is an *operation.UnsupportedError or an
// *Error.
func (c *Comm) Device() (int, error) {
	if err := c.ready(); err != nil {
		return -1, err
	}
	if c.l.t.comm_device == nil {
		return -1, c.l.lacks("ncclCommCuDevice")
	}
	var ordinal C.int
	err := c.check("ncclCommCuDevice", C.nccl_comm_device(c.c, &ordinal))
	return int(ordinal), err
}

// Pointer is the ncclComm_t, for C code that calls NCCL itself; nil after Close or Abort.
func (c *Comm) Pointer() unsafe.Pointer { return unsafe.Pointer(c.c.comm) }

// Interrupt ends every wait of this communicator, now and later, with ErrInterrupted. It may be called from any
// goroutine, at any time. Issued operations continue until Abort.
func (c *Comm) Interrupt() { C.nccl_interrupt(c.c) }

// Resume takes Interrupt back. No operation may be in progress.
func (c *Comm) Resume() { C.nccl_resume(c.c) }

// AsyncError is what went wrong behind the communicator's calls (a network error, a rank that exited); nil for none
// yet, and if the library does not report it. Call it between batches: a completed operation is not checked.
func (c *Comm) AsyncError() error {
	if err := c.ready(); err != nil {
		return err
	}
	rc := C.busbar_nccl_async_error(c.c)
	if rc == C.NCCL_IN_PROGRESS {
		return nil
	}
	return c.check("ncclCommGetAsyncError", rc)
}

// Abort ends the communicator and its issued operations without the other ranks; every rank should call it. No
// thread may be inside a call of it: call Interrupt first. It may hang, like NCCL's. Afterwards only Close of its
// operations and registrations may be called. The error is an *operation.UnsupportedError or an *Error.
func (c *Comm) Abort() error {
	if err := c.ready(); err != nil {
		return err
	}
	if c.l.t.abort == nil {
		return c.l.lacks("ncclCommAbort")
	}
	return c.check("ncclCommAbort", C.busbar_nccl_abort(c.c))
}

// Close ends the communicator after all issued operations; all ranks call it, after they closed its operations.
// Closing twice, or after Abort, does nothing.
func (c *Comm) Close() error {
	if c.ready() != nil {
		return nil
	}
	return c.check("ncclCommDestroy", C.busbar_nccl_close(c.c))
}

func (c *Comm) ready() error {
	if c.c.comm == nil {
		return ErrClosed
	}
	return nil
}

func (c *Comm) check(op string, rc C.int) error { return c.l.check(op, rc, c.c.comm) }
