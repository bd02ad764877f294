package result

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/coll"
)

// fullDisk takes so many bytes more, then writes what fits and fails.
type fullDisk struct {
	disk
	room *int
}

func (d fullDisk) WriteAt(b []byte, at int64) (int, error) {
	fits := min(len(b), *d.room)
	*d.room -= fits
	n, err := d.disk.WriteAt(b[:fits], at)
	if err == nil && fits < len(b) {
		err = &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return n, err
}

// wrap puts something between the writer and files whose path contains part, until the test ends.
func wrap(t *testing.T, part string, around func(disk) disk) {
	t.Helper()
	open := openFile
	t.Cleanup(func() { openFile = open })
	openFile = func(path string) (disk, error) {
		d, err := open(path)
		if err == nil && strings.Contains(path, part) {
			return around(d), nil
		}
		return d, err
	}
}

func fill(t *testing.T, part string, room *int) {
	t.Helper()
	wrap(t, part, func(d disk) disk { return fullDisk{d, room} })
}

// cachedDisk knows what is not synced yet, and fails to sync when it is told to.
type cachedDisk struct {
	disk
	dirty bool
	fail  error
}

func (d *cachedDisk) WriteAt(b []byte, at int64) (int, error) {
	d.dirty = true
	return d.disk.WriteAt(b, at)
}

func (d *cachedDisk) Sync() error {
	d.dirty = d.fail != nil
	return d.fail
}

func TestRecordsAreSynced(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var cached *cachedDisk
	wrap(t, "profile_", func(d disk) disk {
		cached = &cachedDisk{disk: d}
		return cached
	})
	w, _ := newWriter(t, t.TempDir(), sampleRun())
	for range 3 {
		if cached.dirty {
			t.Fatal("not all of it is on disk")
		}
		sampleAppend(t, w, 1)
	}
	cached.fail = syscall.EIO
	r := sampleRecord(sampleCase(t, coll.AllGather, 8), 1e-5)
	err := w.Append(&r)
	var broken *WriteError
	if !errors.As(err, &broken) || !errors.Is(err, syscall.EIO) || broken.Kept != 3 || broken.Rescued != 1 {
		t.Errorf("a disk that fails: %v", err)
	}
	if f := mustRead(t, w.Path()); len(f.Records) != 3 || len(f.Problems) != 0 {
		t.Errorf("%d records, %v", len(f.Records), f.Problems)
	}
}

func TestDiskFull(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	room := 1 << 20
	fill(t, "profile_", &room)
	w, _ := newWriter(t, t.TempDir(), sampleRun())
	sampleAppend(t, w, 2)
	room = 100
	var err error
	for range 2 {
		r := sampleRecord(sampleCase(t, coll.AllGather, 8), 1e-5)
		err = w.Append(&r)
	}
	var full *WriteError
	if !errors.As(err, &full) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the error is %v", err)
	}
	for _, want := range []string{"no space left on device", w.Path(), "2 records are safe", "2 records are in " +
		full.Rescue} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
	room = 1000
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
	if rows := csvRows(t, MergeOptions{}, w.Path(), full.Rescue); len(rows) != 4 {
		t.Errorf("%d rows of both", len(rows))
	}
}

func TestNoRoomAnywhere(t *testing.T) {
	room := 1 << 20
	fill(t, "", &room)
	w, _ := newWriter(t, t.TempDir(), sampleRun())
	sampleAppend(t, w, 3)
	room = 50
	r := sampleRecord(sampleCase(t, coll.AllGather, 8), 1e-5)
	err := w.Append(&r)
	var full *WriteError
	if !errors.As(err, &full) || full.Rescue != "" || !strings.Contains(err.Error(), "lost") {
		t.Errorf("the error is %v", err)
	}
	if f := mustRead(t, w.Path()); len(f.Records) != 3 || len(f.Problems) != 0 {
		t.Errorf("%d records, %v", len(f.Records), f.Problems)
	}
}

func TestRemovedInMidRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	w, warned := newWriter(t, dir, sampleRun())
	sampleAppend(t, w, 2)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	sampleAppend(t, w, 1)
	if len(*warned) != 1 || !strings.Contains((*warned)[0], "was removed") {
		t.Errorf("warned: %q", *warned)
	}
	// Another file of that name: ours goes beside it.
	path := w.Path()
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("not ours\n"), 0o666)); err != nil {
		t.Fatal(err)
	}
	sampleAppend(t, w, 1)
	if err := w.End(End{Outcome: Complete}); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "not ours\n" || w.Path() == path {
		t.Errorf("%s holds %q", path, b)
	}
	if f := mustRead(t, w.Path()); len(f.Records) != 4 || len(f.Ranks) != 4 || f.End == nil {
		t.Errorf("put back: %d records, end %v", len(f.Records), f.End)
	}
	if _, err := os.Stat(w.TextPath()); err != nil {
		t.Error(err)
	}
}

func TestRemovedForGood(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := filepath.Join(t.TempDir(), "results")
	w, _ := newWriter(t, dir, sampleRun())
	sampleAppend(t, w, 2)
	if err := errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	r := sampleRecord(sampleCase(t, coll.AllGather, 8), 1e-5)
	err := w.Append(&r)
	var gone *WriteError
	if !errors.As(err, &gone) || !gone.Gone || !strings.Contains(err.Error(), "cannot be put back") {
		t.Fatalf("the error is %v", err)
	}
	if err := w.End(End{Outcome: Aborted}); !errors.As(err, &gone) {
		t.Error(err)
	}
	if f := mustRead(t, gone.Rescue); len(f.Records) != 3 || f.End == nil || gone.Rescued != 3 {
		t.Errorf("rescued %d: %+v", gone.Rescued, f)
	}
}
