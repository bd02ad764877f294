//go:build cgo

package nccl

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/dl"
	"busbar/internal/needs"

	"github.com/shoenig/test/must"
)

// profiler/test tests the plugin's reports in C, and rank's system tests with a library.
func TestProfiler(t *testing.T) {
	file := needs.SharedLibrary(t, profilerLibrary, "", "profiler/plugin.c")
	p, err := OpenProfiler([]string{t.TempDir(), filepath.Dir(file)})
	must.NoError(t, err)
	if p.Path() != file || p.Interface() != 0 || p.Watch() || p.Take().Known() {
		t.Errorf("%s, interface %d before any library asked", p.Path(), p.Interface())
	}
}

func TestProfilerPathTooLong(t *testing.T) {
	dir := t.TempDir()
	for _, length := range []int{profilerPathMax, profilerPathMax + 1} {
		long := filepath.Join(dir, strings.Repeat("d", length-len(dir)-len(profilerLibrary)-2))
		must.NoError(t, os.Mkdir(long, 0o755))
		needs.SharedLibrary(t, filepath.Join(long, profilerLibrary), "", "profiler/plugin.c")
		if _, err := OpenProfiler([]string{long}); (err != nil) != (length > profilerPathMax) {
			t.Errorf("a path of %d bytes: %v", length, err)
		}
	}
}

func TestProfilerRejectsOtherLibrary(t *testing.T) {
	var missing *dl.LoadError
	if _, err := OpenProfiler([]string{t.TempDir()}); !errors.As(err, &missing) {
		t.Errorf("an empty folder: %v", err)
	}
	var lacks *dl.SymbolError
	other := filepath.Dir(needs.SharedLibrary(t, profilerLibrary, "int x;"))
	if _, err := OpenProfiler([]string{other}); !errors.As(err, &lacks) {
		t.Errorf("a library of another kind: %v", err)
	}
}
