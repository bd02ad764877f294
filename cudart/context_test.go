//go:build cgo

package cudart

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestDevices(t *testing.T) {
	d := load(t, fakeDriver)
	got, err := d.Devices()
	if err != nil {
		t.Fatal(err)
	}
	want := []Device{
		{0, "Fake GPU", "GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae64", "0000:1b:00.0", 3, 9, 0, 1 << 30},
		{1, "Fake GPU", "MIG-11a1a2a3-a4a5-a6a7-a8a9-aaabacadae65", "0000:1c:00.0", -1, 9, 0, 1 << 30},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("devices\n%+v, want\n%+v", got, want)
	}
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
		if got := nodeOf(sys, pci); got != want {
			t.Errorf("%s: node %d, want %d", pci, got, want)
		}
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
	if _, err := d.CanAccessPeer(0, 2); err == nil || !strings.Contains(err.Error(), "GPU 2: cuDeviceGet") {
		t.Errorf("a GPU that is not there: error %v", err)
	}
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
	if _, err := d.Open(2); err == nil ||
		!strings.Contains(err.Error(), "GPU 2: cuDeviceGet: CUDA_ERROR_INVALID_DEVICE (101): invalid device ordinal") {
		t.Errorf("a GPU that is not there: error %v", err)
	}
}

func TestCurrent(t *testing.T) {
	c := open(t)
	other := make(chan error)
	// A separate goroutine: this one is locked to its thread.
	go func() {
		_, err := c.Alloc(1)
		other <- err
	}()
	if err := <-other; err == nil || !strings.Contains(err.Error(), "CUDA_ERROR_INVALID_CONTEXT") {
		t.Errorf("on another thread: error %v", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Alloc(1); err == nil {
		t.Error("a closed context gave memory")
	}
	if err := c.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestMemory(t *testing.T) {
	t.Setenv("FAKE_CUDA_MEMORY", "1048576")
	c := open(t)
	free, total, err := c.Memory()
	if err != nil || total != 1<<20 || free != total {
		t.Errorf("%d of %d free, error %v", free, total, err)
	}
	p, err := c.Alloc(1000)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := errors.Join(c.Free(p), c.Free(none), c.Free(0)); err != nil {
		t.Error(err)
	}
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
	if err := errors.Join(c.d.ProfilerStart(), c.d.ProfilerStop()); err != nil {
		t.Error(err)
	}
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
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(from.Record(s), mark.Record(s), to.Record(s)); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Elapsed(from); err == nil {
		t.Error("a mark that is not reached has a time")
	}
	if err := to.Synchronize(); err != nil {
		t.Fatal(err)
	}
	// The fake counts a millisecond for each piece of work.
	if seconds, err := to.Elapsed(from); seconds != 0.002 || err != nil {
		t.Errorf("elapsed %g s, error %v", seconds, err)
	}
	if _, err := mark.Elapsed(from); err == nil {
		t.Error("an event without timing has a time")
	}
	if err := errors.Join(s.Synchronize(), from.Close(), from.Close(), to.Close(), mark.Close(), s.Close(),
		s.Close()); err != nil {
		t.Error(err)
	}
}
