package trace

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"busbar/internal/notice"
)

// Files expands files and folders (with their subfolders) to the traces among them, sorted within a folder, each once.
// In folders a trace is known by how it begins, and what does not look like one is passed over without a word; archives
// (.tar, .tar.gz) stay one path. What cannot be read in a folder is a problem; the error is of the system for what was
// named and is not there, or that nothing was found.
func Files(paths []string) (files []string, passed []notice.Notice, err error) {
	f := finder{seen: map[string]bool{}}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, f.passed, err
		case info.IsDir():
			f.folder(filepath.Clean(path))
		default:
			f.take(path)
		}
	}
	if len(f.found) == 0 {
		return nil, f.passed, fmt.Errorf("no trace in %s: neither Kineto JSON nor a SQLite export of Nsight Systems",
			strings.Join(paths, ", "))
	}
	return f.found, f.passed, nil
}

type finder struct {
	found  []string
	passed []notice.Notice
	seen   map[string]bool // files and folders, by their path without links
}

// take takes a file that was not taken yet.
func (f *finder) take(path string) {
	if f.first(path) {
		f.found = append(f.found, path)
	}
}

// first says whether this is the first time that a file or folder is met.
func (f *finder) first(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		f.passed = append(f.passed, notice.OfError(path, err))
		return false
	}
	before := f.seen[real]
	f.seen[real] = true
	return !before
}

// folder looks through a folder, once.
func (f *finder) folder(dir string) {
	if !f.first(dir) {
		return
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		f.passed = append(f.passed, notice.OfError(dir, err))
	}
	for _, d := range entries {
		if strings.HasPrefix(d.Name(), ".") {
			continue
		}
		path := filepath.Join(dir, d.Name())
		info, err := os.Stat(path)
		switch {
		case err != nil:
			if !errors.Is(err, fs.ErrNotExist) {
				f.passed = append(f.passed, notice.OfError(path, err))
			}
		case info.IsDir():
			f.folder(path)
		case info.Mode().IsRegular() && (exportable(path) || f.looksLikeTrace(path)):
			f.take(path)
		}
	}
}

// exportable says whether a file is a report of Nsight Systems beside which no export lies.
func exportable(path string) bool {
	stem, is := strings.CutSuffix(path, ".nsys-rep")
	if !is {
		return false
	}
	_, err := os.Stat(stem + ".sqlite")
	return err != nil
}

func (f *finder) looksLikeTrace(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		f.passed = append(f.passed, notice.OfError(path, err))
		return false
	}
	defer file.Close()
	head, err := beginning(file)
	if err != nil {
		f.passed = append(f.passed, notice.OfError(path, err))
		return false
	}
	if bytes.HasPrefix(head, sqliteMagic) {
		return true
	}
	text, err := unpacked(file)
	return err == nil && traceText(text)
}

// traceKeys are some of what stands near the beginning of every Kineto trace. As values they stand in what is written
// about traces too.
var traceKeys = regexp.MustCompile(`"(traceEvents|deviceProperties|distributedInfo|ph)"\s*:`)

// traceText says whether text begins as a trace does, or as an archive that may hold some.
func traceText(text *bufio.Reader) bool {
	switch kindOfText(text) {
	case archive:
		return holdsJSON(text)
	case jsonText:
		head, _ := text.Peek(chunkBytes)
		return traceKeys.Match(head)
	}
	return false
}

// holdsJSON says whether the first file of an archive is JSON by its name.
func holdsJSON(text io.Reader) bool {
	header, err := nextFile(tar.NewReader(text))
	if err != nil {
		return false
	}
	name := strings.ToLower(header.Name)
	return strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".json.gz")
}
