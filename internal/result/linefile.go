package result

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// disk is what a lineFile needs of an open file; *os.File has it.
type disk interface {
	io.WriterAt
	io.ReaderAt
	Sync() error
	Truncate(size int64) error
	Stat() (os.FileInfo, error)
	Close() error
}

// lineFile is a file of whole lines: each is on disk when append returns, or the file ends before it.
type lineFile struct {
	disk disk
	path string
	size int64 // up to the end of the last whole line
}

// openFile is replaced by tests that need a disk which fails.
var openFile = func(path string) (disk, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// createLineFile makes a new file that begins with head; one that is there already is an fs.ErrExist.
func createLineFile(path string, head []byte) (*lineFile, error) {
	d, err := openFile(path)
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
		err = f.disk.Sync()
	}
	if err != nil {
		// What is left of the line if this fails too is overwritten by the next, or read as a torn end.
		_ = f.disk.Truncate(f.size)
		return err
	}
	f.size += int64(len(lines))
	return nil
}

// present says whether path still names this file.
func (f *lineFile) present() bool {
	mine, err := f.disk.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(f.path)
	return err == nil && os.SameFile(mine, there)
}

// restore copies the lines of a file that was removed to a new one at path, making the folder anew where needed.
// When something else lies at path by now the error is an fs.ErrExist.
func (f *lineFile) restore(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	lines, err := f.lines()
	if err != nil {
		return err
	}
	again, err := createLineFile(path, lines)
	if err != nil {
		return err
	}
	_ = f.disk.Close() // nothing of it has a name any more
	*f = *again
	return nil
}

// backInPlace makes sure that the file has its name still; one that was removed is written anew, under the name of a
// later millisecond of run when something else has taken its own.
func (f *lineFile) backInPlace(run *Run, say func(string)) error {
	if f.present() {
		return nil
	}
	was := f.path
	err := f.restore(was)
	if errors.Is(err, fs.ErrExist) {
		err = freshName(filepath.Dir(was), run, f.restore)
	}
	if err == nil {
		say(fmt.Sprintf("%s was removed while the run was writing it; all of it is back in %s", was, f.path))
	}
	return err
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
