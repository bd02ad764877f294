package result

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"busbar/internal/notice"
)

// Find is Search without its notes.
func Find(paths ...string) ([]string, error) {
	files, _, err := Search(paths...)
	return files, err
}

// Search expands files and folders (with their subfolders, and through links) to the run files among them, sorted
// within a folder, each once. It skips the files that merge and plot wrote, text views, sidecars and, in folders,
// hidden names and all that is not .jsonl. It skips unreadable subfolders, and run file names that are not files (a
// pipe, a device), with a note. The error is a *NotFoundError, a *FileError for a named path that is not a file, or the
// system's for a named path.
func Search(paths ...string) (files []string, notes []notice.Notice, err error) {
	f := finder{seen: map[string]bool{}}
	for _, p := range paths {
		if err := f.named(p); err != nil {
			return nil, f.notes, err
		}
	}
	if len(f.found) == 0 {
		return nil, f.notes, &NotFoundError{Looked: paths, Passed: f.notes}
	}
	return f.found, f.notes, nil
}

type finder struct {
	found []string
	notes []notice.Notice
	seen  map[string]bool // files, and folders that were named or linked, by path without links
}

// named adds a file or folder that was named.
func (f *finder) named(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return f.walk(path)
	case ours(path):
		return nil
	case !info.Mode().IsRegular():
		return &FileError{path, notice.NotResults{Problem: "it is " + special(info.Mode())}}
	}
	return f.add(path)
}

// walk adds what is in a folder, also behind links. The error is that it cannot be read at all.
func (f *finder) walk(dir string) error {
	target, err := realPath(dir)
	if err != nil || f.seen[target] {
		return err
	}
	f.seen[target] = true
	return filepath.WalkDir(dir+"/", func(path string, d fs.DirEntry, err error) error { // the slash follows a link
		path = filepath.Clean(path)
		hidden := strings.HasPrefix(filepath.Base(path), ".") && path != filepath.Clean(dir)
		switch {
		case err != nil && path == filepath.Clean(dir):
			return err
		case hidden && d.IsDir():
			return fs.SkipDir
		case err == nil && !hidden && isLinkedFolder(path, d):
			err = f.walk(path)
		case err == nil && !hidden && !d.IsDir() && filepath.Ext(path) == linesSuffix && !ours(path):
			err = f.add(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // removed since, or a link to nowhere
			f.notes = append(f.notes, notice.OfError(path, err))
		}
		return nil
	})
}

func (f *finder) add(path string) error {
	target, err := realPath(path)
	if err != nil {
		return err
	}
	switch info, err := os.Stat(target); {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return &FileError{path, notice.NotAFile{Is: special(info.Mode())}}
	}
	if !f.seen[target] {
		f.seen[target] = true
		f.found = append(f.found, path)
	}
	return nil
}

func isLinkedFolder(path string, d fs.DirEntry) bool {
	if d.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// realPath is an absolute path without links.
func realPath(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(target)
}

// special names what is no regular file.
func special(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m.IsDir():
		return "a folder"
	}
	return "a device or socket"
}

// ours reports whether the name is one of what rank and post write beside the run files, or make of them.
func ours(path string) bool {
	name := filepath.Base(path)
	switch filepath.Ext(name) {
	case textSuffix, ".csv", ".md", ".png", ".svg", ".html":
		return true
	}
	return strings.HasPrefix(name, "merged.") || strings.HasSuffix(name, ranksSuffix)
}
