package input

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// untilDone is a file that ends with the context.
type untilDone struct {
	ctx  context.Context
	file io.Reader
}

// NewReader is a file of which reading ends with the context.
func NewReader(ctx context.Context, file io.Reader) io.Reader { return untilDone{ctx, file} }

func (u untilDone) Read(b []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.file.Read(b)
}

// Unpacked reads a file through a buffer, decompressed if it is gzip, whatever its name is.
func Unpacked(file io.Reader, buffer int) (*bufio.Reader, error) {
	b := bufio.NewReaderSize(file, buffer)
	if head, _ := b.Peek(2); string(head) != "\x1f\x8b" {
		return b, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(z, buffer), nil
}

// Expand returns a file, or the files of a folder as FilesUnder does. The error names the path.
func Expand(path string) (files []string, isFolder bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false, ReadError(path, err)
	}
	if !info.IsDir() {
		return []string{path}, false, nil
	}
	files, err = FilesUnder(path)
	return files, true, err
}

// FilesUnder are the files of a folder and its subfolders, in order, without hidden ones. The folder may be a link, and
// links to files are followed; links to folders are not. A subfolder that cannot be read is among the files, so that
// reading it has an error of its own.
func FilesUnder(folder string) (files []string, err error) {
	folder = filepath.Clean(folder)
	root := folder + string(filepath.Separator) // follows a link
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return ReadError(folder, err)
		case err != nil:
			files = append(files, path)
			if e.IsDir() {
				return filepath.SkipDir
			}
		case path != root && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return filepath.SkipDir
			}
		case e.Type().IsRegular(), isLinkToFile(path, e):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

func isLinkToFile(path string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// ReadError names the file that could not be read, and the system's reason.
func ReadError(path string, err error) error {
	if inner, is := errors.AsType[*fs.PathError](err); is {
		err = inner.Err
	}
	return fmt.Errorf("cannot read %s: %w", path, err)
}
