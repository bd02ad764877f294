package result

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"busbar/internal/notice"

	"github.com/shoenig/test/must"
)

func TestMergeUnreadableFiles(t *testing.T) {
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	path := written(t, t.TempDir(), "a.jsonl", "a gather")
	if _, err := MergeContext(ctx, []string{path}, MergeOptions{}); !errors.Is(err, stop) {
		t.Errorf("opening: %v", err)
	}
	s, err := openSource(path)
	must.NoError(t, err)
	if err := new(Dataset).settle(ctx, []*source{s}); !errors.Is(err, stop) {
		t.Errorf("settling: %v", err)
	}
}

// TestReadErrorInLaterFile: a file that cannot be read any more is reported, and the others are read.
func TestReadErrorInLaterFile(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		code  notice.Code
		spoil func(path string) error
	}{
		{"file-unreadable", os.Remove},
		{"file-empty", func(path string) error { return os.Truncate(path, 0) }},
	} {
		good, bad := written(t, dir, "good.jsonl", "a gather end"), written(t, dir, "bad.jsonl", "b gather end")
		d, err := Merge([]string{good, bad}, MergeOptions{})
		if err = errors.Join(err, c.spoil(bad)); err != nil {
			t.Fatal(err)
		}
		rows, err := d.Write(Output{CSV, io.Discard})
		if notes := d.Notes(); err != nil || rows != 1 || len(notes) != 1 || notes[0].Code() != c.code {
			t.Errorf("%s: %d rows, %v, notes %v", c.code, rows, err, notes)
		}
	}
}
