// Package docs is the manual. Its tests keep it true: the commands in blocks marked console are run and what they
// print is compared, those of post in other blocks are run too, links lead somewhere, make targets exist, and what the
// page on coverage promises is there.
package docs

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 3 {
		t.Fatalf("only %d pages found: %v", len(found), found)
	}
	return found
}

func read(t *testing.T, page string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// install builds the programs as they are now and puts them beside the shims that make built, so that a page is never
// checked against yesterday's program. It returns the folder that holds bin and lib.
func install(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	top, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if shims, _ := filepath.Glob(filepath.Join(top, "lib", "busbar-mpi-*.so")); len(shims) == 0 {
		t.Fatal("no lib/busbar-mpi-*.so: run make build first")
	}
	if err := os.Symlink(filepath.Join(top, "lib"), filepath.Join(home, "lib")); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"rank", "post"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(home, "bin", program), "./"+program)
		cmd.Dir = top
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go build ./%s: %v\n%s", program, err, out)
		}
	}
	return home
}
