//go:build cgo

package cudart

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"unsafe"

	"busbar/internal/dl"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// fakeDriver is the file of the fake driver of testdata/fake, compiled by TestMain.
var fakeDriver string

func TestMain(t *testing.M) {
	dir, err := os.MkdirTemp("", "busbar-cudart-test")
	if err == nil {
		fakeDriver = filepath.Join(dir, library)
		err = compile(fakeDriver, "testdata/fake/libcuda.c", "testdata/fake/ptx.c")
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = t.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func compile(so string, args ...string) error {
	args = append([]string{"-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I.", "-o", so},
		append(args, "-lpthread")...)
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("cc: %w\n%s", err, out)
	}
	return nil
}

// write makes a file and its folder.
func write(t *testing.T, path, text string) {
	t.Helper()
	must.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)))
}

// atEnd closes an object at the end of the test, which must succeed.
func atEnd(t *testing.T, closing func() error) {
	t.Cleanup(func() {
		test.NoError(t, closing())
	})
}

// symbol is the address of a symbol of a library.
func symbol(t *testing.T, library, name string) unsafe.Pointer {
	t.Helper()
	lib, err := dl.Open(dl.Spec{Name: "library", Candidates: []string{library}})
	must.NoError(t, err)
	p, err := lib.Symbol(name)
	must.NoError(t, err)
	return p
}

// without is a fake driver that lacks some symbols.
func without(t *testing.T, symbols ...string) string {
	t.Helper()
	dir := t.TempDir()
	hidden := "{ local:"
	for _, s := range symbols {
		hidden += " " + s + ";"
	}
	script, so := filepath.Join(dir, "map"), filepath.Join(dir, library)
	write(t, script, hidden+" };\n")
	must.NoError(t, compile(so, "testdata/fake/libcuda.c", "testdata/fake/ptx.c",
		"-Wl,--version-script="+script))
	return so
}

func load(t *testing.T, path string) *Driver {
	t.Helper()
	d, err := Load(Options{Path: path})
	must.NoError(t, err)
	return d
}

// open returns a context, current on the test's thread, and checks at the end that everything was freed.
func open(t *testing.T) *Context {
	t.Helper()
	runtime.LockOSThread()
	before := live(t)
	c, err := load(t, fakeDriver).Open(0)
	must.NoError(t, err)
	t.Cleanup(func() {
		test.NoError(t, c.Close())
		test.EqOp(t, 0, live(t)-before)
		runtime.UnlockOSThread()
	})
	return c
}

// live returns the number of objects that the fake driver has not freed.
func live(t *testing.T) int32 { return *(*int32)(symbol(t, fakeDriver, "fake_cuda_live")) }
