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
	"busbar/post/input"
)

// Files expands files and folders (with subfolders) to their traces, sorted within a folder, without duplicates. In
// folders it detects traces by their first bytes and skips other files. An unreadable file in a folder is a problem;
// the error is that a named file does not exist, or that nothing was found.
func Files(paths []string) (files []string, passed []notice.Notice, err error) {
	known := map[string]bool{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, passed, err
		}
		found := []string{path}
		if info.IsDir() {
			var problems []notice.Notice
			found, problems = under(path)
			passed = append(passed, problems...)
		}
		for _, file := range found {
			plain, err := filepath.EvalSymlinks(file)
			if err != nil {
				return nil, passed, err
			}
			if !known[plain] {
				known[plain] = true
				files = append(files, file)
			}
		}
	}
	if len(files) == 0 {
		err = fmt.Errorf("no trace in %s: neither Kineto JSON nor a SQLite export of Nsight Systems",
			strings.Join(paths, ", "))
	}
	return files, passed, err
}

// under are the traces of a folder and its subfolders.
func under(dir string) (found []string, passed []notice.Notice) {
	_ = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		path := filepath.Join(dir, name)
		is := false
		switch {
		case err != nil:
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
		case !d.IsDir():
			is, err = Is(path)
		}
		if err != nil {
			passed = append(passed, notice.OfError(path, err))
		} else if is {
			found = append(found, path)
		}
		return nil
	})
	return found, passed
}

// traceKeys are some of the keys near the beginning of every Kineto trace. Texts about traces contain them as values.
var traceKeys = regexp.MustCompile(`"(traceEvents|deviceProperties|distributedInfo|ph)"\s*:`)

// FactsMagic is the first bytes of facts files, to which post timeline --extract reduces traces.
const FactsMagic = "busbar timeline facts "

// Is reports whether a file begins as a trace or its facts do, or is a report of Nsight Systems without its export.
func Is(path string) (bool, error) {
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
	text, err := input.Unpacked(file, chunkBytes)
	if err != nil {
		return false, nil // a failed close loses no data
	}
	head, _ := text.Peek(chunkBytes)
	return bytes.HasPrefix(head, []byte(FactsMagic)) || bytes.HasPrefix(head, sqliteMagic) ||
		isJSON(head) && traceKeys.Match(head), nil
}
