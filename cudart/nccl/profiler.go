//go:build cgo

package nccl

/*
#include "profiler/path.h"

typedef int (*path_number)(void);
typedef int (*path_take)(struct busbar_path_event *, int);

static int call_number(void *f) { return ((path_number)f)(); }
static int call_take(void *f, struct busbar_path_event *out, int room) { return ((path_take)f)(out, room); }
*/
import "C"

import (
	"fmt"
	"unsafe"

	"busbar/internal/dl"
)

// Profiler is busbar's plugin for NCCL's profiler interface, which reports the path of an operation. NCCL
// loads it by itself, where ProfilerVariable names its path before the first communicator is made.
type Profiler struct {
	path                    string
	interfaces, watch, take unsafe.Pointer
}

// OpenProfiler opens the plugin in the first of these folders that has it, to read what NCCL reported. The error is a
// *dl.LoadError, or the reason why NCCL cannot use the file.
func OpenProfiler(folders []string) (*Profiler, error) {
	lib, err := dl.Open(dl.Spec{Name: "busbar's plugin for NCCL's profiler interface",
		Candidates: profilerCandidates(folders)})
	if err != nil {
		return nil, err
	}
	p := &Profiler{path: lib.Path()}
	if n := len(p.path); n > profilerPathMax {
		return nil, fmt.Errorf("NCCL cannot load its plugin: the path has %d bytes, NCCL reads at most %d; copy the "+
			"file to a folder with a shorter path and set BUSBAR_LIB to that folder: %s",
			n, profilerPathMax, p.path)
	}
	for name, to := range map[string]*unsafe.Pointer{"busbar_path_interface": &p.interfaces,
		"busbar_path_watch": &p.watch, "busbar_path_take": &p.take} {
		if *to, err = lib.Symbol(name); err != nil {
			return nil, fmt.Errorf("the plugin belongs to another version of busbar: %w", err)
		}
	}
	return p, nil
}

// Path is the plugin's file, for ProfilerVariable.
func (p *Profiler) Path() string { return p.path }

// Interface is the version of the interface by which NCCL asked for the plugin; 0 as long as it has not.
func (p *Profiler) Interface() int { return int(C.call_number(p.interfaces)) }

// Watch makes NCCL report the operations issued from now on, which costs each about a microsecond.
// It returns false if NCCL has not asked for the plugin.
func (p *Profiler) Watch() bool { return C.call_number(p.watch) == 0 }

// Take ends the watch and returns which way the operations of this rank took meanwhile.
func (p *Profiler) Take() Way {
	const room = 64
	var events [room]C.struct_busbar_path_event
	told := int(C.call_take(p.take, &events[0], room))
	w := Way{AtMost: p.Interface() < channelsUsed}
	for i := range min(told, room) {
		e := &events[i]
		w.add(C.GoString(&e.algorithm[0]), C.GoString(&e.protocol[0]), int(e.channels))
	}
	return w
}
