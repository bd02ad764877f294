//go:build cgo

package mpi

/*
#cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror
#include <stdlib.h>
#include "call.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"busbar/internal/dl"
)

// MPI is a loaded library. Init, Finalize and the communicators belong to one OS thread, which the caller locks.
type MPI struct {
	t    *C.table
	info Info
	all  *Comm

	// For tests: see struct busbar_mpi_spec.
	intMax  int64
	noLarge bool
}

// Load opens the shim that fits and through it the MPI library; MPI itself starts with Init. The error is a
// *dl.LoadError.
func Load(o Options) (*MPI, error) {
	if o.Choice == "" {
		o.Choice = "auto"
	}
	launch := Launcher(os.Getenv)
	paths, err := o.find(launch)
	if err != nil {
		return nil, err
	}
	quietLibraries()
	defer keepSignals()()
	lib, err := dl.Open(dl.Spec{Name: "the MPI shim", Candidates: paths, Global: true})
	if err != nil {
		failed := unusable(o.Choice, launch, "")
		if e := new(dl.LoadError); errors.As(err, &e) {
			failed.Tried = e.Tried
		}
		return nil, failed
	}
	symbol, err := lib.Symbol("busbar_mpi")
	if err != nil {
		return nil, unusable(o.Choice, launch, fmt.Sprintf("%s is not an MPI shim of busbar (%v)", lib.Path(), err))
	}
	if abi := *(*uint32)(symbol); abi != C.BUSBAR_MPI_ABI {
		return nil, unusable(o.Choice, launch, fmt.Sprintf("%s is a shim of another version of busbar: its table has "+
			"number %d, this program needs %d; rebuild it", lib.Path(), abi, C.BUSBAR_MPI_ABI))
	}
	m := &MPI{t: (*C.table)(symbol), intMax: 1<<31 - 1}
	m.describe(lib.Path())
	return m, nil
}

func (m *MPI) describe(shim string) {
	const size = 8192 // MPI_MAX_LIBRARY_VERSION_STRING is 256 in Open MPI, 8192 in MPICH
	text := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(text))
	var standard [2]C.int
	C.call_version(m.t, text, size, &standard[0])
	m.info = Info{
		Family:      C.GoString(m.t.family),
		LibraryFull: strings.TrimSpace(C.GoString(text)),
		Standard:    fmt.Sprintf("%d.%d", standard[0], standard[1]),
		CompiledFor: C.GoString(m.t.compiled),
		LibMPIPath:  C.GoString(C.call_path(m.t)),
		ShimPath:    shim,
		LargeCounts: "parts",
	}
	if real, err := filepath.EvalSymlinks(m.info.LibMPIPath); err == nil {
		m.info.LibMPIPath = real
	}
	m.info.BuildID = dl.BuildID(m.info.LibMPIPath)
	m.info.Library, m.info.Name = versionLines(m.info.LibraryFull)
	if C.call_large(m.t) != 0 {
		m.info.LargeCounts = "native"
	}
}

// Info describes the library; ThreadLevel is set by Init.
func (m *MPI) Info() Info { return m.info }

// Init starts MPI and asks for ThreadMultiple; what is granted may be less. The calling goroutine must be locked to
// its OS thread, which is MPI's main thread from here on. Afterwards the Go runtime has its signal handlers as before.
// From here on an erroneous call is an *Error, not the end of the job.
func (m *MPI) Init() (ThreadLevel, error) {
	restore := keepSignals()
	var level C.int
	rc := C.call_init(m.t, &level)
	restore()
	if err := m.check("MPI_Init_thread", rc); err != nil {
		return 0, err
	}
	m.info.ThreadLevel = ThreadLevel(level)
	var c *C.comm
	if err := m.check("MPI_Comm_set_errhandler", C.call_world(m.t, &c)); err != nil {
		return 0, err
	}
	world, err := m.comm(c)
	if err != nil {
		return 0, err
	}
	if err := m.check("MPI_Comm_set_errhandler", C.call_self(m.t, &c)); err != nil {
		return 0, err
	}
	m.all = world
	return m.info.ThreadLevel, nil
}

// Initialized reports whether MPI is running: between Init and Finalize.
func (m *MPI) Initialized() bool { return C.call_running(m.t) != 0 }

// Finalize ends MPI. It is collective over all ranks; operations and communicators must be closed before.
func (m *MPI) Finalize() error { return m.check("MPI_Finalize", C.call_finalize(m.t)) }

// Abort ends all ranks, with an exit code that launchers mostly pass on. It may be called from any goroutine, while
// another is inside MPI, and does not return. Where MPI does not run it ends this process.
func (m *MPI) Abort(code int) {
	if m.Initialized() {
		C.call_abort(m.t, C.int(code))
	}
	os.Exit(code)
}

func (m *MPI) check(op string, rc C.int) error {
	if rc == 0 {
		return nil
	}
	const size = 4096
	text := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(text))
	var class C.int // which name has
	var name *C.char
	C.call_error(m.t, rc, &class, &name, text, size)
	return &Error{Op: op, Code: int(rc), Name: C.GoString(name),
		Text: strings.TrimSpace(C.GoString(text))}
}
