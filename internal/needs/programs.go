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
	dir, err := Folder()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Folder is Programs where no test runs yet, as in TestMain.
var Folder = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv(Built); dir != "" {
		return filepath.Abs(dir)
	}
	top, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for !exists(filepath.Join(top, "go.mod")) {
		if top == filepath.Dir(top) {
			return "", fmt.Errorf("no go.mod in this folder or above it")
		}
		top = filepath.Dir(top)
	}
	// Tests of several packages may need this at the same time.
	lock, err := os.Open(filepath.Join(top, "Makefile")) // the go command locks go.mod itself
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

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
