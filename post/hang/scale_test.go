package hang_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"busbar/post/hang"
)

// BenchmarkThousandDumps reads and analyzes 1,024 dumps of 2,000 entries with stacks of 12 functions. One rank stopped
// before the last collective.
func BenchmarkThousandDumps(b *testing.B) {
	const world, entries = 1024, 2000
	folder := b.TempDir()
	d := (&Job{World: 1}).All(reduce(), entries).Run()[0]
	members := make([]int, world)
	for i := range members {
		members[i] = i
	}
	d.Groups["0"] = members
	for i := range d.Entries {
		d.Entries[i].Function, d.Entries[i].Source, d.Entries[i].Depth = "train_step", "/home/user/train.py", 10
		d.Entries[i].In = int64(1024 + i%300)
		d.Entries[i].Out = d.Entries[i].In
	}
	last := &d.Entries[entries-1]
	last.Done, last.Retired = false, false
	whole := filepath.Join(folder, "trace_0")
	write(b, whole, d.Pickle())
	d.Entries = d.Entries[:entries-1]
	write(b, filepath.Join(folder, "trace_7"), d.Pickle())
	for rank := range world { // a dump does not hold its rank
		if rank != 0 && rank != 7 {
			if err := os.Link(whole, filepath.Join(folder, fmt.Sprintf("trace_%d", rank))); err != nil {
				b.Fatal(err)
			}
		}
	}
	for b.Loop() {
		evidence, _, err := hang.Read(context.Background(), []string{folder})
		if err != nil {
			b.Fatal(err)
		}
		if v := hang.Analyze(*evidence).Verdict; v.Code != "rank-missing" || !slices.Equal(v.Ranks, []int{7}) {
			b.Fatal(v)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB-of-process")
}

func write(b *testing.B, path string, data []byte) {
	if err := os.WriteFile(path, data, 0o666); err != nil {
		b.Fatal(err)
	}
}
