package result

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"busbar/internal/coll"

	"github.com/shoenig/test/must"
)

// TestEachOrder: rows come in the order of files and numbers, whole, and behind those of a file its ranks and its end,
// also of files longer than a chunk.
func TestEachOrder(t *testing.T) {
	const points = 2*chunkRows + 88
	dir := t.TempDir()
	var files []string
	for i := range 2 {
		lines := []any{runOf(fmt.Sprint("run", i), i)}
		for _, r := range sampleRanks()[:3+i] {
			lines = append(lines, r)
		}
		for n := range points {
			r := sampleRecord(sampleCase(t, coll.AllReduce, 8), 1e-5)
			r.N, r.Network = n+1, []NetUse{{Name: "eth0"}}
			lines = append(lines, r)
		}
		if i == 0 { // the other is cut off
			lines = append(lines, End{Kind: KindEnd, Outcome: Aborted, Left: 7})
		}
		files = append(files, writeLines(t, dir, fmt.Sprintf("%d.jsonl", i), lines...))
	}
	d, err := Merge(files, MergeOptions{})
	must.NoError(t, err)
	rows, wholes := 0, []string{}
	row := func(r Row) error {
		if r.Run.ID != fmt.Sprint("run", rows/points) || r.Record.N != rows%points+1 ||
			!slices.Equal(r.Record.Ranks.Median, []float64{1e-3, 2e-3, 3e-3, 4e-3}) || len(r.Record.Network) != 1 {
			t.Fatalf("row %d: %+v %+v", rows, r.Record, r.Record.Ranks)
		}
		rows++
		return nil
	}
	err = d.EachWhole(row, func(f *File) error {
		wholes = append(
			wholes,
			fmt.Sprintf("%d rows, then %s: %d ranks, %d points, end %v", rows, f.Run.ID, len(f.Ranks),
				f.Points, f.End != nil && f.End.Left == 7),
		)
		return nil
	})
	want := []string{"600 rows, then run0: 3 ranks, 600 points, end true",
		"1200 rows, then run1: 4 ranks, 600 points, end false"}
	if err != nil || !slices.Equal(wholes, want) {
		t.Errorf("%q, %v", wholes, err)
	}
	stop := io.ErrShortWrite
	if err := d.Each(func(Row) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error for a row: %v", err)
	}
	rows = 0
	if err := d.EachWhole(row, func(*File) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error for a file: %v", err)
	}
}
