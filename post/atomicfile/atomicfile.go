// Package atomicfile writes files that exist whole or not at all.
package atomicfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Write writes files whole or not at all: into hidden files beside them, synced, then renamed. write gets a writer
// for each path. The error names the path that could not be written, or is write's own.
func Write(ctx context.Context, paths []string, write func(w []io.Writer) error) (err error) {
	var drafts []*Draft
	defer func() { DiscardAll(drafts) }()
	var writers []io.Writer
	for _, path := range paths {
		d, err := New(ctx, path)
		if err != nil {
			return err
		}
		drafts, writers = append(drafts, d), append(writers, d)
	}
	if err := write(writers); err != nil {
		return err
	}
	return KeepAll(drafts)
}

// WriteTexts writes files, all or none.
func WriteTexts(ctx context.Context, paths []string, texts [][]byte) error {
	return Write(ctx, paths, func(w []io.Writer) error {
		for i, text := range texts {
			if _, err := w[i].Write(text); err != nil {
				return err
			}
		}
		return nil
	})
}

// Draft is a file that does not have its name yet; its Write ends with the context.
type Draft struct {
	ctx  context.Context
	Path string
	File *os.File
	made []string // folders made for it, outer first
	done bool     // synced and closed
	kept bool
}

// New returns the draft of the file at path. It creates missing folders, which Discard removes if they stay empty.
func New(ctx context.Context, path string) (*Draft, error) {
	dir := filepath.Dir(path)
	made := missingFolders(dir)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, WriteError(path, err)
	}
	temp := filepath.Join(dir, fmt.Sprintf(".%s.%d", filepath.Base(path), os.Getpid()))
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, WriteError(path, err)
	}
	return &Draft{ctx: ctx, Path: path, File: f, made: made}, nil
}

// missingFolders returns a folder and those above it that do not exist, outer first.
func missingFolders(dir string) (missing []string) {
	for _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist); _, err = os.Stat(dir) {
		missing = append([]string{dir}, missing...)
		dir = filepath.Dir(dir)
	}
	return missing
}

func (d *Draft) Write(b []byte) (int, error) {
	if d.ctx.Err() != nil {
		return 0, fmt.Errorf("%s is not written: %w", d.Path, context.Cause(d.ctx))
	}
	n, err := d.File.Write(b)
	if err != nil {
		err = WriteError(d.Path, err)
	}
	return n, err
}

// Finish closes the draft, to which nothing more is written.
func (d *Draft) Finish() error {
	err := d.File.Sync()
	if err == nil {
		err = d.File.Close()
	}
	if err != nil {
		return WriteError(d.Path, err)
	}
	d.done = true
	return nil
}

// KeepAll makes drafts the files. Folders are synced once, which makes the names last where the file system can.
func KeepAll(drafts []*Draft) error {
	folders := map[string]bool{}
	for _, d := range drafts {
		if !d.done {
			if err := d.Finish(); err != nil {
				return err
			}
		}
		if err := os.Rename(d.File.Name(), d.Path); err != nil {
			return WriteError(d.Path, err)
		}
		d.kept = true
		folders[filepath.Dir(d.Path)] = true
	}
	for path := range folders {
		if dir, err := os.Open(path); err == nil {
			_ = dir.Sync()
			_ = dir.Close()
		}
	}
	return nil
}

// Discard removes a draft that was not kept.
func (d *Draft) Discard() {
	if !d.kept {
		_ = d.File.Close() // a second time does no harm
		_ = os.Remove(d.File.Name())
		for _, dir := range slices.Backward(d.made) {
			_ = os.Remove(dir) // fails for a folder that holds other files
		}
	}
}

// DiscardAll discards drafts, the last first: folders are empty when the draft that created them is discarded.
func DiscardAll(drafts []*Draft) {
	for _, d := range slices.Backward(drafts) {
		d.Discard()
	}
}

// WriteError names the file that was meant, and the system's reason.
func WriteError(path string, err error) error {
	if inner, is := errors.AsType[*fs.PathError](err); is {
		err = inner.Err
	}
	return fmt.Errorf("cannot write %s: %w", path, err)
}
