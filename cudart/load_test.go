//go:build cgo

package cudart

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"busbar/internal/dl"
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

func TestLoadFromHere(t *testing.T) {
	t.Chdir(filepath.Dir(fakeDriver))
	for _, path := range []string{library, ".", "./" + library} {
		if d := load(t, path); d.Info().Path != fakeDriver {
			t.Errorf("%s: %s", path, d.Info().Path)
		}
	}
}

// The field of a symbol holds its address, that of one which the driver lacks is NULL.
func TestTable(t *testing.T) {
	lib, err := dl.Open(dl.Spec{Name: "fake", Candidates: []string{fakeDriver}})
	if err != nil {
		t.Fatal(err)
	}
	table := load(t, fakeDriver).Table()
	filled := 0
	for _, s := range symbols() {
		got := *(*unsafe.Pointer)(unsafe.Add(table, s.offset))
		name := goString(unsafe.Pointer(s.name))
		want, _ := lib.Symbol(name)
		if got != want {
			t.Errorf("%s: %p, want %p", name, got, want)
		}
		if got != nil {
			filled++
		}
	}
	if filled == 0 || filled == len(symbols()) {
		t.Errorf("%d of %d symbols are there", filled, len(symbols()))
	}
}

// goString is C.GoString, which tests cannot have.
func goString(p unsafe.Pointer) string {
	n := 0
	for *(*byte)(unsafe.Add(p, n)) != 0 {
		n++
	}
	return unsafe.String((*byte)(p), n)
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
		{"a path", Options{Path: "/no/such/libcuda.so.1"}, []string{"/no/such/libcuda.so.1: cannot open"},
			"/usr/lib64"},
		{"no library", Options{Path: text}, []string{text + ": "}, "/usr/lib64"},
		{"folders", Options{Dirs: []string{"/no/such", "/other"}},
			[]string{"/no/such/libcuda.so.1: cannot", "/other/libcuda.so.1: cannot"}, "/usr/lib64"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Load(c.o)
			var failed *LoadError
			if !errors.As(err, &failed) || len(failed.Tried) == 0 {
				t.Fatalf("error %v", err)
			}
			for _, want := range append(c.want, "libcuda.so.1", "NVIDIA's driver", "--cuda PATH", "Debian", "RHEL",
				"--gpus all") {
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
	if all := strings.Join(got, " "); !strings.Contains(all, "-linux-gnu/libcuda.so.1") ||
		!strings.Contains(all, "/usr/lib64/libcuda.so.1") {
		t.Errorf("places %q", got)
	}
}

func TestKernelModule(t *testing.T) {
	proc := t.TempDir()
	if got := kernelModule(proc); got != "" {
		t.Errorf("without a module: %q", got)
	}
	dir := filepath.Join(proc, "driver/nvidia")
	text := "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\nGCC version:  " +
		"gcc version 12.2.0\n"
	if err := errors.Join(os.MkdirAll(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "version"), []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	if got := kernelModule(proc); got != "NVIDIA UNIX x86_64 Kernel Module 550.54.15 Tue Mar 5 22:23:56 UTC 2024" {
		t.Errorf("module %q", got)
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
		{[]string{"cuDevicePrimaryCtxRelease_v2"},
			[]string{"lacks cuDevicePrimaryCtxRelease_v2 (CUDA 11.0);", "serves CUDA 12.4", "CUDA 11.0 or newer"}},
		{[]string{"cuDriverGetVersion"}, []string{"lacks cuDriverGetVersion (CUDA 2.2)\n", "CUDA 2.2 or newer"}},
		{[]string{"cuMemAlloc_v2", "cuDevicePrimaryCtxRetain"},
			[]string{"cuMemAlloc_v2 (CUDA 3.2)", "cuDevicePrimaryCtxRetain (CUDA 7.0)", "CUDA 7.0 or newer"}},
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
	d := load(t, without(t, "cuProfilerStart", "cuProfilerStop", "cuDeviceCanAccessPeer", "cuDeviceGetUuid_v2",
		"cuLaunchKernel"))
	_, peer := d.CanAccessPeer(0, 1)
	for symbol, err := range map[string]error{"cuProfilerStart": d.ProfilerStart(), "cuProfilerStop": d.ProfilerStop(),
		"cuDeviceCanAccessPeer": peer} {
		var lacks *UnsupportedError
		if !errors.As(err, &lacks) || lacks.Symbol != symbol || lacks.Since != 4000 {
			t.Errorf("%s: error %v", symbol, err)
		} else if want := symbol + " is missing: it comes with CUDA 4.0, and " + d.Info().Path +
			" serves CUDA 12.4"; err.Error() != want {
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
		} else if !strings.Contains(err.Error(), "("+code+")") || !strings.Contains(err.Error(), fakeDriver) ||
			strings.Count(err.Error(), "\n") != 1 {
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
		{34, module, "stub"}, {100, module, `CUDA_VISIBLE_DEVICES is "7"`}, {100, "", "kernel module is not loaded"},
		{802, module, "nvidia-fabricmanager"},
		{803, module, "reboot"}, {804, module, "compat"}, {999, module, "nvidia-modprobe"}, {1, module, "nvidia-smi"},
	} {
		if got := startAdvice(c.code, c.kernel); !strings.Contains(got, c.want) {
			t.Errorf("code %d: %q is not in %q", c.code, c.want, got)
		}
	}
}

// A driver may give up the older of the two functions that tell a device's identity.
func TestEitherUUID(t *testing.T) {
	for _, symbol := range []string{"cuDeviceGetUuid", "cuDeviceGetUuid_v2"} {
		devices, err := load(t, without(t, symbol)).Devices()
		if err != nil || len(devices) == 0 || !strings.HasPrefix(devices[0].UUID, "GPU-") {
			t.Errorf("without %s: %v, %v", symbol, devices, err)
		}
	}
	_, err := load(t, without(t, "cuDeviceGetUuid", "cuDeviceGetUuid_v2")).Devices()
	var lacks *UnsupportedError
	if !errors.As(err, &lacks) || lacks.Symbol != "cuDeviceGetUuid" {
		t.Errorf("without either: %v", err)
	}
}
