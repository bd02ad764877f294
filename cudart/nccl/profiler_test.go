//go:build cgo

package nccl

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/dl"
)

// What NCCL tells through the plugin is tested in C (profiler/test), and with a library behind it by rank's system
// tests.
func TestProfiler(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, profilerLibrary)
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-std=gnu11", "-pthread", "-o", file,
		"profiler/plugin.c").CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	p, err := OpenProfiler([]string{t.TempDir(), dir})
	if err != nil {
		t.Fatal(err)
	}
	if p.Path() != file || p.Interface() != 0 || p.Watch() {
		t.Errorf("%s, interface %d before any library asked", p.Path(), p.Interface())
	}
	if w := p.Take(); w.Known() {
		t.Errorf("nothing was told, and it is %+v", w)
	}
}

func TestProfilerPathTooLongForNCCL(t *testing.T) {
	short := t.TempDir()
	dir := filepath.Join(short, strings.Repeat("d", profilerPathMax-len(short)-len(profilerLibrary)-2))
	for _, extra := range []string{"", "d"} {
		if err := os.Mkdir(dir+extra, 0o755); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir+extra, profilerLibrary)
		if out, err := exec.Command("cc", "-shared", "-fPIC", "-std=gnu11", "-pthread", "-o", file,
			"profiler/plugin.c").CombinedOutput(); err != nil {
			t.Fatalf("cc: %v\n%s", err, out)
		}
		_, err := OpenProfiler([]string{dir + extra})
		if tooLong := len(file) > profilerPathMax; tooLong != (err != nil) ||
			tooLong && !strings.Contains(err.Error(), file) {
			t.Errorf("a path of %d bytes: %v", len(file), err)
		}
	}
}

func TestProfilerThatIsNone(t *testing.T) {
	dir := t.TempDir()
	var missing *dl.LoadError
	if _, err := OpenProfiler([]string{dir}); !errors.As(err, &missing) {
		t.Errorf("an empty folder: %v", err)
	}
	empty := filepath.Join(dir, "empty.c")
	if err := os.WriteFile(empty, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", filepath.Join(dir, profilerLibrary),
		empty).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	var lacks *dl.SymbolError
	if _, err := OpenProfiler([]string{dir}); !errors.As(err, &lacks) {
		t.Errorf("a library of another kind: %v", err)
	}
}
