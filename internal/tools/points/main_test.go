package main

import (
	"io"
	"testing"

	"busbar/internal/result"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestPoints(t *testing.T) {
	dir := t.TempDir()
	must.NoError(t, run([]string{"-n", "1000", "-files", "7", "-o", dir}, io.Discard))
	files, err := result.Find(dir)
	must.NoError(t, err)
	data, err := result.Merge(files, result.MergeOptions{})
	must.NoError(t, err)
	rows := 0
	err = data.Each(func(r result.Row) error {
		rows++
		must.True(t, r.Run.Rehearse)
		return nil
	})
	if err != nil || rows != 1000 || len(data.Runs()) != 7 || len(data.Notes()) != 0 {
		t.Errorf("%d rows of %d runs, %v, %v", rows, len(data.Runs()), data.Notes(), err)
	}
	for _, args := range [][]string{{"-n", "0", "-o", t.TempDir()}, {"-n", "5"}} {
		test.Error(t, run(args, io.Discard), test.Sprint(args))
	}
}
