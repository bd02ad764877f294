//go:build cgo

package cudart

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"
)

func TestLoad(t *testing.T) {
	dir := filepath.Dir(fakeDriver)
	for _, o := range []Options{{Path: fakeDriver}, {Path: dir}, {Dirs: []string{"/nowhere", dir}}} {
		d, err := Load(o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		if i := d.Info(); i.Path != fakeDriver || i.Version != 12040 || i.String() != "CUDA 12.4" {
			t.Errorf("%+v: %+v, %s", o, i, i)
		}
	}
}

// The field of a symbol holds its address, whatever their order.
func TestTable(t *testing.T) {
	d := load(t, fakeDriver)
	fields := unsafe.Slice((*uintptr)(d.Table()), len(symbols()))
	filled := 0
	for _, f := range fields {
		if f != 0 {
			filled++
		}
	}
	// The fake has all but those of graphs and of peers' attributes.
	if want := len(fields) - 7; filled != want {
		t.Errorf("%d of %d fields are filled, want %d", filled, len(fields), want)
	}
}

func TestNotFound(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.so")
	if err := os.WriteFile(text, []byte("no library"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		o      Options
		want   []string
		absent string
	}{
		{"a path", Options{Path: "/no/such/libcuda.so.1"}, []string{"/no/such/libcuda.so.1: cannot open"}, "/usr/lib64"},
		{"no library", Options{Path: text}, []string{text + ": "}, "/usr/lib64"},
		{"folders", Options{Dirs: []string{"/no/such", "/other"}}, []string{"/no/such/libcuda.so.1: cannot", "/other/libcuda.so.1: cannot"}, "/usr/lib64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(c.o)
			var failed *LoadError
			if !errors.As(err, &failed) || len(failed.Tried) == 0 {
				t.Fatalf("error %v", err)
			}
			for _, want := range append(c.want, "libcuda.so.1", "NVIDIA's driver", "--cuda PATH", "Debian", "RHEL", "--gpus all") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in:\n%v", want, err)
				}
			}
			if strings.Contains(err.Error(), c.absent) {
				t.Errorf("%q is in:\n%v", c.absent, err)
			}
		})
	}
}

func TestDefaultPlaces(t *testing.T) {
	got := Options{}.candidates()
	if got[0] != "libcuda.so.1" {
		t.Errorf("the loader is asked after %q", got[0])
	}
	if all := strings.Join(got, " "); !strings.Contains(all, "-linux-gnu/libcuda.so.1") || !strings.Contains(all, "/usr/lib64/libcuda.so.1") {
		t.Errorf("places %q", got)
	}
}

func TestNotFoundInContainer(t *testing.T) {
	err := &LoadError{Kernel: "NVIDIA UNIX x86_64 Kernel Module  550.54"}
	if !strings.Contains(err.Error(), "550.54") || !strings.Contains(err.Error(), "in a container") {
		t.Errorf("error %v", err)
	}
}

func TestMissingSymbols(t *testing.T) {
	for _, c := range []struct {
		symbols []string
		want    []string
	}{
		{[]string{"cuDevicePrimaryCtxRelease_v2"}, []string{"lacks cuDevicePrimaryCtxRelease_v2 (CUDA 11.0);", "serves CUDA 12.4", "CUDA 11.0 or newer"}},
		{[]string{"cuDriverGetVersion"}, []string{"lacks cuDriverGetVersion (CUDA 2.2)\n", "CUDA 2.2 or newer"}},
		{[]string{"cuMemAlloc_v2", "cuDeviceGetUuid"}, []string{"cuMemAlloc_v2 (CUDA 3.2)", "cuDeviceGetUuid (CUDA 9.2)", "CUDA 9.2 or newer"}},
	} {
		so := without(t, c.symbols...)
		_, err := Load(Options{Path: so})
		var failed *LoadError
		if !errors.As(err, &failed) {
			t.Fatalf("without %v: error %v", c.symbols, err)
		}
		for _, want := range append(c.want, so) {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q is not in:\n%v", want, err)
			}
		}
	}
}

func TestOptionalSymbols(t *testing.T) {
	d := load(t, without(t, "cuProfilerStart", "cuProfilerStop", "cuDeviceCanAccessPeer", "cuDeviceGetUuid_v2", "cuLaunchKernel"))
	_, peer := d.CanAccessPeer(0, 1)
	for symbol, err := range map[string]error{"cuProfilerStart": d.ProfilerStart(), "cuProfilerStop": d.ProfilerStop(), "cuDeviceCanAccessPeer": peer} {
		var lacks *UnsupportedError
		if !errors.As(err, &lacks) || lacks.Symbol != symbol || lacks.Since != 4000 {
			t.Errorf("%s: error %v", symbol, err)
		} else if want := symbol + " is missing: it comes with CUDA 4.0, and " + d.Info().Path + " serves CUDA 12.4"; err.Error() != want {
			t.Errorf("%q, want %q", err, want)
		}
	}
	// Without the newer function a slice of a GPU cannot be told from the GPU.
	devices, err := d.Devices()
	if err != nil || !strings.HasPrefix(devices[1].UUID, "GPU-") {
		t.Errorf("devices %+v, error %v", devices, err)
	}
}

func TestStart(t *testing.T) {
	for _, code := range []string{"34", "100", "999", "1"} {
		t.Setenv("FAKE_CUDA_FAIL", "cuInit="+code)
		_, err := Load(Options{Path: fakeDriver})
		var e *Error
		if !errors.As(err, &e) || e.Op != "cuInit" || e.IsNoDevice() != (code == "100") {
			t.Errorf("code %s: error %v", code, err)
		} else if !strings.Contains(err.Error(), "("+code+")") || !strings.Contains(err.Error(), fakeDriver) || strings.Count(err.Error(), "\n") != 1 {
			t.Errorf("code %s: error %v", code, err)
		}
	}
}

func TestStartAdvice(t *testing.T) {
	const module = "NVIDIA UNIX x86_64 Kernel Module 550.54"
	t.Setenv("CUDA_VISIBLE_DEVICES", "7")
	for _, c := range []struct {
		code   int
		kernel string
		want   string
	}{
		{34, module, "stub"}, {100, module, `CUDA_VISIBLE_DEVICES is "7"`}, {100, "", "kernel module is not loaded"}, {802, module, "nvidia-fabricmanager"},
		{803, module, "reboot"}, {804, module, "compat"}, {999, module, "nvidia-modprobe"}, {1, module, "nvidia-smi"},
	} {
		if got := startAdvice(c.code, c.kernel); !strings.Contains(got, c.want) {
			t.Errorf("code %d: %q is not in %q", c.code, c.want, got)
		}
	}
}
