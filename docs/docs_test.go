// Package docs is the manual. Its tests run the commands in console blocks and compare their output, run post's
// commands in other blocks, and check links, make targets and the coverage page.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/needs"

	"github.com/shoenig/test/must"
)

const root = ".."

// pages are the Markdown files of the repository, relative to its root.
func pages(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "results") {
			return filepath.SkipDir
		}
		if strings.HasSuffix(name, ".md") {
			rel, _ := filepath.Rel(root, path)
			found = append(found, rel)
		}
		return nil
	})
	must.NoError(t, err)
	if len(found) < 3 {
		t.Fatalf("only %d pages found: %v", len(found), found)
	}
	return found
}

func read(t *testing.T, page string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, page))
	must.NoError(t, err)
	return string(b)
}

// install returns a folder that holds bin and lib, with the programs as the sources make them: a page is never checked
// against yesterday's program.
func install(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	for _, folder := range []string{"bin", "lib"} {
		must.NoError(t, os.Symlink(filepath.Join(needs.Programs(t), folder), filepath.Join(home, folder)))
	}
	return home
}
