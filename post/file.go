package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// writeFiles writes files whole or not at all: into hidden files beside them, synced, then renamed. write gets a writer
// for each path. The error names the path that could not be written, or is write's own.
func writeFiles(ctx context.Context, paths []string, write func(w []io.Writer) error) (err error) {
	var drafts []*draft
	defer func() {
		for _, d := range drafts {
			d.discard()
		}
	}()
	var writers []io.Writer
	for _, path := range paths {
		d, err := newDraft(ctx, path)
		if err != nil {
			return err
		}
		drafts, writers = append(drafts, d), append(writers, d)
	}
	if err := write(writers); err != nil {
		return err
	}
	return keepAll(drafts)
}

// draft is a file that does not have its name yet; its Write ends with the context.
type draft struct {
	ctx  context.Context
	path string
	file *os.File
	done bool // synced and closed
	kept bool
}

func newDraft(ctx context.Context, path string) (*draft, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, cannotWrite(path, err)
	}
	temp := filepath.Join(dir, fmt.Sprintf(".%s.%d", filepath.Base(path), os.Getpid()))
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, cannotWrite(path, err)
	}
	return &draft{ctx: ctx, path: path, file: f}, nil
}

func (d *draft) Write(b []byte) (int, error) {
	if d.ctx.Err() != nil {
		return 0, fmt.Errorf("%s is not written: %w", d.path, context.Cause(d.ctx))
	}
	n, err := d.file.Write(b)
	if err != nil {
		err = cannotWrite(d.path, err)
	}
	return n, err
}

// finish closes the draft, to which nothing more is written.
func (d *draft) finish() error {
	err := d.file.Sync()
	if err == nil {
		err = d.file.Close()
	}
	if err != nil {
		return cannotWrite(d.path, err)
	}
	d.done = true
	return nil
}

// keepAll makes drafts the files. Folders are synced once, which makes the names last where the file system can.
func keepAll(drafts []*draft) error {
	folders := map[string]bool{}
	for _, d := range drafts {
		if !d.done {
			if err := d.finish(); err != nil {
				return err
			}
		}
		if err := os.Rename(d.file.Name(), d.path); err != nil {
			return cannotWrite(d.path, err)
		}
		d.kept = true
		folders[filepath.Dir(d.path)] = true
	}
	for path := range folders {
		if dir, err := os.Open(path); err == nil {
			_ = dir.Sync()
			_ = dir.Close()
		}
	}
	return nil
}

// discard removes a draft that was not kept.
func (d *draft) discard() {
	if !d.kept {
		_ = d.file.Close() // a second time does no harm
		_ = os.Remove(d.file.Name())
	}
}

// cannotWrite names the file that was meant, and the system's reason.
func cannotWrite(path string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("cannot write %s: %w", path, err)
}
