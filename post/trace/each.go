package trace

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"busbar/internal/notice"
)

// Each reads files one after the other and hands each on before it reads the next; the traces in an archive one by one,
// with the Path "archive.tar.gz:member". A file that cannot be read is a problem, and the others are read all the same.
// The error is that of add or of the context.
func Each(ctx context.Context, paths []string, o Options, add func(*File) error) ([]notice.Notice, error) {
	e := each{ctx: ctx, options: o, add: add}
	for _, path := range paths {
		if err := e.file(path); err != nil {
			return e.problems, err
		}
	}
	return e.problems, nil
}

type each struct {
	ctx      context.Context
	options  Options
	add      func(*File) error
	problems []notice.Notice
}

// file reads what one path names. The error ends everything.
func (e *each) file(path string) error {
	text, closes, err := openArchive(path)
	if err == nil && text != nil {
		defer closes()
		return e.archive(path, text)
	}
	var f *File
	if err == nil {
		f, err = read(e.ctx, path, e.options)
	}
	return e.took(path, f, err)
}

// took hands on what was read, or keeps why it was not.
func (e *each) took(path string, f *File, err error) error {
	switch {
	case e.ctx.Err() != nil:
		return context.Cause(e.ctx)
	case err != nil:
		e.problems = append(e.problems, notice.OfError(path, err))
		return nil
	}
	return e.add(f)
}

// archive reads the traces in an archive. What is none, such as a README, is passed over.
func (e *each) archive(path string, text io.Reader) error {
	traces, archived := 0, tar.NewReader(text)
	for {
		header, err := nextFile(archived)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			e.problems = append(
				e.problems,
				notice.InFile(path, 0, notice.TornArchive{Traces: traces, Problem: err.Error()}),
			)
			return nil
		}
		name := path + ":" + header.Name
		f, err := e.member(name, archived)
		if errors.Is(err, ErrNotTrace) {
			continue
		}
		traces++
		if err := e.took(name, f, err); err != nil {
			return err
		}
	}
	if traces == 0 {
		e.problems = append(e.problems, notice.InFile(path, 0, notice.NoTraceInArchive{}))
	}
	return nil
}

// member reads one file of an archive.
func (e *each) member(name string, r io.Reader) (*File, error) {
	text, err := unpacked(r)
	if err != nil {
		return nil, err
	}
	if head, _ := text.Peek(len(sqliteMagic)); bytes.Equal(head, sqliteMagic) {
		return nil, errors.New("SQLite is read from a file of its own only: unpack the archive")
	}
	return readText(e.ctx, text, name, e.options)
}

// openArchive is the text of an archive; nil where the path is of something else.
func openArchive(path string) (text *bufio.Reader, closes func(), err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	if text, err = unpacked(file); err == nil && kindOfText(text) == archive {
		return text, func() { _ = file.Close() }, nil
	}
	_ = file.Close() // it was read only
	return nil, nil, nil
}

// nextFile is the next regular file of an archive; the error is io.EOF after the last.
func nextFile(archived *tar.Reader) (*tar.Header, error) {
	for {
		header, err := archived.Next()
		if err != nil || header.Typeflag == tar.TypeReg {
			return header, err
		}
	}
}
