package trace_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/shoenig/test/must"

	"busbar/post/trace"
	"busbar/post/trace/tracetest"
)

func TestFiles(t *testing.T) {
	text := write(t, tracetest.Options{}, func(w *tracetest.Writer) { w.Kernel(one(5000, 1000)) })
	files := fstest.MapFS{}
	for name, data := range map[string][]byte{
		"b/rank1": text, "a.json": packed(t, text), "other.json": []byte(`{"some": "thing"}`),
		"notes.txt": []byte("[draft] of something"), "empty": {}, ".hidden.json": text, ".git/c.json": text,
		"r.nsys-rep": []byte("report"), "s.nsys-rep": []byte("report"),
		"s.sqlite": []byte("SQLite format 3\x00 and so on"),
	} {
		files[name] = &fstest.MapFile{Data: data, Mode: 0o666}
	}
	dir := t.TempDir()
	must.NoError(t, os.CopyFS(dir, files))
	must.NoError(t, os.Symlink(dir, filepath.Join(dir, "b", "around")))
	must.NoError(t, os.Symlink(filepath.Join(dir, "a.json"), filepath.Join(dir, "z.json")))
	found, passed, err := trace.Files([]string{dir, filepath.Join(dir, "a.json")})
	must.NoError(t, err)
	must.SliceEmpty(t, passed)
	var names []string
	for _, path := range found {
		name, err := filepath.Rel(dir, path)
		must.NoError(t, err)
		names = append(names, name)
	}
	must.Eq(t, []string{"a.json", "b/rank1", "r.nsys-rep", "s.sqlite"}, names)

	// a named file is read whatever its content
	named := []string{filepath.Join(dir, "notes.txt")}
	found, _, err = trace.Files(named)
	must.NoError(t, err)
	must.Eq(t, named, found)
	_, _, err = trace.Files([]string{filepath.Join(dir, "missing")})
	must.ErrorIs(t, err, os.ErrNotExist)
	_, _, err = trace.Files([]string{t.TempDir()})
	must.True(t, err != nil && !errors.Is(err, os.ErrNotExist))
}
