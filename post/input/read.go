package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

// FilesUnder are the files of a folder and its subfolders, in order, without hidden ones.
func FilesUnder(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return ReadError(path, err)
		case path != folder && strings.HasPrefix(e.Name(), "."):
			if e.IsDir() {
				return filepath.SkipDir
			}
		case e.Type().IsRegular():
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// ReadError names the file that could not be read, and the system's reason.
func ReadError(path string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("cannot read %s: %w", path, err)
}
