package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/nccllog"
)

// read reads the files of one run, and those of folders with their subfolders. A file in a folder that holds nothing to
// read is passed over; one that was named is an error.
func (l *logger) read(ctx context.Context, paths []string) (*nccllog.Log, error) {
	r := nccllog.NewReader()
	read, passed := 0, 0
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, cannotRead(path, err)
		}
		if !info.IsDir() {
			if err := l.Add(ctx, r, path); err != nil {
				return nil, err
			}
			read++
			continue
		}
		files, err := filesUnder(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			err := l.Add(ctx, r, file)
			var nothing *nccllog.NothingError
			switch {
			case errors.As(err, &nothing):
				passed++
			case err != nil:
				return nil, err
			default:
				read++
			}
		}
	}
	if read == 0 {
		return nil, fmt.Errorf("nothing of NCCL in %s: %s looked at. NCCL writes with NCCL_DEBUG=INFO, on stdout or into "+
			"NCCL_DEBUG_FILE", strings.Join(paths, ", "), units.Count(passed, "file"))
	}
	if passed > 0 {
		l.notes = append(l.notes, notice.New(notice.NothingOfNCCL{Files: passed}))
	}
	return r.Log(), nil
}

// Add reads one file.
func (l *logger) Add(ctx context.Context, r *nccllog.Reader, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return cannotRead(path, err)
	}
	defer f.Close()
	if err := r.Add(strings.TrimPrefix(path, l.shown), untilDone{ctx, f}); err != nil {
		return err
	}
	return context.Cause(ctx) // the reader takes a file that breaks off for what it is
}

// untilDone is a file that ends with the context.
type untilDone struct {
	ctx  context.Context
	file io.Reader
}

func (u untilDone) Read(b []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.file.Read(b)
}

// filesUnder are the files of a folder and its subfolders, in order, without hidden ones.
func filesUnder(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return cannotRead(path, err)
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

func cannotRead(path string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("cannot read %s: %w", path, err)
}
