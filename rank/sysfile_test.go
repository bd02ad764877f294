package main

import (
	"os"
	"path/filepath"
	"testing"
)

// fakeRoot makes a root folder with these files; a path that ends in / is a folder.
func fakeRoot(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	writeFiles(t, root, files)
	return root
}

func writeFiles(t *testing.T, root string, files map[string]string) {
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

func TestField(t *testing.T) {
	text := "model\t\t: 17\nmodel name\t: AMD EPYC: 7763\nMax data size             unlimited  unlimited  bytes\n  inactive_file 4096\nempty:\n"
	for key, want := range map[string]string{
		"model": "17", "model name": "AMD EPYC: 7763", "Max data size": "unlimited  unlimited  bytes", "inactive_file": "4096",
		"empty": "", "inactive": "", "missing": "", "Max data": "size             unlimited  unlimited  bytes",
	} {
		if got := field(text, key); got != want {
			t.Errorf("field %q is %q, want %q", key, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	root := fakeRoot(t, map[string]string{"a": "42\n", "b": "max\n"})
	if n, ok := readNumber(root, "a"); n != 42 || !ok {
		t.Errorf("a: %d, %v", n, ok)
	}
	for _, name := range []string{"b", "none"} {
		if n, ok := readNumber(root, name); ok {
			t.Errorf("%s is %d", name, n)
		}
	}
	if n, ok := kilobytes("24684084 kB"); n != 24684084*1024 || !ok {
		t.Errorf("%d, %v", n, ok)
	}
	if n, ok := kilobytes(""); ok {
		t.Errorf("nothing is %d bytes", n)
	}
}
