//go:build cgo

package nccl

import (
	"errors"
	"strings"
	"testing"

	"busbar/internal/operation"

	"github.com/shoenig/test"
)

func TestMemory(t *testing.T) {
	f := load(t)
	p, err := f.MemAlloc(1 << 33)
	if err != nil || p != 0xabc000 {
		t.Errorf("%x, %v", p, err)
	}
	test.NoError(t, errors.Join(f.MemFree(p), f.MemFree(0)))
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
		register := func() (Registration, error) { return c.Register(0x1000, 4096, k.window) }
		refused := func(err error, call string) {
			t.Helper()
			if e := new(Error); !errors.As(err, &e) || !strings.HasPrefix(call, e.Op+"(") {
				t.Errorf("error %v", err)
			}
			f.set(result, 0)
			f.calls()
		}
		f.set(polls, 2)
		r, err := register()
		f.set(polls, 2)
		test.NoError(t, errors.Join(err, r.Close(), r.Close(), Registration{}.Close()))
		f.wants(k.want...)
		f.set(noHandle, 1)
		var lacks *operation.UnsupportedError
		if r, err := register(); !errors.As(err, &lacks) || r.Close() != nil {
			t.Errorf("accepted and not registered: %v", err)
		}
		f.wants(k.want[0])
		f.set(noHandle, 0)
		f.set(result, 4)
		_, err = register()
		refused(err, k.want[0])
		if r, err = register(); err != nil {
			t.Fatal(err)
		}
		f.set(result, 3)
		refused(r.Close(), k.want[1])
	}
}
