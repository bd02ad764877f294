//go:build cgo

package cublas

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// loadOnly makes the test's program load cuBLAS as rank does, from the folder that it names or, if that is ".", from
// everywhere, and print what was loaded: the loader reads LD_LIBRARY_PATH and keeps what it has opened as long as a
// process lives. scripts/cublas.sh uses it too.
const loadOnly = "BUSBAR_TEST_CUBLAS_FOLDER"

func TestMain(m *testing.M) {
	dir := os.Getenv(loadOnly)
	if dir == "" {
		os.Exit(m.Run())
	}
	o := Options{Cuda: 12090}
	if dir != "." {
		o.Dirs = []string{dir}
	}
	l, err := Load(o)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(l.Info().Version, l.Info().Path)
}

// loadAlone loads cuBLAS in a separate process and returns its version and path, or the error's text.
func loadAlone(t *testing.T, env ...string) string {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), env...)
	said, err := c.Output()
	if e := new(exec.ExitError); err != nil && !errors.As(err, &e) {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(said))
}

// halves returns a folder with fakes of both libraries, of version 12.minor.5, without paths to each other.
func halves(t *testing.T, minor string, below ...string) string {
	t.Helper()
	dir := filepath.Join(append([]string{t.TempDir()}, below...)...)
	must.NoError(t, os.MkdirAll(dir, 0o755))
	lt := filepath.Join(dir, "libcublasLt.so.12")
	minor = "-DMINOR=" + minor
	needs.SharedLibrary(t, lt, "", minor, "-Wl,-soname,libcublasLt.so.12", "testdata/lt.c")
	return filepath.Dir(needs.SharedLibrary(t, filepath.Join(dir, "libcublas.so.12"), "", minor,
		"-Wl,-soname,libcublas.so.12", "testdata/fake.c", lt))
}

func TestLoadPairsLibrariesOfOneFolder(t *testing.T) {
	inVenv := []string{"lib", "python3.0", "site-packages", "nvidia", "cublas", "lib"}
	for _, k := range [][2]string{{"1", "9"}, {"9", "1"}} {
		byLoader, byPip := halves(t, k[0]), halves(t, k[1], inVenv...)
		venv := strings.TrimSuffix(byPip, filepath.Join(inVenv...))
		want := "12." + k[0] + ".5 " + filepath.Join(byLoader, "libcublas.so.12")
		if got := loadAlone(t, loadOnly+"=.", "LD_LIBRARY_PATH="+byLoader, "VIRTUAL_ENV="+venv); got != want {
			t.Errorf("12.%s where the loader looks, 12.%s in Python's: %s, wanted %s", k[0], k[1], got, want)
		}
	}
}

func TestLoadFindsSecondLibrary(t *testing.T) {
	dir := halves(t, "9")
	test.EqOp(t, "12.9.5 "+filepath.Join(dir, "libcublas.so.12"), loadAlone(t, loadOnly+"="+dir))
}

func TestLoadRejectsOtherVersion(t *testing.T) {
	old, recent := halves(t, "1"), halves(t, "9")
	must.NoError(t, os.Remove(filepath.Join(old, "libcublasLt.so.12")))
	got := loadAlone(t, loadOnly+"=.", "LD_LIBRARY_PATH="+old+":"+recent)
	test.StrContains(t, got, filepath.Join(old, "libcublas.so.12")+" is loaded with "+
		filepath.Join(recent, "libcublasLt.so.12"))
}
