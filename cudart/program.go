//go:build cgo

package cudart

/*
#include <stdlib.h>
#include "call.h"
#include "program.h"

static int program_running(const struct busbar_cuda_program *p) { return p->running; }
static int64_t program_segments(const struct busbar_cuda_program *p) { return p->passed_segments; }
static int64_t program_ops(const struct busbar_cuda_program *p) { return p->passed_ops; }
static int64_t program_put(const struct busbar_cuda_program *p) { return p->put; }
static int64_t program_putting(const struct busbar_cuda_program *p) { return p->putting; }
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"busbar/internal/loop"
	"busbar/internal/program"
)

// Op is one operation of a program, as its library has it ready for the communication stream.
type Op struct {
	program.Link
	Name    string         // of its range in a profiler's timeline
	Issue   loop.Step      // puts it onto the stream; the number that it gets is always 0
	Context unsafe.Pointer // of Issue
	Error   func(code int) error
}

// Segment is computing between two points at which something may wait for it, or it for something.
type Segment struct {
	Name   string   // of its range in a profiler's timeline
	Pieces []uint64 // amounts of work, one after another; see Rate.Amounts
}

// Wait is how a library waits for a stream so that it finds out when its own operations fail, and can be interrupted.
type Wait struct {
	Call    unsafe.Pointer // a busbar_cuda_wait (program.h); nil: the driver is asked until the stream is done
	Context unsafe.Pointer
	Error   func(code int) error
}

// ProgramSpec specifies a program. It owns nothing.
type ProgramSpec struct {
	Compute, Comm *Stream
	Work          Work // for the stream Compute
	Segments      []Segment
	Ops           []Op

	Wait Wait // for the stream Compute, which is behind Comm at the end; without one nothing can interrupt a wait

	Sync        loop.Step // brings the ranks together; nil: there is nothing to bring together
	SyncContext unsafe.Pointer

	Ranges bool // NVTX ranges for segments and operations, as they are put onto the streams
}

// Program is a training step on two streams of a device (internal/program defines the order). It belongs
// to one thread, for which its context is current.
type Program struct {
	c      *Context
	spec   ProgramSpec
	mu     sync.Mutex                    // guards p against Reached after Close
	p      *C.struct_busbar_cuda_program // C memory, as is all that it points to
	events []*Event
	memory []unsafe.Pointer
}

// The constants of the two sides are the same.
var _ = [1]struct{}{}[(int(program.Compute)-C.BUSBAR_COMPUTE)|(int(program.Comm)-C.BUSBAR_COMM)|
	(int(program.Sequential)-C.BUSBAR_SEQUENTIAL)|(int(program.Overlapped)-C.BUSBAR_OVERLAPPED)]

// NewProgram makes a program ready. An operation that would have to wait for itself, or for one behind it, is an error.
func (c *Context) NewProgram(s ProgramSpec) (p *Program, err error) {
	needs, err := s.needs()
	if err != nil {
		return nil, err
	}
	p = &Program{c: c, spec: s}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
			p = nil
		}
	}()
	p.p = (*C.struct_busbar_cuda_program)(p.alloc(1, C.sizeof_struct_busbar_cuda_program))
	segments := (*C.struct_busbar_cuda_segment)(p.alloc(len(s.Segments), C.sizeof_struct_busbar_cuda_segment))
	ops := (*C.struct_busbar_cuda_op)(p.alloc(len(s.Ops), C.sizeof_struct_busbar_cuda_op))
	*p.p = C.struct_busbar_cuda_program{cuda: c.d.t, compute: s.Compute.s, comm: s.Comm.s, segments: segments, ops: ops,
		segment_count: C.int64_t(len(s.Segments)), op_count: C.int64_t(len(s.Ops)),
		work: C.busbar_step(s.Work.Start), work_context: s.Work.Context,
		wait: C.busbar_cuda_wait(s.Wait.Call), wait_context: s.Wait.Context, sync: C.busbar_step(s.Sync),
		sync_context: s.SyncContext}
	if err = p.makeEvents(&p.p.begin, &p.p.end); err != nil {
		return p, err
	}
	for i := range s.Segments {
		if err = p.addSegment(&unsafe.Slice(segments, len(s.Segments))[i], s.Segments[i], needs[i]); err != nil {
			return p, err
		}
	}
	for i := range s.Ops {
		if err = p.addOp(&unsafe.Slice(ops, len(s.Ops))[i], s.Ops[i]); err != nil {
			return p, err
		}
	}
	return p, nil
}

// needs counts for each segment how many operations, from the first on, are done before it begins.
func (s *ProgramSpec) needs() ([]int, error) {
	needs, links := make([]int, len(s.Segments)), make([]program.Link, len(s.Ops))
	for i, o := range s.Ops {
		for k := max(0, o.Before); k < len(s.Segments); k++ {
			needs[k] = i + 1
		}
		links[i] = o.Link
	}
	return needs, program.CheckLinks(len(s.Segments), links)
}

// alloc gets zeroed C memory, which Close frees.
func (p *Program) alloc(n int, size C.size_t) unsafe.Pointer {
	memory := C.calloc(C.size_t(max(1, n)), size)
	p.memory = append(p.memory, memory)
	return memory
}

func (p *Program) makeEvents(to ...*C.cuda_event) error {
	for _, t := range to {
		e, err := p.c.NewEvent(true)
		if err != nil {
			return err
		}
		p.events = append(p.events, e)
		*t = e.e
	}
	return nil
}

func (p *Program) addSegment(to *C.struct_busbar_cuda_segment, s Segment, needs int) error {
	to.name, to.count, to.needs = p.name(s.Name), C.int64_t(len(s.Pieces)), C.int64_t(needs)
	pieces := (*C.uint64_t)(p.alloc(len(s.Pieces), C.sizeof_uint64_t))
	for i, amount := range s.Pieces {
		unsafe.Slice(pieces, len(s.Pieces))[i] = C.uint64_t(amount)
	}
	to.pieces = pieces
	return p.makeEvents(&to.start, &to.end)
}

func (p *Program) addOp(to *C.struct_busbar_cuda_op, o Op) error {
	to.name, to.after = p.name(o.Name), C.int64_t(o.After)
	to.issue, to.context = C.busbar_step(o.Issue), o.Context
	return p.makeEvents(&to.start, &to.end)
}

// name is the name of a range; NULL without ranges.
func (p *Program) name(text string) *C.char {
	if !p.spec.Ranges {
		return nil
	}
	c := C.CString(text)
	p.memory = append(p.memory, unsafe.Pointer(c))
	return c
}

// SetMode selects the mode of the next runs.
func (p *Program) SetMode(m program.Mode) { p.p.mode = C.int(m) }

// Steps are the C functions for the timed loop: one issue is one step of the program. The error code of sync is that
// of its own library; those of the others are Error's.
func (p *Program) Steps() loop.Steps {
	s := loop.Steps{Issue: loop.Step(C.busbar_cuda_program_issue), Wait: loop.Step(C.busbar_cuda_program_wait),
		Context: unsafe.Pointer(p.p)}
	if p.spec.Sync != nil {
		s.Sync = loop.Step(C.busbar_cuda_program_sync)
	}
	return s
}

// Error turns the code of an issue or a wait (loop.StepError) into the error of the library called, with the
// part of the program in which it occurred; nil for 0.
func (p *Program) Error(code int) error {
	if code == 0 {
		return nil
	}
	switch p.p.failed {
	case C.BUSBAR_WORK:
		return fmt.Errorf("%s: %w", p.part(), p.spec.Work.Error(code))
	case C.BUSBAR_OP:
		return fmt.Errorf("%s: %w", p.part(), p.spec.Ops[p.p.at].Error(code))
	case C.BUSBAR_WAITING:
		return p.spec.Wait.Error(code)
	case C.BUSBAR_RECORD:
		return p.c.check("cuEventRecord at "+p.part(), C.result(code))
	case C.BUSBAR_STREAM_WAIT:
		return p.c.check("cuStreamWaitEvent before "+p.part(), C.result(code))
	}
	return p.c.check("cuStreamQuery of the computing stream", C.result(code))
}

// part names the failed part of the program.
func (p *Program) part() string {
	at := int(p.p.at)
	switch {
	case p.p.of_op != 0:
		return "operation " + p.spec.Ops[at].Name
	case at < 0:
		return "the beginning of the step"
	case at >= len(p.spec.Segments):
		return "the end of the step"
	}
	return "segment " + p.spec.Segments[at].Name
}

// Issued reports whether the last failure was that of an operation as it was put onto its stream: the other ranks may
// be inside their library, where they wait for this one.
func (p *Program) Issued() bool { return p.p.failed == C.BUSBAR_OP }

// Reached is how far a run has come.
type Reached struct {
	Running       bool
	Mode          program.Mode
	Segments, Ops int // that the device is behind, looked at every millisecond while the run is waited for
	Put           int // segments and operations that are on the streams
	Putting       int // operation that its library is putting onto the stream; -1: none
}

// Reached may be called from any goroutine. It waits for nothing.
func (p *Program) Reached() Reached {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.p == nil {
		return Reached{Putting: -1}
	}
	return Reached{Running: C.program_running(p.p) != 0, Mode: program.Mode(p.p.mode),
		Segments: int(C.program_segments(p.p)),
		Ops:      int(C.program_ops(p.p)), Put: int(C.program_put(p.p)), Putting: int(C.program_putting(p.p)) - 1}
}

// Spans are those of the last run, by the device's clock, with a resolution of half a microsecond. The run must
// have been waited for.
func (p *Program) Spans() (program.Spans, error) {
	s := program.Spans{Segments: make([]program.Span, len(p.spec.Segments)), Ops: make([]program.Span, len(p.spec.Ops))}
	err := p.span(&s.Step, p.p.begin, p.p.end)
	for i, g := range unsafe.Slice(p.p.segments, len(s.Segments)) {
		if err == nil && g.from != nil {
			err = p.span(&s.Segments[i], g.from, g.end)
		}
	}
	for i, o := range unsafe.Slice(p.p.ops, len(s.Ops)) {
		if err == nil && o.from != nil {
			err = p.span(&s.Ops[i], o.from, o.end)
		}
	}
	return s, err
}

func (p *Program) span(to *program.Span, from, end C.cuda_event) error {
	var a, b C.float
	if rc := C.busbar_cuda_program_span(p.p, from, end, &a, &b); rc != 0 {
		return p.c.check("cuEventElapsedTime", C.result(rc))
	}
	to.Start, to.End = int64(float64(a)*1e6), int64(float64(b)*1e6)
	return nil
}

// Close frees what NewProgram created; closing twice has no effect. Work of a failed run on the streams does not refer
// to it: a stream has its own copies.
func (p *Program) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, e := range p.events {
		errs = append(errs, e.Close())
	}
	for _, m := range p.memory {
		C.free(m)
	}
	p.events, p.memory, p.p = nil, nil, nil
	return errors.Join(errs...)
}
