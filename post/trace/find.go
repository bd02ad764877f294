package trace

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"busbar/internal/notice"
)

// Files expands files and folders (with their subfolders) to the traces among them, sorted within a folder, each once.
// In folders a trace is known by how it begins, and what does not look like one is skipped. What cannot be read in a
// folder is a problem; the error is of the system for what was named and does not exist, or that nothing was found.
func Files(paths []string) (files []string, passed []notice.Notice, err error) {
	f := finder{seen: map[string]bool{}}
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, f.passed, err
		case info.IsDir():
			f.folder(path)
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
	seen   map[string]bool // files, by their absolute path without links
}

// take takes a file that was not taken yet.
func (f *finder) take(path string) {
	plain, err := filepath.EvalSymlinks(path)
	if err == nil {
		plain, err = filepath.Abs(plain)
	}
	if err != nil {
		f.passed = append(f.passed, notice.OfError(path, err))
		return
	}
	if !f.seen[plain] {
		f.seen[plain] = true
		f.found = append(f.found, path)
	}
}

// folder takes the traces of a folder.
func (f *finder) folder(dir string) {
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		path := filepath.Join(dir, name)
		is := false
		switch {
		case err != nil:
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() || d.Type() == fs.ModeSymlink:
			is, err = looksLikeTrace(path)
		}
		if err != nil {
			f.passed = append(f.passed, notice.OfError(path, err))
		} else if is {
			f.take(path)
		}
		return nil
	})
}

// traceKeys are some of the keys near the beginning of every Kineto trace. As values they occur in texts about traces
// too.
var traceKeys = regexp.MustCompile(`"(traceEvents|deviceProperties|distributedInfo|ph)"\s*:`)

// looksLikeTrace reports whether a file begins as a trace does, or is a report of Nsight Systems without an export
// beside it.
func looksLikeTrace(path string) (bool, error) {
	if stem, is := strings.CutSuffix(path, ".nsys-rep"); is {
		_, err := os.Stat(stem + ".sqlite")
		return err != nil, nil
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false, nil // of a link
	}
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	text, err := unpacked(file)
	if err != nil {
		return false, nil // gzip's, of no use to anybody
	}
	head, _ := text.Peek(chunkBytes)
	return bytes.HasPrefix(head, sqliteMagic) || isJSON(head) && traceKeys.Match(head), nil
}
