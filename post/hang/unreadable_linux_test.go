package hang_test

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"busbar/internal/notice"
	"busbar/post/hang"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// A folder that cannot be read is reported, and the others count.
func TestReadWithoutOneFolder(t *testing.T) {
	f := NewFolder(t).Dumps(stops(job(4), 1)).File("closed/x", "")
	closed := filepath.Join(f.Path, "closed")
	must.NoError(t, os.Chmod(closed, 0))
	t.Cleanup(func() {
		if err := os.Chmod(closed, 0o700); err != nil { // so that it can be removed
			t.Error(err)
		}
	})
	if os.Geteuid() == 0 { // root reads every folder: on this thread files are accessed as nobody
		if err := os.Chmod(filepath.Dir(f.Path), 0o755); err != nil { // made by t.TempDir
			t.Fatal(err)
		}
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		must.NoError(t, syscall.Setfsuid(65534))
		defer func() {
			test.NoError(t, syscall.Setfsuid(0))
		}()
	}
	if _, err := os.ReadDir(closed); err == nil {
		t.Fatal("the folder is readable")
	}
	_, notes, err := hang.Read(t.Context(), []string{f.Path})
	if err != nil || len(notes) != 1 || notes[0].Code() != notice.CodeOf(notice.FileUnreadable{}) {
		t.Error(notes, err)
	}
}
