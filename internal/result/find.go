package result

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/notice"
)

// Find is Search without its notes.
func Find(paths ...string) ([]string, error) {
	files, _, err := Search(paths...)
	return files, err
}

// Search expands files and folders (with their subfolders, also by way of links) to the run files among them, sorted
// within a folder (links last), each once however often and by whatever path it is named. What merge and plot wrote,
// text views, sidecars and, in folders, hidden names and all that is not .jsonl are passed over. A subfolder that
// cannot be read, and what has the name of a run file but is none (a pipe, a device), is passed over with a note. The
// error is a *NotFoundError, a *ForeignError for something named that is no file, or of the system for what was named.
func Search(paths ...string) (files []string, notes []notice.Notice, err error) {
	return newFinder().search(paths)
}

type finder struct {
	found   []string
	notes   []notice.Notice
	seen    map[string]bool // files, by path without links
	folders []fs.FileInfo   // looked through: a link may lead back to one
	readDir func(string) ([]fs.DirEntry, error)
}

func newFinder() *finder { return &finder{seen: map[string]bool{}, readDir: os.ReadDir} }

func (f *finder) search(paths []string) ([]string, []notice.Notice, error) {
	for _, p := range paths {
		if err := f.look(p); err != nil {
			return nil, f.notes, err
		}
	}
	if len(f.found) == 0 {
		return nil, f.notes, &NotFoundError{Looked: paths, Passed: f.notes}
	}
	return f.found, f.notes, nil
}

// look takes a file or folder that was named.
func (f *finder) look(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return f.walk(filepath.Clean(path), info)
	case ours(path):
		return nil
	case !info.Mode().IsRegular():
		return &ForeignError{Path: path,
			Reason: fmt.Sprintf("it is %s, and a run is read from a file only, since it is read more than once",
				special(info.Mode()))}
	}
	return f.take(path)
}

// walk looks through a folder once. The error is that it cannot be read at all.
func (f *finder) walk(dir string, info fs.FileInfo) error {
	for _, before := range f.folders {
		if os.SameFile(before, info) {
			return nil
		}
	}
	f.folders = append(f.folders, info)
	entries, err := f.readDir(dir)
	if err != nil && len(entries) == 0 {
		return err
	}
	f.pass(dir, err)
	// of two ways, the straight one
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return isLink(a) - isLink(b) })
	for _, d := range entries {
		if !strings.HasPrefix(d.Name(), ".") {
			path := filepath.Join(dir, d.Name())
			f.pass(path, f.entry(path, d))
		}
	}
	return nil
}

// entry takes what lies in a folder, if it is a run file or a folder.
func (f *finder) entry(path string, d fs.DirEntry) error {
	named := filepath.Ext(path) == linesSuffix && !ours(path)
	if !named && isLink(d) == 0 && !d.IsDir() {
		return nil
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return f.walk(path, info)
	case !named:
		return nil
	case !info.Mode().IsRegular():
		return notice.Fail(notice.NotAFile{Is: special(info.Mode())})
	}
	return f.take(path)
}

func isLink(d fs.DirEntry) int {
	if d.Type()&fs.ModeSymlink != 0 {
		return 1
	}
	return 0
}

// pass notes why something in a folder is passed over. What is gone since it was listed, and a link to nowhere, are not
// worth a word.
func (f *finder) pass(path string, err error) {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return
	}
	f.notes = append(f.notes, notice.OfError(path, err))
}

func (f *finder) take(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return err
	}
	if !f.seen[real] {
		f.seen[real] = true
		f.found = append(f.found, path)
	}
	return nil
}

// special names what is neither file nor folder.
func special(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something special"
}

// ours says whether the name is one of what rank and post write beside the run files, or make of them.
func ours(path string) bool {
	name := filepath.Base(path)
	switch filepath.Ext(name) {
	case textSuffix, ".csv", ".md", ".png", ".svg", ".html":
		return true
	}
	return strings.HasPrefix(name, "merged.") || strings.HasSuffix(name, ranksSuffix)
}
