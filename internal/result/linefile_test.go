package result

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/coll"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// failing makes the disk fail for files whose path contains part, until the test ends.
func failing(t *testing.T, part string) {
	t.Helper()
	before := syncFile
	t.Cleanup(func() { syncFile = before })
	syncFile = func(f *os.File) error {
		if strings.Contains(f.Name(), part) {
			return syscall.ENOSPC
		}
		return before(f)
	}
}

// failedAppend appends one record, and returns the error.
func failedAppend(t *testing.T, w *Writer) *WriteError {
	t.Helper()
	r := sampleRecord(sampleCase(t, coll.AllGather, 8), 1e-5)
	err := w.Append(&r)
	var failed *WriteError
	if !errors.As(err, &failed) {
		t.Fatalf("the error is %v", err)
	}
	return failed
}

func TestRecordsAreSynced(t *testing.T) {
	synced := 0
	t.Cleanup(func() { syncFile = (*os.File).Sync })
	syncFile = func(*os.File) error {
		synced++
		return nil
	}
	w, _ := newWriter(t, t.TempDir(), sampleRun())
	if sampleAppend(t, w, 3); synced != 4 { // the header is the first
		t.Errorf("synced %d times", synced)
	}
}

func TestDiskFull(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	w, _ := newWriter(t, t.TempDir(), sampleRun())
	sampleAppend(t, w, 2)
	failing(t, "profile_")
	failedAppend(t, w)
	full := failedAppend(t, w)
	if !errors.Is(full, syscall.ENOSPC) || full.Kept != 2 || full.Rescued != 2 || full.Path != w.Path() {
		t.Errorf("the error is %+v", full)
	}
	syncFile = (*os.File).Sync // there is room for the end
	if err := w.End(End{Outcome: Aborted}); !errors.As(err, &full) {
		t.Errorf("End: %v", err)
	}
	main, rescue := mustRead(t, w.Path()), mustRead(t, full.Rescue)
	if len(main.Records) != 2 || len(main.Problems) != 0 || main.End == nil {
		t.Errorf("in the file: %d records, %v, end %v", len(main.Records), main.Problems, main.End)
	}
	if len(rescue.Records) != 2 || rescue.End == nil || rescue.Run.ID != main.Run.ID {
		t.Errorf("in the rescue file: %+v", rescue)
	}
	test.EqOp(t, 4, len(csvRows(t, MergeOptions{}, w.Path(), full.Rescue)))
}

func TestNoSpaceLeft(t *testing.T) {
	w, _ := newWriter(t, t.TempDir(), sampleRun())
	sampleAppend(t, w, 3)
	failing(t, "")
	if full := failedAppend(t, w); full.Rescue != "" || !errors.Is(full.RescueErr, syscall.ENOSPC) {
		t.Errorf("the error is %+v", full)
	}
	if f := mustRead(t, w.Path()); len(f.Records) != 3 || len(f.Problems) != 0 {
		t.Errorf("%d records, %v", len(f.Records), f.Problems)
	}
}

func TestFileRemovedWhileWriting(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := filepath.Join(t.TempDir(), "results")
	w, _ := newWriter(t, dir, sampleRun())
	sampleAppend(t, w, 2)
	must.NoError(t, os.RemoveAll(dir))
	gone := failedAppend(t, w)
	if err := w.End(End{Outcome: Aborted}); !gone.Gone || !errors.As(err, &gone) {
		t.Errorf("gone: %v, end: %v", gone.Gone, err)
	}
	if f := mustRead(t, gone.Rescue); len(f.Records) != 3 || f.End == nil || gone.Rescued != 3 {
		t.Errorf("rescued %d: %+v", gone.Rescued, f)
	}
}
