package needs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

// Built is the variable that names a folder whose bin and lib were built from these sources; scripts/check.sh sets it.
const Built = "BUSBAR_TEST_PROGRAMS"

// Programs returns the folder that holds bin (rank, post) and lib (shims, simulated libraries) as `make build` makes
// them from the sources: the folder that BUSBAR_TEST_PROGRAMS names, or else the checkout, where it runs make build.
func Programs(t testing.TB) string {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Folder is Programs where there is no test yet, as in TestMain.
func Folder() (string, error) { return programs() }

var programs = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv(Built); dir != "" {
		return filepath.Abs(dir)
	}
	top, err := os.Getwd()
	for err == nil {
		if _, err = os.Stat(filepath.Join(top, "go.mod")); err == nil {
			break
		}
		if top == filepath.Dir(top) {
			return "", fmt.Errorf("no go.mod in this folder or above it: %w", err)
		}
		top, err = filepath.Dir(top), nil
	}
	if err != nil {
		return "", err
	}
	// Tests of several packages may want this at the same time.
	if err := os.MkdirAll(filepath.Join(top, "bin"), 0o755); err != nil {
		return "", err
	}
	lock, err := os.Create(filepath.Join(top, "bin", ".lock"))
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return "", fmt.Errorf("%s: %w", lock.Name(), err)
	}
	build := exec.Command("make", "--no-print-directory", "build")
	build.Dir = top
	// Variables of a make that runs the tests would change what this one does.
	build.Env = append(os.Environ(), "OUT=", "MAKEFLAGS=", "MAKELEVEL=")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("make build: %w\n%s", err, out)
	}
	return top, nil
})
