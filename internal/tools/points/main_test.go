package main

import (
	"io"
	"slices"
	"testing"

	"busbar/internal/result"
)

func TestPoints(t *testing.T) {
	for _, c := range []struct {
		args []string
		runs int
	}{
		{[]string{"-n", "1000", "-files", "7"}, 7},
		{[]string{"-n", "1000", "-files", "7", "-chain"}, 7},
		{[]string{"-n", "1000", "-files", "7", "-imported"}, 7},
		{[]string{"-n", "20", "-files", "1", "-ranks", "128"}, 1},
	} {
		dir := t.TempDir()
		if err := run(append(c.args, "-o", dir), io.Discard); err != nil {
			t.Fatal(err)
		}
		files, err := result.Find(dir)
		if err != nil {
			t.Fatal(err)
		}
		data, err := result.Merge(files, result.MergeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rows := 0
		imported := slices.Contains(c.args, "-imported")
		err = data.Each(func(r result.Row) error {
			if rows++; r.Run.Rehearse == imported || (r.Run.Imported != nil) != imported {
				t.Fatalf("%v: a run is rehearsed %t, imported %+v", c.args, r.Run.Rehearse, r.Run.Imported)
			}
			return nil
		})
		want := 1000
		if c.runs == 1 {
			want = 20
		}
		if err != nil || rows != want || len(data.Runs()) != c.runs || len(data.Notes()) != 0 {
			t.Errorf("%v: %d rows of %d runs, %v, %v", c.args, rows, len(data.Runs()), data.Notes(), err)
		}
	}
	if err := run([]string{"-n", "0", "-o", t.TempDir()}, io.Discard); err == nil {
		t.Error("no points are no error")
	}
	if err := run([]string{"-n", "5"}, io.Discard); err == nil {
		t.Error("no folder is no error")
	}
}
