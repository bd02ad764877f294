package result

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"r/b.jsonl", "r/a.jsonl", "r/a.txt", "r/sub/c.jsonl", "r/merged.jsonl", "r/merged.csv", "r/a_ranks.jsonl", "r/plots/p.png",
		"r/.hidden/d.jsonl", "r/.e.jsonl", "r/notes", "empty/x.csv"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"link": "r", "r/z.jsonl": "a.jsonl", "r/nowhere.jsonl": "gone", "one.jsonl": "r/b.jsonl"} {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args, want string
	}{
		{"r", "r/a.jsonl r/b.jsonl r/sub/c.jsonl"},
		{"r/ r/a.jsonl " + dir + "/r link ./r/../r", "r/a.jsonl r/b.jsonl r/sub/c.jsonl"},
		{"link", "link/a.jsonl link/b.jsonl link/sub/c.jsonl"},
		{"one.jsonl r", "one.jsonl r/a.jsonl r/sub/c.jsonl"},
		{"r/a.txt r/merged.jsonl r/a.jsonl r/a_ranks.jsonl r/merged.csv", "r/a.jsonl"},
		{"r/notes", "r/notes"},
	} {
		got, err := Find(strings.Fields(c.args)...)
		if want := strings.Fields(c.want); err != nil || !slices.Equal(got, want) {
			t.Errorf("Find(%s) = %v, %v, want %v", c.args, got, err, want)
		}
	}
	var none *NotFoundError
	if _, err := Find("empty", "r/a.txt"); !errors.As(err, &none) || !strings.Contains(err.Error(), "empty, r/a.txt") {
		t.Errorf("nothing there: %v", err)
	}
	if _, err := Find("gone"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "gone") {
		t.Errorf("no such folder: %v", err)
	}
}
