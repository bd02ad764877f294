//go:build cgo

package gloo

/*
#include "call.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"busbar/internal/loop"
)

// Options configure a context.
type Options struct {
	Rank, Size int

	// The network: an interface's name, or an address that belongs to this host (Choose finds one). With neither, Gloo
	// takes the address of the host's name.
	Interface, Address string

	// How long another rank may take to connect, and how long to come to an operation. 0: a minute, and a day:
	// rank has its own watchdog.
	ConnectTimeout, Timeout time.Duration

	// Where the thread that Gloo starts may run; empty: where the calling thread may.
	CPUs []int

	// Brings all ranks together before a batch of operations, with its context; nil: nothing does.
	Sync        loop.Step
	SyncContext unsafe.Pointer
}

// Context is this rank's part in a group of ranks. Its operations are run by one thread at a time; Interrupt alone may
// be called from any goroutine.
type Context struct {
	l           *Library
	rank, size  int
	sync        C.busbar_step
	syncContext unsafe.Pointer

	mu sync.Mutex // guards c against Interrupt after Close
	c  *C.context
}

// NewContext opens a socket for each of the other ranks and starts Gloo's thread. Nothing is sent: the ranks then
// exchange their Address and call Connect. The error is an *Error.
func (l *Library) NewContext(o Options) (*Context, error) {
	how := C.struct_busbar_gloo_create{rank: C.int(o.Rank), size: C.int(o.Size),
		connect_ms: milliseconds(o.ConnectTimeout, time.Minute),
		timeout_ms: milliseconds(o.Timeout, 24*time.Hour)}
	free := func(s *C.char) { C.free(unsafe.Pointer(s)) }
	if o.Interface != "" {
		how._interface = C.CString(o.Interface)
		defer free(how._interface)
	}
	if o.Address != "" {
		how.address = C.CString(o.Address)
		defer free(how.address)
	}
	var pins runtime.Pinner
	defer pins.Unpin()
	if len(o.CPUs) > 0 {
		cpus := make([]C.int, len(o.CPUs))
		for i, cpu := range o.CPUs {
			cpus[i] = C.int(cpu)
		}
		pins.Pin(&cpus[0])
		how.cpus, how.cpu = C.int(len(cpus)), &cpus[0]
	}
	c := &Context{l: l, rank: o.Rank, size: o.Size, sync: C.busbar_step(o.Sync), syncContext: o.SyncContext}
	var e C.error_text
	if rc := C.call_create(l.t, &how, &c.c, &e); rc != 0 {
		return nil, errorOf("opening Gloo's device on "+network(o), &e)
	}
	return c, nil
}

func network(o Options) string {
	switch {
	case o.Interface != "":
		return "interface " + o.Interface
	case o.Address != "":
		return "address " + o.Address
	}
	return "the address of this host's name"
}

func milliseconds(d, otherwise time.Duration) C.int64_t {
	if d <= 0 {
		d = otherwise
	}
	return C.int64_t(max(1, d.Milliseconds()))
}

// Address returns the data that other ranks need to connect to this one. The error is an *Error.
func (c *Context) Address() ([]byte, error) {
	each := int(C.call_address_bytes(c.l.t, c.c))
	entries := C.malloc(C.size_t(each * c.size))
	defer C.free(entries)
	var e C.error_text
	if rc := C.call_addresses(c.l.t, c.c, entries, &e); rc != 0 {
		return nil, errorOf("the addresses of Gloo's sockets", &e)
	}
	return C.GoBytes(entries, C.int(each*c.size)), nil
}

// Connect connects this rank to all others, whose Address is given in the order of the ranks, with this rank's own
// among them. It returns when all are connected; all ranks call it. The error is an *Error, or names the
// invalid address.
func (c *Context) Connect(all [][]byte) error {
	each := int(C.call_address_bytes(c.l.t, c.c))
	var mine []byte // of every rank's addresses, the one for this rank
	for r, entries := range all {
		if len(entries) != each*c.size {
			return fmt.Errorf("gloo: the addresses of rank %d have %d bytes, not %d: do all ranks run the same "+
				"version of busbar?", r, len(entries), each*c.size)
		}
		mine = append(mine, entries[c.rank*each:(c.rank+1)*each]...)
	}
	p := C.CBytes(mine)
	defer C.free(p)
	var e C.error_text
	if rc := C.call_connect(c.l.t, c.c, p, &e); rc != 0 {
		return errorOf("connecting", &e)
	}
	return nil
}

// Device describes the network of the context.
func (c *Context) Device() Device { return parseDevice(C.GoString(C.call_device(c.l.t, c.c))) }

// parseDevice parses Gloo's description: "tcp, pci=, iface=lo, speed=-1, addr=[127.0.0.1]:4711".
func parseDevice(text string) Device {
	var d Device
	for _, part := range strings.Split(text, ", ") {
		key, value, _ := strings.Cut(part, "=")
		switch key {
		case "iface":
			d.Interface = value
		case "addr":
			value, _, _ = strings.Cut(value, "]")
			d.Address = strings.TrimPrefix(value, "[")
		}
	}
	return d
}

// ThreadCPUs are the CPUs on which the thread of Gloo's may run that reads and writes the sockets, as in "0-3,8"; "" if
// they are unknown.
func (c *Context) ThreadCPUs() string {
	status, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/status", int(C.call_thread(c.l.t, c.c))))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(status), "\nCpus_allowed_list:")
	list, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(list)
}

// Interrupt makes a blocked operation of this context fail, and every later one: the connections are closed, which the
// other ranks notice. It may be called from any goroutine and does nothing after Close.
func (c *Context) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.c != nil {
		C.call_interrupt(c.l.t, c.c)
	}
}

// Close closes the connections and ends Gloo's thread; closing twice does nothing. Its operations must be closed
// before. Data on its way to another rank may be lost, so all ranks come together before one closes.
func (c *Context) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.c != nil {
		C.call_destroy(c.l.t, c.c)
		c.c = nil
	}
}

func errorOf(op string, e *C.error_text) *Error {
	return newError(op, int(e.status), int(e.peer), C.GoString(&e.text[0]))
}
