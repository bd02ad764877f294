package trace_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"busbar/post/trace"
	"busbar/post/trace/tracetest"
)

// memory are files by name.
func memory(files map[string][]byte) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: text, Mode: 0o666}
	}
	return fsys
}

// folder writes files into a folder of the test.
func folder(t *testing.T, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, memory(files)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tarred is an archive of files, by name.
func tarred(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := errors.Join(w.AddFS(memory(files)), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// ofRank is a small trace of a rank.
func ofRank(t *testing.T, rank int) []byte {
	return write(t, tracetest.Options{Rank: rank, World: 8}, func(w *tracetest.Writer) { w.Kernel(one(5000, 1000)) })
}

// under are paths below a folder, with slashes.
func under(t *testing.T, dir string, paths []string) []string {
	t.Helper()
	var names []string
	for _, p := range paths {
		name, err := filepath.Rel(dir, p)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, filepath.ToSlash(name))
	}
	return names
}

func TestFiles(t *testing.T) {
	dir := folder(t, map[string][]byte{
		"b/rank1": ofRank(t, 1), "a.json": packed(t, ofRank(t, 0)), "other.json": []byte(`{"some": "thing"}`),
		"notes.txt": []byte("[draft] of something"), "empty": {},
		".hidden.json": ofRank(t, 2), "c.tar.gz": packed(t, tarred(t, map[string][]byte{"x/2.json": ofRank(t, 2)})),
		"d.tar": tarred(t, map[string][]byte{"README": []byte("hello")}),
		"r.nsys-rep": []byte(
			"report",
		), "s.nsys-rep": []byte("report"), "s.sqlite": []byte("SQLite format 3\x00 and so on"),
	})
	if err := os.Symlink(dir, filepath.Join(dir, "b", "around")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "a.json"), filepath.Join(dir, "z.json")); err != nil {
		t.Fatal(err)
	}
	files, passed, err := trace.Files([]string{dir, filepath.Join(dir, "a.json")})
	if want := []string{"a.json", "b/rank1", "c.tar.gz", "r.nsys-rep", "s.sqlite"}; err != nil || len(passed) > 0 ||
		!slices.Equal(under(t, dir, files), want) {
		t.Errorf("files %v, want %v; passed %v, %v", under(t, dir, files), want, passed, err)
	}
	named := filepath.Join(dir, "notes.txt")
	if files, _, err := trace.Files([]string{named}); err != nil || !slices.Equal(files, []string{named}) {
		t.Errorf("a file that is named is read whatever it holds: %v, %v", files, err)
	}
	if _, _, err := trace.Files([]string{filepath.Join(dir, "missing")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, _, err := trace.Files([]string{t.TempDir()}); err == nil || !strings.Contains(err.Error(), "no trace in ") {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestEach(t *testing.T) {
	archive := tarred(t, map[string][]byte{"t/1.json": ofRank(t, 1), "t/2.json.gz": packed(t, ofRank(t, 2)),
		"t/README": []byte("hello"), "t/config.json": []byte(`{"a": 1}`)})
	dir := folder(t, map[string][]byte{"0.json": ofRank(t, 0), "broken.json": []byte("no trace"),
		"c.tar.gz": packed(t, archive), "torn.tar": archive[:1024+len(ofRank(t, 1))-20],
		"empty.tar": tarred(t, map[string][]byte{"a": {1}})})
	var paths []string
	for _, name := range []string{"broken.json", "empty.tar", "c.tar.gz", "torn.tar", "gone.json", "0.json"} {
		paths = append(paths, filepath.Join(dir, name))
	}
	var seen []string
	var ranks []int
	problems, err := trace.Each(context.Background(), paths, trace.Options{}, func(f *trace.File) error {
		seen, ranks = append(seen, f.Path), append(ranks, only(t, f).Rank)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := under(t, dir, seen); !slices.Equal(got[:2], []string{"c.tar.gz:t/1.json", "c.tar.gz:t/2.json.gz"}) ||
		got[len(got)-1] != "0.json" || !slices.Equal(ranks[:2], []int{1, 2}) {
		t.Errorf("read %v, ranks %v", got, ranks)
	}
	for i, want := range []string{
		"broken.json file-unreadable", "empty.tar no-trace-in-archive", "torn.tar torn-archive",
		"gone.json file-unreadable",
	} {
		if i >= len(problems) || filepath.Base(problems[i].At.File)+" "+string(problems[i].Code()) != want {
			t.Errorf("problems are %v, want %q at %d", problems, want, i)
		}
	}
	stop := errors.New("enough")
	if _, err := trace.Each(context.Background(), paths, trace.Options{},
		func(*trace.File) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("the error of add: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := trace.Each(ctx, paths[2:3], trace.Options{}, func(*trace.File) error { return nil }); !errors.Is(err,
		context.Canceled) {
		t.Errorf("of a context that ended: %v", err)
	}
}
