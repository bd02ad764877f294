//go:build cgo

package cudart

/*
#include "call.h"
*/
import "C"

import "unsafe"

const (
	streamNonBlocking  = 1 // CU_STREAM_NON_BLOCKING: does not wait for the legacy stream
	eventDisableTiming = 2 // CU_EVENT_DISABLE_TIMING
)

// Stream is a queue of work on a device.
type Stream struct {
	c *Context
	s C.cuda_stream
}

// NewStream makes a stream that does not wait for the legacy stream, nor that for it.
func (c *Context) NewStream() (*Stream, error) {
	s := &Stream{c: c}
	if err := c.check("cuStreamCreate", C.call_stream_create(c.d.t, &s.s, streamNonBlocking)); err != nil {
		return nil, err
	}
	return s, nil
}

// Pointer is the CUstream, which is also the cudaStream_t that NCCL takes.
func (s *Stream) Pointer() unsafe.Pointer { return unsafe.Pointer(s.s) }

// Synchronize returns when all work of the stream is done.
func (s *Stream) Synchronize() error {
	return s.c.check("cuStreamSynchronize", C.call_stream_synchronize(s.c.d.t, s.s))
}

// Close destroys the stream; work in it still completes. Closing twice, or nil, does nothing.
func (s *Stream) Close() error {
	if s == nil || s.s == nil {
		return nil
	}
	rc := C.call_stream_destroy(s.c.d.t, s.s)
	s.s = nil
	return s.c.check("cuStreamDestroy_v2", rc)
}

// Event is a mark in a stream.
type Event struct {
	c *Context
	e C.cuda_event
}

// NewEvent makes an event. Only one with timing has a time, and it costs more.
func (c *Context) NewEvent(timing bool) (*Event, error) {
	flags := C.uint(eventDisableTiming)
	if timing {
		flags = 0
	}
	e := &Event{c: c}
	if err := c.check("cuEventCreate", C.call_event_create(c.d.t, &e.e, flags)); err != nil {
		return nil, err
	}
	return e, nil
}

// Record sets the mark after all current work of the stream; it replaces an earlier mark.
func (e *Event) Record(s *Stream) error {
	return e.c.check("cuEventRecord", C.call_event_record(e.c.d.t, e.e, s.s))
}

// Synchronize returns when the stream has reached the mark; at once if none was ever set.
func (e *Event) Synchronize() error {
	return e.c.check("cuEventSynchronize", C.call_event_synchronize(e.c.d.t, e.e))
}

// Elapsed is the time from one mark to this one in seconds, of the device's clock, in steps of about half a
// microsecond. Both events have timing and have been reached.
func (e *Event) Elapsed(from *Event) (seconds float64, err error) {
	var ms C.float
	err = e.c.check("cuEventElapsedTime", C.call_event_elapsed(e.c.d.t, &ms, from.e, e.e))
	return float64(ms) / 1e3, err
}

// Close destroys the event; closing twice, or nil, does nothing.
func (e *Event) Close() error {
	if e == nil || e.e == nil {
		return nil
	}
	rc := C.call_event_destroy(e.c.d.t, e.e)
	e.e = nil
	return e.c.check("cuEventDestroy_v2", rc)
}
