package trace_test

import (
	"bytes"
	"testing"

	"busbar/post/trace"
	"busbar/post/trace/tracetest"
)

// FuzzKineto: whatever a file holds, reading it ends, and what comes of it keeps the promises of the types.
func FuzzKineto(f *testing.F) {
	group := tracetest.Group{Name: "0", About: "default_pg", Ranks: []int{0, 1}}
	for where := range tracetest.ByShape + 1 {
		f.Add(write(f, tracetest.Options{World: 2, Groups: []tracetest.Group{group}, MetadataLast: where == 1,
			Bare: where == 2, Epoch: where == 3}, func(w *tracetest.Writer) {
			w.Range("ProfilerStep#1", 0, 100_000)
			w.Kernel(
				tracetest.Kernel{Name: "k", Stream: 7, Start: 50_000, Took: 1000, Launch: 40_000, Node: int64(where)},
			)
			w.Kernel(
				tracetest.Kernel{Name: "ncclDevKernel_AllReduce", Stream: 20, Start: 60_000, Took: 1000, Launch: 45_000,
					Collective: &tracetest.Collective{
						Name:  "allreduce",
						Type:  "Float",
						In:    100,
						Out:   100,
						Group: group,
						Where: where,
						Seq:   4,
					}},
			)
		}))
	}
	f.Add([]byte(
		`[{"ph":"B","name":"a","ts":1e3,"pid":"x","tid":2},
{"ph":"E","ts":"2.5","pid":"x","tid":2},
{"ph":"X","cat":"kernel","name":nan},
{"ph":"X","cat":"Memcpy","name":"Memcpy HtoD","ts":-3,"dur":-9,"args":{"stream":-1}}]`,
	))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := trace.ReadBytes("trace.json", text, trace.Options{KeepRange: func(name string) bool {
			return len(name)%2 == 0
		}})
		if err != nil {
			return
		}
		for _, d := range file.Devices {
			checkPromises(t, d)
		}
	})
}

// checkPromises checks what the types promise of a device.
func checkPromises(t *testing.T, d *trace.Device) {
	t.Helper()
	last := int64(trace.NoTime)
	for _, a := range d.Activities {
		if a.End < a.Start || a.Start < last || int(a.Name) >= len(d.Names) || int(a.Call) >= len(d.Calls) ||
			a.Call < trace.Unknown {
			t.Fatalf("an activity is %+v", a)
		}
		last = a.Start
	}
	for _, c := range d.Calls {
		if int(c.Group) >= len(d.Groups) || c.Group < trace.Unknown || c.Bytes < trace.Unknown || c.Bytes == 0 ||
			c.Parts < 1 || c.What == 0 {
			t.Fatalf("a call is %+v", c)
		}
	}
	for _, g := range d.Groups {
		if g.Rank < trace.Unknown || g.Size < 0 || g.Ranks != nil && g.Rank >= len(g.Ranks) {
			t.Fatalf("a group is %+v", g)
		}
	}
	last = trace.NoTime
	for _, r := range d.Ranges {
		if r.End < r.Start || r.Start < last {
			t.Fatalf("a range is %+v", r)
		}
		last = r.Start
	}
}

// activities is how many a file has.
func activities(f *trace.File) (n int) {
	for _, d := range f.Devices {
		n += len(d.Activities)
	}
	return n
}

// A file that breaks off anywhere keeps all events that are whole, says that it was cut, and nothing is made up.
func TestBrokenOffAnywhere(t *testing.T) {
	text := write(t, tracetest.Options{World: 1}, func(w *tracetest.Writer) {
		for i := range int64(4) {
			w.Kernel(tracetest.Kernel{Name: "k", Stream: 7, Start: 50_000 + i*2000, Took: 1000})
		}
	})
	whole := len(bytes.TrimSpace(text))
	for n := range len(text) {
		f, err := trace.ReadBytes("x.json", text[:n], trace.Options{})
		want := bytes.Count(text[:n], []byte("\n  }"))
		if err != nil {
			if want > 0 {
				t.Fatalf("after %d bytes: %v", n, err)
			}
			continue
		}
		got := activities(f)
		if got != want || (f.Cut == "") != (n >= whole) {
			t.Fatalf("after %d of %d bytes: %d events, want %d; cut: %q", n, len(text), got, want, f.Cut)
		}
	}
}

// Compressed data that breaks off keeps what could be decompressed.
func TestBrokenOffCompressed(t *testing.T) {
	text, _ := training(t, nil)
	z := packed(t, text)
	most := 0
	for n := 20; n < len(z); n += 7 {
		f, err := trace.ReadBytes("x.json.gz", z[:n], trace.Options{})
		if err != nil {
			continue
		}
		if f.Cut == "" {
			t.Fatalf("after %d of %d bytes nothing is said", n, len(z))
		}
		got := activities(f)
		if got < most {
			t.Fatalf("after %d bytes there are %d activities, and were %d after less", n, got, most)
		}
		most = got
	}
	if most != 24 {
		t.Errorf("without its last bytes the file has %d activities, want all 24", most)
	}
}
