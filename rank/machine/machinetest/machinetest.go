// Package machinetest makes folders that look like the root folder of a machine, for tests.
package machinetest

import (
	"os"
	"path/filepath"
	"testing"
)

// Root makes a root folder with these files; a path that ends in / is a folder.
func Root(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	Write(t, root, files)
	return root
}

// Write writes these files below a root folder, in place if they exist.
func Write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for path, text := range files {
		full := filepath.Join(root, path)
		if path[len(path)-1] == '/' {
			if err := os.MkdirAll(full, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
