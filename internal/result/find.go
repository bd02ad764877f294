package result

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Find expands files and folders (with their subfolders) to the run files among them, sorted within a folder, each
// once however often and by whatever path it is named. What merge and plot wrote, text views, sidecars and, in folders,
// hidden names and all that is not .jsonl are passed over. The error is a *NotFoundError or of the system.
func Find(paths ...string) ([]string, error) {
	f := finder{seen: map[string]bool{}}
	for _, p := range paths {
		if err := f.look(p); err != nil {
			return nil, err
		}
	}
	if len(f.found) == 0 {
		return nil, &NotFoundError{Looked: paths}
	}
	return f.found, nil
}

type finder struct {
	found []string
	seen  map[string]bool // by path without links
}

// look takes a file or folder that was named.
func (f *finder) look(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		if ours(path) {
			return nil
		}
		return f.take(path)
	}
	root := filepath.Clean(path) + string(filepath.Separator) // the separator lets a link to a folder be walked
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone since it was listed
		case err != nil:
			return err
		case path == root:
			return nil
		case strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() || filepath.Ext(path) != linesSuffix || ours(path):
			return nil
		}
		return f.take(filepath.Clean(path))
	})
}

func (f *finder) take(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a link to nowhere
	}
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

// ours says whether the name is one of what rank and post write beside the run files, or make of them.
func ours(path string) bool {
	name := filepath.Base(path)
	switch filepath.Ext(name) {
	case textSuffix, ".csv", ".md", ".png", ".svg", ".html":
		return true
	}
	return strings.HasPrefix(name, "merged.") || strings.HasSuffix(name, ranksSuffix)
}
