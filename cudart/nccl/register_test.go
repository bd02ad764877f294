//go:build cgo

package nccl

import (
	"errors"
	"strings"
	"testing"

	"busbar/internal/operation"
)

func TestMemory(t *testing.T) {
	f := load(t)
	p, err := f.MemAlloc(1 << 33)
	if err != nil || p != 0xabc000 {
		t.Errorf("%x, %v", p, err)
	}
	if err := errors.Join(f.MemFree(p), f.MemFree(0)); err != nil {
		t.Error(err)
	}
	f.wants("ncclMemAlloc(8589934592)", "ncclMemFree(abc000)")
	f.set(result, 1)
	var e *Error
	if p, err := f.MemAlloc(8); p != 0 || !errors.As(err, &e) || e.Op != "ncclMemAlloc" {
		t.Errorf("%x, %v", p, err)
	}
}

func TestRegister(t *testing.T) {
	f, c := pair(t)
	for _, k := range []struct {
		window bool
		want   []string
	}{
		{false, []string{"ncclCommRegister(1000, 4096)", "ncclCommDeregister(77)"}},
		{true, []string{"ncclCommWindowRegister(1000, 4096, flags 1)", "ncclCommWindowDeregister(88)"}},
	} {
		f.set(noHandle, 0)
		f.set(polls, 2)
		r, err := c.Register(0x1000, 4096, k.window)
		if err != nil {
			t.Fatal(err)
		}
		f.set(polls, 2)
		if err := errors.Join(r.Close(), r.Close(), Registration{}.Close()); err != nil {
			t.Error(err)
		}
		f.wants(k.want...)
		f.set(noHandle, 1)
		var lacks *operation.UnsupportedError
		if r, err := c.Register(0x1000, 4096, k.window); !errors.As(err, &lacks) || r.Close() != nil {
			t.Errorf("accepted and not registered: %v", err)
		}
		f.wants(k.want[0])
		f.set(result, 4)
		var e *Error
		if _, err := c.Register(0x1000, 4096, k.window); !errors.As(err, &e) ||
			!strings.HasPrefix(k.want[0], e.Op+"(") {
			t.Errorf("error %v", err)
		}
		f.set(result, 0)
		f.set(noHandle, 0)
		r, err = c.Register(0x1000, 4096, k.window)
		if err != nil {
			t.Fatal(err)
		}
		f.set(result, 3)
		if err := r.Close(); !errors.As(err, &e) || !strings.HasPrefix(k.want[1], e.Op+"(") {
			t.Errorf("error %v", err)
		}
		f.set(result, 0)
		f.calls()
	}
}
