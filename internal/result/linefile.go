package result

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lineFile is a file of whole lines: each is on disk when append returns, or the file ends before it.
type lineFile struct {
	disk *os.File
	path string
	size int64 // up to the end of the last whole line
}

// syncFile is replaced by tests that need a disk which fails.
var syncFile = (*os.File).Sync

// createLineFile makes a new file that begins with head; one that is there already is an fs.ErrExist.
func createLineFile(path string, head []byte) (*lineFile, error) {
	d, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, err
	}
	f := &lineFile{disk: d, path: path}
	if err = f.append(head); err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(err, d.Close(), os.Remove(path))
	}
	return f, nil
}

// append adds whole lines and waits until the disk has them. After an error the file ends where it did before.
func (f *lineFile) append(lines []byte) error {
	_, err := f.disk.WriteAt(lines, f.size)
	if err == nil {
		err = syncFile(f.disk)
	}
	if err != nil {
		// If this fails too, the next line overwrites the rest of this one, or readers treat it as torn.
		_ = f.disk.Truncate(f.size)
		return err
	}
	f.size += int64(len(lines))
	return nil
}

// present reports whether path still names this file.
func (f *lineFile) present() bool {
	mine, err := f.disk.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.path)
	return err == nil && os.SameFile(mine, there)
}

// lines is everything that was written, read back through the open file.
func (f *lineFile) lines() ([]byte, error) {
	lines := make([]byte, f.size)
	if _, err := f.disk.ReadAt(lines, 0); err != nil {
		return nil, fmt.Errorf("reading back %s: %w", f.path, err)
	}
	return lines, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil // a filesystem whose folders need no sync
	}
	return errors.Join(err, d.Close())
}
