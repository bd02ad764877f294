//go:build cgo

package dl

/*
#cgo CFLAGS: -std=gnu11 -Wall -Wextra -Werror
#cgo LDFLAGS: -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "symbol.h"

// dlerror belongs to the thread, so it is read in the same call from Go. The text is the caller's to free.
static void *open_library(const char *path, int global, char **why)
{
	void *handle = dlopen(path, RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
	if (!handle)
		*why = strdup(dlerror());
	return handle;
}

static void *find_symbol(void *handle, const char *name, char **why)
{
	dlerror();
	void *symbol = dlsym(handle, name);
	const char *text = dlerror();
	if (text)
		*why = strdup(text);
	else if (!symbol)
		*why = strdup("it is there, but null");
	return symbol;
}

static const char *library_path(void *handle)
{
	struct link_map *map = NULL;
	return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : "";
}
*/
import "C"

import (
	"path/filepath"
	"strings"
	"unsafe"
)

// Library is an open shared library.
type Library struct {
	handle unsafe.Pointer
	path   string
}

// Open opens the first candidate that the loader accepts, with all its symbols resolved at once. The error is a
// *LoadError.
func Open(spec Spec) (*Library, error) {
	missing := &LoadError{Problem: spec.Name + " cannot be opened", Remedy: spec.Remedy}
	for _, candidate := range spec.Candidates {
		if candidate == "" {
			continue // dlopen would take it for the program itself
		}
		if strings.ContainsRune(candidate, '/') {
			if absolute, err := filepath.Abs(candidate); err == nil {
				candidate = absolute
			}
		}
		l, why := open(candidate, spec.Global)
		if l != nil {
			return l, nil
		}
		missing.Tried = append(missing.Tried, Attempt{Candidate: candidate, Why: why})
	}
	return nil, missing
}

func open(candidate string, global bool) (l *Library, why string) {
	path := C.CString(candidate)
	defer C.free(unsafe.Pointer(path))
	var flag C.int
	if global {
		flag = 1
	}
	var text *C.char
	handle := C.open_library(path, flag, &text)
	if handle == nil {
		defer C.free(unsafe.Pointer(text))
		return nil, C.GoString(text)
	}
	found := C.GoString(C.library_path(handle))
	if real, err := filepath.EvalSymlinks(found); err == nil {
		found = real
	}
	return &Library{handle: handle, path: found}, ""
}

// Path is the file of the library, absolute and without symbolic links.
func (l *Library) Path() string { return l.path }

// BuildID is the GNU build id of the library in hexadecimal; "" if it has none.
func (l *Library) BuildID() string { return BuildID(l.path) }

// Symbol returns the address of a symbol. The error is a *SymbolError.
func (l *Library) Symbol(name string) (unsafe.Pointer, error) {
	symbol := C.CString(name)
	defer C.free(unsafe.Pointer(symbol))
	var text *C.char
	address := C.find_symbol(l.handle, symbol, &text)
	if text != nil {
		defer C.free(unsafe.Pointer(text))
		return nil, &SymbolError{Library: l.path, Symbol: name, Text: C.GoString(text)}
	}
	return address, nil
}

// Symbols reads a table of struct busbar_symbol (symbol.h).
func Symbols(table unsafe.Pointer, n int) (all []Symbol) {
	for _, s := range unsafe.Slice((*C.struct_busbar_symbol)(table), n) {
		all = append(all, Symbol{C.GoString(s.name), s.required != 0, int(s.since), uintptr(s.offset)})
	}
	return all
}

// Fill writes the addresses of symbols to their places in a table in C memory, where those that the library lacks stay
// NULL; it returns the latter.
func (l *Library) Fill(table unsafe.Pointer, symbols []Symbol) (missing []Symbol) {
	for _, s := range symbols {
		address, err := l.Symbol(s.Name)
		if err != nil {
			missing = append(missing, s)
			continue
		}
		*(*unsafe.Pointer)(unsafe.Add(table, s.Offset)) = address
	}
	return missing
}

// Required are the symbols without which a library cannot be used.
func Required(symbols []Symbol) (required []Symbol) {
	for _, s := range symbols {
		if s.Required {
			required = append(required, s)
		}
	}
	return required
}
