// Package needs is for tests that want something of the machine which `make test` installs or builds. Where that is not
// there a test is skipped and says why; under `make test`, which has just seen to it, the test fails instead, so that
// nothing goes untested unseen.
//
// It is not for what no command can bring: root, namespaces, a second CPU. Such tests skip by themselves.
package needs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Whole is the variable that scripts/check.sh sets where nothing may be missing.
const Whole = "BUSBAR_TEST_WHOLE"

// Command wants a program on PATH; use says what for.
func Command(t testing.TB, name, use string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing(t, "there is no "+name+" on PATH: "+use)
	}
}

// File wants at least one file of the pattern; origin says where it comes from.
func File(t testing.TB, pattern, origin string) {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	if len(found) == 0 {
		missing(t, "there is no "+pattern+": "+origin)
	}
}

func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv(Whole) != "" {
		t.Fatalf("%s (%s is set: nothing may be missing here)", why, Whole)
	}
	t.Skip(why)
}
