package result

import (
	"bufio"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/notice"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func writeText(w io.Writer, run *Run, ranks []Rank, records []Record, end *End) error {
	v := newTextView(run, ranks)
	for i := range records {
		v.add(&records[i])
	}
	v.end = end
	b := bufio.NewWriter(w)
	v.draw(b)
	return b.Flush()
}

// everything is a run with everything that a text view can show.
func everything(t *testing.T) []Record {
	with := func(r Record, f func(*Record)) Record {
		f(&r)
		return r
	}
	allReduce := sampleCase(t, coll.AllReduce, 1<<20)
	inPlace, latency, latencyIn := allReduce, allReduce, allReduce
	inPlace.Placement = coll.InPlace
	latency.Mode = coll.Latency
	latencyIn.Mode, latencyIn.Placement = coll.Latency, coll.InPlace
	broadcast := sampleCase(t, coll.Broadcast, 1<<20)
	broadcast.Placement = coll.InPlace
	broadcastLatency := broadcast
	broadcastLatency.Mode = coll.Latency
	root2 := broadcast
	root2.Root = 2
	maximum := allReduce
	maximum.Type, maximum.Op = coll.Int32, coll.Max
	double := allReduce
	double.Type = coll.Float64
	double, err := double.WithElements(1 << 20)
	must.NoError(t, err)
	return []Record{
		sampleRecord(latencyIn, 85e-6),
		sampleRecord(inPlace, 88e-6),
		sampleRecord(sampleCase(t, coll.ReduceScatter, 1<<20), 174e-6),
		with(sampleRecord(allReduce, 90e-6), func(r *Record) {
			r.Path = &Path{Algorithm: "RING", Protocol: "LL128", Channels: 16}
		}),
		sampleRecord(sampleCase(t, coll.AllGather, 1<<20), 179e-6),
		with(sampleRecord(latency, 95e-6), func(r *Record) {
			r.Warnings = notice.Of(notice.FromText("load: 5.0 on 4 cores"),
				notice.FromText("drift: 4 % from the first to the last third"))
		}),
		with(sampleRecord(maximum, 100e-6), func(r *Record) {
			r.Path = &Path{Algorithm: "TREE", Protocol: "LL", Channels: 1}
		}),
		with(sampleRecord(double, 200e-6), func(r *Record) {
			r.Warnings = notice.Of(notice.FromText("load: 5.0 on 4 cores"))
			r.Check.Result = "off"
		}),
		sampleRecord(broadcast, 60e-6),
		with(sampleRecord(broadcastLatency, 61e-6), func(r *Record) { r.Time.P99 = 0 }),
		sampleRecord(root2, 62e-6),
		sampleRecord(sampleCase(t, coll.AllReduce, 2), 1.234e-6),
		sampleRecord(sampleCase(t, coll.AllReduce, 1024), 4e-6),
		sampleRecord(sampleCase(t, coll.AllReduce, 1<<32), 12.3456),
		notOK(sampleCase(t, coll.AllToAll, 2), Unsupported, "the library has no alltoall"),
		with(notOK(sampleCase(t, coll.AllGather, 1<<32), Skipped, ""), func(r *Record) { r.Needed = 80 << 30 }),
		with(notOK(sampleCase(t, coll.ReduceScatter, 2), Wrong, ""), func(r *Record) {
			r.Check = Check{Result: "wrong", First: &Wrong1{Rank: 1, Host: "node1", Index: 17, Want: "3", Got: "5"}}
		}),
	}
}

func TestTextView(t *testing.T) {
	run := sampleRun()
	run.Warnings = notice.Of(notice.FromText("4 ranks share 2 cores"))
	for _, c := range []struct {
		golden string
		change func(*Run) *End
	}{
		{"complete.txt", func(*Run) *End {
			return &End{Outcome: Complete, Points: map[Status]int{OK: 14, Unsupported: 1, Skipped: 1, Wrong: 1}}
		}},
		{"interrupted.txt", func(r *Run) *End {
			r.Rehearse, r.Backend.Name = true, "nccl-rehearsal"
			return &End{Outcome: Interrupted,
				Why: Because(notice.RunSignalled{Signal: "SIGTERM"}), Left: 12, Points: map[Status]int{OK: 14}}
		}},
		{"running.txt", func(r *Run) *End {
			r.Backend = Backend{Name: "mpi", Library: "Open MPI 4.1.4", Version: "4.1.4", Path: "/usr/lib/libmpi.so.40"}
			return nil
		}},
	} {
		r, records := run, everything(t)
		end := c.change(&r)
		if c.golden != "complete.txt" {
			records = records[:4]
		}
		var b strings.Builder
		must.NoError(t, writeText(&b, &r, sampleRanks(), records, end))
		golden.Text(t, filepath.Join("testdata", c.golden), b.String())
		if strings.Contains(b.String(), " 0.00 GB/s") || strings.Contains(b.String(), " 0.000 ms") {
			t.Errorf("%s: a figure has no digits", c.golden)
		}
	}
}

// A run of one type, operation and root does not repeat them in its lines.
func TestTextViewOfOneType(t *testing.T) {
	c := sampleCase(t, coll.AllReduce, 1<<20)
	c.Type, c.Op = coll.BFloat16, coll.Max
	run := sampleRun()
	var b strings.Builder
	must.NoError(t, writeText(&b, &run, nil, []Record{sampleRecord(c, 90e-6)}, nil))
	test.StrContains(t, b.String(), "\n  AllReduce: ")
}

func TestSoak(t *testing.T) {
	run := sampleRun()
	var records []Record
	for cycle := range 4 {
		r := sampleRecord(sampleCase(t, coll.AllReduce, 1<<20), 90e-6+float64(cycle)*2e-6)
		r.Cycle = cycle + 1
		records = append(records, r)
	}
	var b strings.Builder
	must.NoError(t, writeText(&b, &run, nil, records, &End{Outcome: Complete}))
	for _, want := range []string{"  AllReduce:     0.096 ms",
		"  AllReduce over 4 cycles: min 0.090 | median 0.093 | max 0.096 ms\n"} {
		test.StrContains(t, b.String(), want)
	}
}

func TestDigits(t *testing.T) {
	for _, c := range golden.Table[struct {
		X        float64
		Decimals int
		Want     string
	}](t, `
		X         Decimals  Want
		0.09      3         0.090
		0.01      3         0.010
		0.009996  3         0.01000
		0.00123   3         0.00123
		1e-6      3         0.00000100
		46.603    2         46.60
		0.00789   2         0.00789
		0         2         0.00
		12345.6   3         12345.600
	`) {
		test.EqOp(t, c.Want, digits(c.X, c.Decimals), test.Sprint(c.X, c.Decimals))
	}
}

// TestTextViewCost sets the clock: if a drawing takes a second, the next comes twenty seconds later.
func TestTextViewCost(t *testing.T) {
	defer func() { now = time.Now }()
	clock, drawn := time.Unix(0, 0), 0
	now = func() time.Time {
		clock = clock.Add(time.Second / 2) // a drawing reads it at its begin and end
		return clock
	}
	run := sampleRun()
	f := textFile{view: newTextView(&run, nil), path: t.TempDir() + "/view.txt"}
	for range 120 {
		before := f.due
		must.NoError(t, f.draw(false))
		if f.due != before {
			drawn++
		}
	}
	if drawn < 2 || drawn > 7 {
		t.Errorf("%d drawings in a minute, each of half a second", drawn)
	}
}
