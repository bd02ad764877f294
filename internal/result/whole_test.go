package result

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"busbar/internal/coll"
)

// TestEachWhole: behind the rows of a file come its ranks and its end, also of files longer than a batch.
func TestEachWhole(t *testing.T) {
	dir := t.TempDir()
	const points = 600
	var files []string
	for i := range 2 {
		var records []Record
		for range points {
			r := sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5)
			r.Ranks.Late = []float64{0, 1e-6, 2e-6, 3e-6}
			r.Network = []NetUse{{Name: "eth0"}}
			records = append(records, r)
		}
		lines := []any{runOf(fmt.Sprint("run", i), i)}
		for _, r := range sampleRanks()[:3+i] {
			lines = append(lines, r)
		}
		lines = append(lines, numbered(records...)...)
		if i == 0 { // the other is cut off
			lines = append(lines, End{Kind: KindEnd, Outcome: Aborted, Left: 7})
		}
		files = append(files, writeLines(t, dir, fmt.Sprintf("%d.jsonl", i), lines...))
	}
	d, err := Merge(files, MergeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rows, wholes := 0, []string{}
	row := func(r Row) error {
		rows++
		if !slices.Equal(r.Record.Ranks.Median, []float64{1e-3, 2e-3, 3e-3, 4e-3}) ||
			!slices.Equal(r.Record.Ranks.Late, []float64{0, 1e-6, 2e-6, 3e-6}) ||
			len(r.Record.Network) != 1 {
			t.Fatalf("row %d: %+v %+v", rows, r.Record.Ranks, r.Record.Network)
		}
		return nil
	}
	err = d.EachWhole(row, func(f *File) error {
		left := -1
		if f.End != nil {
			left = f.End.Left
		}
		wholes = append(wholes, fmt.Sprintf("%d rows before %s: %d ranks, %d points, left %d", rows, f.Run.ID, len(f.Ranks),
			f.Points, left))
		return nil
	})
	want := []string{"600 rows before run0: 3 ranks, 600 points, left 7",
		"1200 rows before run1: 4 ranks, 600 points, left -1"}
	if err != nil || !slices.Equal(wholes, want) {
		t.Errorf("%q, %v", wholes, err)
	}
	if err := d.EachWhole(row, func(*File) error { return io.ErrShortWrite }); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("an error of the callee: %v", err)
	}
}
