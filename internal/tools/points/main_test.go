package main

import (
	"io"
	"slices"
	"testing"

	"busbar/internal/result"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestPoints(t *testing.T) {
	for _, args := range [][]string{{"-n", "1000", "-files", "7"}, {"-n", "1000", "-files", "7", "-imported"}} {
		dir := t.TempDir()
		must.NoError(t, run(append(args, "-o", dir), io.Discard))
		files, err := result.Find(dir)
		must.NoError(t, err)
		data, err := result.Merge(files, result.MergeOptions{})
		must.NoError(t, err)
		rows, imported := 0, slices.Contains(args, "-imported")
		err = data.Each(func(r result.Row) error {
			if rows++; r.Run.Rehearse == imported || (r.Run.Imported != nil) != imported {
				t.Fatalf("%v: a run is rehearsed %t, imported %+v", args, r.Run.Rehearse, r.Run.Imported)
			}
			return nil
		})
		if err != nil || rows != 1000 || len(data.Runs()) != 7 || len(data.Notes()) != 0 {
			t.Errorf("%v: %d rows of %d runs, %v, %v", args, rows, len(data.Runs()), data.Notes(), err)
		}
	}
	for _, args := range [][]string{{"-n", "0", "-o", t.TempDir()}, {"-n", "5"}} {
		test.Error(t, run(args, io.Discard), test.Sprint(args))
	}
}
