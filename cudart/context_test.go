//go:build cgo

package cudart

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestDevices(t *testing.T) {
	d := load(t, fakeDriver)
	got, err := d.Devices()
	must.NoError(t, err)
	want := []Device{
		{"Fake GPU", "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae64", "0000:1b:00.0", 3, 9, 0, 1 << 30},
		{"Fake GPU", "MIG-11a1a2a3-a4a5-a6a7-a8a9-aaabacadae65", "0000:1c:00.0", -1, 9, 0, 1 << 30},
	}
	test.Eq(t, want, got)
	for _, symbol := range []string{"cuDeviceGetCount", "cuDeviceGet", "cuDeviceGetName", "cuDeviceGetUuid",
		"cuDeviceGetUuid_v2",
		"cuDeviceGetPCIBusId", "cuDeviceTotalMem_v2", "cuDeviceGetAttribute"} {
		t.Setenv("FAKE_CUDA_FAIL", symbol+"=999")
		if _, err := d.Devices(); err == nil || !strings.Contains(err.Error(), symbol) ||
			!strings.Contains(err.Error(), "(999)") {
			t.Errorf("%s fails: error %v", symbol, err)
		}
	}
}

func TestNode(t *testing.T) {
	sys := t.TempDir()
	for pci, text := range map[string]string{"0000:1b:00.0": "1\n", "0000:1c:00.0": "-1\n", "0000:1d:00.0": "x"} {
		write(t, filepath.Join(sys, "bus/pci/devices", pci, "numa_node"), text)
	}
	for pci, want := range map[string]int{"0000:1b:00.0": 1, "0000:1c:00.0": -1, "0000:1d:00.0": -1,
		"0000:1e:00.0": -1} {
		test.EqOp(t, want, nodeOf(sys, pci), test.Sprint(pci))
	}
}

func TestPeers(t *testing.T) {
	d := load(t, fakeDriver)
	for _, c := range []struct {
		a, b int
		want bool
	}{{0, 1, true}, {1, 1, false}} {
		if got, err := d.CanAccessPeer(c.a, c.b); got != c.want || err != nil {
			t.Errorf("%d to %d: %v, %v", c.a, c.b, got, err)
		}
	}
	_, err := d.CanAccessPeer(0, 2)
	test.ErrorContains(t, err, "GPU 2: cuDeviceGet")
}

func TestOpen(t *testing.T) {
	d := load(t, fakeDriver)
	for _, symbol := range []string{"cuDevicePrimaryCtxRetain", "cuCtxSetCurrent"} {
		t.Setenv("FAKE_CUDA_FAIL", symbol+"=46")
		before := live(t)
		if _, err := d.Open(1); err == nil || !strings.Contains(err.Error(), "GPU 1: "+symbol) || live(t) != before {
			t.Errorf("%s fails: error %v, or the context was not given back", symbol, err)
		}
	}
	_, err := d.Open(2)
	test.ErrorContains(t, err, "GPU 2: cuDeviceGet: CUDA_ERROR_INVALID_DEVICE (101): invalid device ordinal")
}

func TestCurrent(t *testing.T) {
	c := open(t)
	other := make(chan error)
	// A separate goroutine: this one is locked to its thread.
	go func() {
		_, err := c.Alloc(1)
		other <- err
	}()
	test.ErrorContains(t, <-other, "CUDA_ERROR_INVALID_CONTEXT")
	must.NoError(t, c.Close())
	_, err := c.Alloc(1)
	test.Error(t, err)
	test.NoError(t, c.Close())
}

func TestMemory(t *testing.T) {
	t.Setenv("FAKE_CUDA_MEMORY", "1048576")
	c := open(t)
	free, total, err := c.Memory()
	if err != nil || total != 1<<20 || free != total {
		t.Errorf("%d of %d free, error %v", free, total, err)
	}
	p, err := c.Alloc(1000)
	must.NoError(t, err)
	none, err := c.Alloc(0)
	if err != nil || none == 0 || none == p {
		t.Errorf("0 bytes are at %#x, error %v", none, err)
	}
	if now, _, _ := c.Memory(); now != free-1001 {
		t.Errorf("%d bytes less, want 1001", free-now)
	}
	var e *Error
	_, err = c.Alloc(1 << 20)
	if !errors.As(err, &e) || !e.IsOutOfMemory() || e.IsNoDevice() ||
		err.Error() != "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory" {
		t.Errorf("too much: error %v", err)
	}
	test.NoError(t, errors.Join(c.Free(p), c.Free(none), c.Free(0)))
	if err := c.Free(p + 1); !errors.As(err, &e) || e.IsOutOfMemory() {
		t.Errorf("invalid memory: error %v", err)
	}
}

func TestUnknownCode(t *testing.T) {
	t.Setenv("FAKE_CUDA_FAIL", "cuDeviceGetCount=777")
	_, err := load(t, fakeDriver).Devices()
	if err == nil || err.Error() != "cuDeviceGetCount: an error of this driver's own (777): no text" {
		t.Errorf("error %v", err)
	}
}

func TestProfiler(t *testing.T) {
	c := open(t)
	test.NoError(t, errors.Join(c.d.ProfilerStart(), c.d.ProfilerStop()))
}

func TestStreamAndEvents(t *testing.T) {
	c := open(t)
	s, err := c.NewStream()
	if err != nil || s.Pointer() == nil {
		t.Fatal(err)
	}
	from, err1 := c.NewEvent(true)
	to, err2 := c.NewEvent(true)
	mark, err3 := c.NewEvent(false)
	must.NoError(t, errors.Join(err1, err2, err3))
	must.NoError(t, errors.Join(from.Record(s), mark.Record(s), to.Record(s)))
	_, err = to.Elapsed(from)
	test.Error(t, err)
	must.NoError(t, to.Synchronize())
	// The fake counts a millisecond for each piece of work.
	if seconds, err := to.Elapsed(from); seconds != 0.002 || err != nil {
		t.Errorf("elapsed %g s, error %v", seconds, err)
	}
	_, err = mark.Elapsed(from)
	test.Error(t, err)
	test.NoError(t, errors.Join(s.Synchronize(), from.Close(), from.Close(), to.Close(), mark.Close(), s.Close(),
		s.Close()))
}
