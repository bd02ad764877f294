//go:build cgo

package gloo

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/dl"
	"busbar/internal/needs"

	"github.com/shoenig/test"
)

func TestLoadErrors(t *testing.T) {
	another := needs.SharedLibrary(t, shimFile, "int other = 1;")
	older := needs.SharedLibrary(t, shimFile, "const unsigned busbar_gloo = 4711;")
	for want, path := range map[string]string{
		"make gloo-shim":            filepath.Join(t.TempDir(), "nothing.so"),
		"libgloo-dev":               filepath.Join(t.TempDir(), "nothing.so"),
		"is not the Gloo shim":      another,
		"its table has number 4711": older,
		"rebuild it\n":              older,
	} {
		_, err := Load(path)
		var failed *dl.LoadError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestLoadWithoutGloo(t *testing.T) {
	for why, want := range map[string]string{
		"libgloo.so.0: cannot open shared object file":                              "apt-get install libgloo0",
		"/lib/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by ...)": "libstdc++6",
	} {
		test.StrContains(t, advice([]dl.Attempt{{Candidate: "/lib/" + shimFile, Why: why}}), want)
	}
}

// The shim exports one symbol, so that no symbol of it, Gloo or C++ conflicts with another library's.
func TestOneSymbol(t *testing.T) {
	l := library(t)
	needs.Command(t, "nm", "it lists symbols, and comes with the compiler's binutils")
	out, err := exec.Command("nm", "-D", "--defined-only", l.Info().ShimPath).Output()
	if err != nil {
		t.Fatalf("nm: %v", err)
	}
	if lines := strings.Split(strings.TrimSpace(string(out)), "\n"); len(lines) != 1 ||
		!strings.HasSuffix(lines[0], " busbar_gloo") {
		t.Errorf("exported: %q", lines)
	}
}
