//go:build cgo

package cudart

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"busbar/internal/dl"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestLoad(t *testing.T) {
	dir := filepath.Dir(fakeDriver)
	t.Chdir(dir)
	for _, o := range []Options{{Path: fakeDriver}, {Path: dir}, {Dirs: []string{"/nowhere", dir}}, {Path: library},
		{Path: "."}} {
		d, err := Load(o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		if i := d.Info(); i.Path != fakeDriver || i.Version != 12040 || i.String() != "CUDA 12.4" {
			t.Errorf("%+v: %+v, %s", o, i, i)
		}
	}
	got := Options{}.candidates()
	if got[0] != library || !strings.Contains(strings.Join(got, " "), "-linux-gnu/"+library) {
		t.Errorf("places %q", got)
	}
}

// Every field of the table has its symbol's address.
func TestTable(t *testing.T) {
	lib, err := dl.Open(dl.Spec{Name: "fake", Candidates: []string{fakeDriver}})
	must.NoError(t, err)
	table := load(t, fakeDriver).Table()
	for _, s := range symbols() {
		want, _ := lib.Symbol(s.Name)
		test.EqOp(t, want, *(*unsafe.Pointer)(unsafe.Add(table, s.Offset)), test.Sprint(s.Name))
	}
}

func TestNoDriver(t *testing.T) {
	_, err := Load(Options{Dirs: []string{"/no/such", "/other"}})
	var failed *dl.LoadError
	if !errors.As(err, &failed) || len(failed.Tried) != 2 || !strings.Contains(failed.Remedy, "--cuda PATH") {
		t.Errorf("error %v", err)
	}
	if advice := installAdvice("NVIDIA UNIX x86_64 Kernel Module  550.54"); !strings.Contains(advice, "550.54") ||
		!strings.Contains(advice, "in a container") {
		t.Error(advice)
	}
}

func TestKernelModule(t *testing.T) {
	proc := t.TempDir()
	test.EqOp(t, "", kernelModule(proc))
	write(t, filepath.Join(proc, "driver/nvidia/version"),
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024\nGCC version:  x\n")
	test.EqOp(t, "NVIDIA UNIX x86_64 Kernel Module 550.54.15 Tue Mar 5 22:23:56 UTC 2024", kernelModule(proc))
}

func TestMissingSymbols(t *testing.T) {
	_, err := Load(Options{Path: without(t, "cuMemAlloc_v2", "cuDevicePrimaryCtxRetain")})
	var failed *dl.LoadError
	if !errors.As(err, &failed) || !strings.Contains(failed.Problem, "lacks cuDevicePrimaryCtxRetain, cuMemAlloc_v2") ||
		!strings.Contains(failed.Remedy, "CUDA 7.0 or newer") {
		t.Errorf("error %v", err)
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
		}
	}
	// Without the newer function, a slice of a GPU looks like the GPU.
	devices, err := d.Devices()
	if err != nil || !strings.HasPrefix(devices[1].UUID, "GPU-") {
		t.Errorf("devices %+v, error %v", devices, err)
	}
}

func TestStart(t *testing.T) {
	t.Setenv("FAKE_CUDA_FAIL", "cuInit=100")
	_, err := Load(Options{Path: fakeDriver})
	var failed *dl.LoadError
	var e *Error
	if !errors.As(err, &failed) || !errors.As(err, &e) || e.Op != "cuInit" || !e.IsNoDevice() || failed.Remedy == "" {
		t.Errorf("error %v", err)
	}
	const module = "NVIDIA UNIX x86_64 Kernel Module 550.54"
	t.Setenv("CUDA_VISIBLE_DEVICES", "7")
	for _, c := range []struct {
		code         int
		kernel, want string
	}{
		{34, module, "stub"}, {100, module, `CUDA_VISIBLE_DEVICES is "7"`}, {100, "", "kernel module is not loaded"},
		{802, module, "nvidia-fabricmanager"}, {803, module, "reboot"}, {804, module, "compat"},
		{999, module, "nvidia-modprobe"}, {1, module, "nvidia-smi"},
	} {
		test.StrContains(t, startAdvice(c.code, c.kernel), c.want, test.Sprint(c.code))
	}
}

// A driver may lack the older of the two functions that identify a device.
func TestUUIDFunctions(t *testing.T) {
	devices, err := load(t, without(t, "cuDeviceGetUuid")).Devices()
	if err != nil || len(devices) == 0 || !strings.HasPrefix(devices[0].UUID, "GPU-") {
		t.Errorf("without the older: %v, %v", devices, err)
	}
	_, err = load(t, without(t, "cuDeviceGetUuid", "cuDeviceGetUuid_v2")).Devices()
	var lacks *UnsupportedError
	if !errors.As(err, &lacks) || lacks.Symbol != "cuDeviceGetUuid" {
		t.Errorf("without either: %v", err)
	}
}
