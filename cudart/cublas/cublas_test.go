//go:build cgo

package cublas

import (
	"errors"
	"math"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"busbar/cudart"
	"busbar/internal/dl"
	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// build compiles C files into a library in a new folder, which it returns.
func build(t *testing.T, name, files string, flags ...string) string {
	t.Helper()
	sources, err := filepath.Glob(files)
	if err != nil || len(sources) == 0 {
		t.Fatalf("no %s: %v", files, err)
	}
	return filepath.Dir(needs.SharedLibrary(t, name, "", append(sources, flags...)...))
}

// fake loads the fake library and returns its log.
func fake(t *testing.T, flags ...string) (l *Library, log func() string) {
	t.Helper()
	dir := build(t, "libcublas.so.12", "testdata/fake.c", flags...)
	l, err := Load(Options{Dirs: []string{dir}, Cuda: 12080})
	must.NoError(t, err)
	lib, err := dl.Open(dl.Spec{Name: "fake", Candidates: []string{filepath.Join(dir, "libcublas.so.12")}})
	must.NoError(t, err)
	p, err := lib.Symbol("fake_log")
	must.NoError(t, err)
	text := unsafe.Slice((*byte)(p), 1<<14)
	return l, func() string {
		s, _, _ := strings.Cut(string(text), "\x00")
		clear(text)
		return s
	}
}

// stream is a stream of the simulated driver.
func stream(t *testing.T) (*cudart.Context, *cudart.Stream) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	d, err := cudart.Load(cudart.Options{Path: build(t, "libcuda.so.1", "../rehearsal/cuda/*.c")})
	must.NoError(t, err)
	c, err := d.Open(0)
	must.NoError(t, err)
	s, err := c.NewStream()
	must.NoError(t, err)
	t.Cleanup(func() {
		test.NoError(t, errors.Join(s.Close(), c.Close()))
	})
	return c, s
}

func none(cudart.Pointer, int64, []byte) error { return nil }

func TestProducts(t *testing.T) {
	for _, old := range []bool{false, true} {
		flags, workspace := []string(nil), "cublasSetWorkspace_v2 of 32 MiB\n"
		if old {
			flags, workspace = []string{"-DOLD"}, ""
		}
		l, log := fake(t, flags...)
		if i := l.Info(); i.Version != "12.4.5" || i.Rehearsed || filepath.Base(i.Path) != "libcublas.so.12" {
			t.Errorf("the library is %+v", i)
		}
		log()
		c, s := stream(t)
		before, _, _ := c.Memory()
		g, err := l.NewGEMM(c, s)
		must.NoError(t, err)
		test.EqOp(t, "cublasCreate_v2\ncublasSetStream_v2 of a stream\n"+workspace, log())
		var filled []int64
		for _, n := range []int{64, 128} {
			filled = nil
			err := g.Resize(n,
				func(_ cudart.Pointer, bytes int64, _ []byte) error { filled = append(filled, bytes); return nil })
			if err != nil || len(filled) != 3 || filled[0] != int64(2*n*n) {
				t.Errorf("matrices of %v bytes: %v", filled, err)
			}
		}
		_, err = s.Calibrate(g.Work())
		test.NoError(t, err)
		one, _, _ := strings.Cut(log(), "\n")
		test.EqOp(t, "cublasGemmEx 00, 128 x 128 x 128, leading 128 128 128, types 2 2 2, in 68, algorithm -1, 1 and "+
			"0, three matrices", one)
		test.NoError(t, errors.Join(g.Close(), g.Close()))
		if after, _, _ := c.Memory(); after != before {
			t.Errorf("%d bytes of the device were not given back", before-after)
		}
	}
}

func TestStatuses(t *testing.T) {
	l, log := fake(t)
	c, s := stream(t)
	for fail, want := range map[string]string{"cublasCreate_v2=1": "cublasCreate_v2 failed: " +
		"CUBLAS_STATUS_NOT_INITIALIZED (1)",
		"cublasSetStream_v2=7":     "cublasSetStream_v2 failed: CUBLAS_STATUS_INVALID_VALUE (7)",
		"cublasSetWorkspace_v2=99": "cublasSetWorkspace_v2 failed: unknown status (99)"} {
		t.Setenv("FAKE_CUBLAS_FAIL", fail)
		if _, err := l.NewGEMM(c, s); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), l.Info().Path) {
			t.Errorf("%s: %v", fail, err)
		}
		if created, got := !strings.HasPrefix(fail, "cublasCreate"), log(); created != strings.Contains(got,
			"cublasDestroy_v2") {
			t.Errorf("%s: not freed: %s", fail, got)
		}
	}
	t.Setenv("FAKE_CUBLAS_FAIL", "cublasGemmEx=13")
	g, err := l.NewGEMM(c, s)
	must.NoError(t, err)
	must.NoError(t, g.Resize(64, none))
	var failed *Error
	if _, err := s.Calibrate(g.Work()); !errors.As(err, &failed) || failed.Code != 13 || failed.Op != "cublasGemmEx" {
		t.Errorf("a product that fails: %v", err)
	}
	t.Setenv("FAKE_CUBLAS_FAIL", "cublasDestroy_v2=14")
	test.ErrorContains(t, g.Close(), "CUBLAS_STATUS_INTERNAL_ERROR")
}

func TestLoading(t *testing.T) {
	dir := build(t, "libcublas.so.12", "testdata/fake.c", "-DPART")
	var failed *dl.LoadError
	if _, err := Load(Options{Dirs: []string{dir}, Cuda: 13000}); !errors.As(err, &failed) ||
		!strings.Contains(err.Error(), "it lacks cublasGemmEx") {
		t.Errorf("a part of the library: %v", err)
	}
	_, err := Load(Options{Dirs: []string{dir}, Cuda: 11080}) // the driver is too old for it
	if !errors.As(err, &failed) || len(failed.Tried) != 1 ||
		!strings.HasSuffix(failed.Tried[0].Candidate, "libcublas.so.11") ||
		!strings.Contains(err.Error(), "pip install") {
		t.Errorf("a driver for CUDA 11: %v", err)
	}
	if problem, tried, _ := failed.Explain(); problem != "cuBLAS could not be loaded" ||
		len(tried) != len(failed.Tried) {
		t.Errorf("%s, tried %q", problem, tried)
	}
}

func TestPlaces(t *testing.T) {
	t.Setenv("VIRTUAL_ENV", "/venv")
	candidates, missing := Options{Cuda: 13010}.find()
	all := strings.Join(candidates, "\n")
	for _, m := range missing {
		all += "\n" + m.Candidate
	}
	for _, want := range []string{"libcublas.so.13", "libcublas.so.12", "libcublas.so.11",
		"/venv/lib/python3*/site-packages/nvidia/cu13/lib/libcublas.so.13",
		"/venv/lib/python3*/site-packages/nvidia/cublas/lib/libcublas.so.12"} {
		test.StrContains(t, all+"\n", want+"\n", test.Sprint(want))
	}
	test.EqOp(t, "libcublas.so.13", candidates[0])
	if candidates, _ := (Options{Cuda: 10020}).find(); candidates != nil {
		t.Errorf("a driver for CUDA 10 finds %v", candidates)
	}
}

// TestNumbers checks the matrices: all values are normal, below 1, of both signs.
func TestNumbers(t *testing.T) {
	table := numbers()
	negative, values := 0, map[uint16]bool{}
	for i := 0; i < len(table); i += 2 {
		half := uint16(table[i]) | uint16(table[i+1])<<8
		value := math.Ldexp(1+float64(half&0x3ff)/1024, int(half>>10&31)-15)
		if value >= 1 || value < 1.0/16 {
			t.Fatalf("entry %d is %g", i/2, value)
		}
		negative += int(half >> 15)
		values[half] = true
	}
	if n := len(table) / 2; negative < n/3 || negative > n*2/3 || len(values) < n/2 {
		t.Errorf("of %d numbers %d are negative and %d differ", n, negative, len(values))
	}
}
