package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// What is exported as nccl-tests and imported again has every point of throughput mode, with all that the layout and
// its comments hold.
func TestExportImportRoundTrip(t *testing.T) {
	for _, name := range []string{"world2", "problems", "interrupted", "rehearsed", "quick"} {
		dir := t.TempDir()
		f := fixtures[name]
		edit := f.edit
		f.edit = func(run *result.Run, records []*result.Record, end *result.End) {
			if edit != nil {
				edit(run, records, end)
			}
			for _, r := range records {
				if r.Time == nil {
					r.Warnings.Add(notice.TraceNotWritten{Problem: "lost | {found}"})
				}
			}
		}
		path := f.save(t, filepath.Join(dir, "native"))
		var text, said bytes.Buffer
		if err := run(context.Background(), []string{"export", "--format", "nccl-tests", path}, &text,
			&said); err != nil {
			t.Fatal(err)
		}
		exported, exportedText := filepath.Join(dir, "exported.log"), text.String()
		if err := os.WriteFile(exported, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		again := filepath.Join(dir, "again")
		if err := run(context.Background(), []string{"import", "--strict", "-o", again, exported}, &text,
			&said); err != nil {
			t.Fatalf("%s: %v\n%s\n%s", name, err, said.String(), text.String())
		}
		native, back := points(t, path), points(t, again)
		wrong := int64(0)
		for _, r := range native {
			wrong += r.Check.Wrong
		}
		if footer := fmt.Sprintf("# Out of bounds values : %d ", wrong); !strings.Contains(exportedText, footer) {
			t.Errorf("%s: no line %q", name, footer)
		}
		for key, r := range native {
			b := back[key]
			if b == nil {
				t.Errorf("%s: %s is lost", name, key)
				continue
			}
			sameAsPrinted(t, name+" "+key, r, b)
			delete(back, key)
		}
		for key := range back {
			t.Errorf("%s: %s was not there before", name, key)
		}
	}
}

// points are the throughput points of a file or folder, by what they are.
func points(t *testing.T, path string) map[string]*result.Record {
	t.Helper()
	files, err := result.Find(path)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*result.Record{}
	for _, path := range files {
		f, err := result.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.Records {
			r := &f.Records[i]
			if r.Mode == coll.Throughput {
				key := fmt.Sprintf("%s of %d, %s %v, cycle %d", f.Run.Backend.Name, r.World, r.Case, f.Run.Rehearse,
					r.Cycle)
				if all[key] != nil {
					t.Errorf("%s twice", key)
				}
				all[key] = r
			}
		}
	}
	return all
}

// sameAsPrinted compares what the layout holds: times to the digits that it prints.
func sameAsPrinted(t *testing.T, what string, a, b *result.Record) {
	t.Helper()
	if a.Status != b.Status || a.Check.Wrong != b.Check.Wrong ||
		a.Time == nil && a.Reason != strings.ReplaceAll(b.Reason,
			"�", "\x1b") {
		t.Errorf("%s: %s %q, before %s %q", what, b.Status, b.Reason, a.Status, a.Reason)
	}
	if !reflect.DeepEqual(a.Warnings, b.Warnings) {
		t.Errorf("%s: warnings %v, before %v", what, b.Warnings, a.Warnings)
	}
	if (a.Time == nil) != (b.Time == nil) {
		t.Errorf("%s: the time is %v, before %v", what, b.Time, a.Time)
	} else if a.Time != nil && math.Abs(a.Time.Seconds-b.Time.Seconds) > math.Max(0.0051e-6, 1e-4*a.Time.Seconds) {
		t.Errorf("%s: %g s, before %g", what, b.Time.Seconds, a.Time.Seconds)
	}
}
