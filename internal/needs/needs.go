// Package needs is for tests that depend on something that `make test` installs or builds. Without it a test is skipped
// with the reason. Under `make test` the test fails instead, so that no test is skipped unnoticed.
//
// It also marks the long tests that `make test` leaves to `make test-all`: TestAll and Shortened.
//
// It does not cover properties of the machine: root, namespaces, a second CPU. Such tests skip by themselves.
package needs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Whole is the variable that scripts/check.sh sets where nothing may be missing.
const Whole = "BUSBAR_TEST_WHOLE"

// LeftToAll is what a test writes that leaves work to `make test-all`. scripts/check.sh finds these tests by it.
const LeftToAll = "left to make test-all"

// TestAll skips a test or subtest that takes too long for `make test` (go test -short).
func TestAll(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip(LeftToAll)
	}
}

// Torchrun skips a test of torchrun unless scripts/check.sh has installed PyTorch for it.
func Torchrun(t testing.TB) {
	t.Helper()
	if os.Getenv("BUSBAR_TORCHRUN_TEST") == "" {
		t.Skip("scripts/check.sh torchrun, a part of make test-all, installs PyTorch (149 MB) and runs it")
	}
}

// Shortened reports whether a test should do less, and records that `make test-all` runs it in full.
func Shortened(t testing.TB) bool {
	t.Helper()
	if testing.Short() {
		t.Log(LeftToAll)
	}
	return testing.Short()
}

// Command requires a program on PATH; use is its purpose.
func Command(t testing.TB, name, use string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		missing(t, "there is no "+name+" on PATH: "+use)
	}
}

// SharedLibrary compiles a shared library of C files, or of a text, and returns its path; a relative one is in a folder
// of its own.
func SharedLibrary(t testing.TB, path, text string, args ...string) string {
	t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.TempDir(), path)
	}
	args = append([]string{"-shared", "-fPIC", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", path},
		args...)
	if text != "" {
		args = append(args, "-x", "c", "-")
	}
	cmd := exec.Command("cc", args...)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	return path
}

// File requires at least one file of the pattern; origin states where it comes from.
func File(t testing.TB, pattern, origin string) {
	t.Helper()
	if len(glob(t, pattern)) == 0 {
		missing(t, "there is no "+pattern+": "+origin)
	}
}

// examplesFolder has files of other people beside the repository, on machines of developers. Their licences keep them
// out of it. So tests with these files come in addition to tests with synthetic files.
const examplesFolder = "shared/examples"

// Examples requires at least one file of the pattern, in that folder. Without the folder the test is skipped, also
// under `make test`, which cannot bring it; with it a missing file is an error.
func Examples(t testing.TB, pattern string) []string {
	t.Helper()
	before, _, _ := strings.Cut(pattern, examplesFolder)
	if !exists(before + examplesFolder) {
		t.Skip("files of other people are no part of this repository, and there is no folder of them: " +
			before + examplesFolder)
	}
	found := glob(t, pattern)
	if len(found) == 0 {
		t.Fatalf("there is no %s", pattern)
	}
	return found
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	return found
}

func missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv(Whole) != "" {
		t.Fatalf("%s (%s is set: nothing may be missing here)", why, Whole)
	}
	t.Skip(why)
}
