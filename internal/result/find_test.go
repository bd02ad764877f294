package result

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"busbar/internal/notice"

	"github.com/shoenig/test/must"
)

func TestFind(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"r/b.jsonl", "r/a.jsonl", "r/a.txt",
		"r/sub/c.jsonl", "r/merged.jsonl", "r/merged.csv",
		"r/a_ranks.jsonl", "r/plots/p.png",
		"r/.hidden/d.jsonl", "r/.e.jsonl", "r/notes", "empty/x.csv"} {
		must.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, nil, 0o666)))
	}
	for from, to := range map[string]string{"link": "r", "r/z.jsonl": "a.jsonl", "r/nowhere.jsonl": "gone",
		"one.jsonl": "r/b.jsonl", "r/up": "..", "far/away": "../r/sub",
		"far/self": "."} {
		must.NoError(t, os.MkdirAll(filepath.Dir(from), 0o777))
		must.NoError(t, os.Symlink(to, from))
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
		{"far r", "far/away/c.jsonl r/a.jsonl r/b.jsonl"},
	} {
		got, err := Find(strings.Fields(c.args)...)
		if want := strings.Fields(c.want); err != nil || !slices.Equal(got, want) {
			t.Errorf("Find(%s) = %v, %v, want %v", c.args, got, err, want)
		}
	}
	var none *NotFoundError
	if _, err := Find("empty", "r/a.txt"); !errors.As(err, &none) || !strings.Contains(err.Error(), "empty, r/a.txt") {
		t.Errorf("empty folder: %v", err)
	}
	if _, err := Find("gone"); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "gone") {
		t.Errorf("no such folder: %v", err)
	}
}

// A pipe would keep a reader waiting for ever.
func TestFindSkipsFolders(t *testing.T) {
	t.Chdir(t.TempDir())
	record := writeLines(t, "r", "a.jsonl", "{}\n")
	must.NoError(t, errors.Join(syscall.Mkfifo("r/pipe.jsonl", 0o666), syscall.Mkfifo("r/pipe", 0o666),
		os.Symlink("/dev/null", "r/null.jsonl"),
		os.Symlink("turn.jsonl", "r/turn.jsonl")))
	files, notes, err := Search("r")
	want := []string{
		`r/null.jsonl: {"code":"not-a-file","parameters":{"is":"a device or socket"}}`,
		`r/pipe.jsonl: {"code":"not-a-file","parameters":{"is":"a pipe"}}`,
		`r/turn.jsonl: {"code":"file-unreadable","parameters":{"problem":"EvalSymlinks: too many links"}}`,
	}
	if err != nil || !slices.Equal(files, []string{record}) || !slices.Equal(texts(notes), want) {
		t.Errorf("found %v, noted %v, %v", files, notes, err)
	}
	for _, name := range []string{"r/pipe.jsonl", "r/pipe", "/dev/null"} {
		var foreign *FileError
		if _, err := Find("r", name); !errors.As(err, &foreign) || foreign.Path != name {
			t.Errorf("%s is named: %v", name, err)
		}
	}
}

// texts are notices as their location, code and parameters.
func texts(problems []notice.Notice) []string {
	var all []string
	for _, n := range problems {
		fact, _ := json.Marshal(notice.Kept{Fact: n.Fact})
		all = append(all, n.At.String()+": "+string(fact))
	}
	return all
}
