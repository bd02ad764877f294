package result

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/notice"

	"github.com/shoenig/test/must"
)

func sampleRun() Run {
	return Run{
		Kind: KindRun, Schema: Schema, ID: "run-1", Launch: "launch-1", Campaign: "campaign-1",
		Start: time.Date(2026, 11, 21, 1, 11, 55, 482e6, time.UTC), Tool: "busbar test",
		Backend: Backend{Name: "nccl", Library: "NCCL 2.27.7", Version: "2.27.7", Path: "/usr/lib/libnccl.so.2"},
		World:   4, Nodes: 2, RanksPerNode: 2, Device: "H100",
	}
}

func sampleRanks() []Rank {
	return []Rank{
		{Kind: KindRank, Rank: 0, Host: "node1"}, {Kind: KindRank, Rank: 1, Host: "node1", LocalRank: 1},
		{Kind: KindRank, Rank: 2, Host: "node2"}, {Kind: KindRank, Rank: 3, Host: "node2", LocalRank: 1},
	}
}

// sampleCase is an out-of-place float32 throughput case of a world of four.
func sampleCase(t testing.TB, c coll.Collective, elements int64) coll.Case {
	t.Helper()
	k := coll.Case{Collective: c, Type: coll.Float32, Root: -1, Placement: coll.OutOfPlace, Mode: coll.Throughput,
		World: 4}
	if c.Reduces() {
		k.Op = coll.Sum
	}
	if c.Rooted() {
		k.Root = 0
	}
	k, err := k.WithElements(elements)
	must.NoError(t, err)
	return k
}

func sampleRecord(c coll.Case, seconds float64) Record {
	return Record{
		Kind: KindCase, At: "2026-11-21T01:11:56.000Z", Case: c, Status: OK,
		Time: &Time{
			Seconds: seconds, Lo: seconds * 0.99, Hi: seconds * 1.01, Min: seconds * 0.9,
			P90: seconds * 1.1, P99: seconds * 1.2,
			Max:  seconds * 2,
			Mean: seconds, Samples: 50, Iterations: 1000, Batch: 20, Stop: "precision", Sync: "barrier",
			Summary: "max over ranks", Elapsed: 1,
		},
		Check: Check{Result: "ok", Rounds: 1, Elements: 4 * c.Count, Way: "in place", Seconds: seconds},
		Ranks: &Ranks{Slowest: 3, SlowestHost: "node2", SlowestS: seconds, Latest: -1,
			Median: []float64{1e-3, 2e-3, 3e-3, 4e-3}},
	}
}

// notOK is a record of a point without a figure.
func notOK(c coll.Case, s Status, why string) Record {
	return Record{Kind: KindCase, Case: c, Status: s, Why: Because(notice.FromText(why)), Check: Check{Result: "none"}}
}

// writeLines writes values as lines of JSON and returns the file's path. It writes a string as it is, with its newline
// if it has one.
func writeLines(t testing.TB, dir, name string, lines ...any) string {
	t.Helper()
	path := filepath.Join(dir, name)
	var b []byte
	for _, l := range lines {
		if s, ok := l.(string); ok {
			b = append(b, s...)
			continue
		}
		line, err := json.Marshal(l)
		must.NoError(t, err)
		b = append(append(b, line...), '\n')
	}
	must.NoError(t, os.MkdirAll(dir, 0o777))
	must.NoError(t, os.WriteFile(path, b, 0o666))
	return path
}

// numbered gives records their numbers and makes them lines.
func numbered(records ...Record) []any {
	lines := make([]any, len(records))
	for i := range records {
		records[i].N = i + 1
		lines[i] = records[i]
	}
	return lines
}
