package trace_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/post/trace"
	"busbar/post/trace/tracetest"
)

// one is a kernel on stream 7.
func one(start, took int64) tracetest.Kernel {
	return tracetest.Kernel{Name: "k", Stream: 7, Start: start, Took: took}
}

// events is a trace of events as they are given.
func events(list ...string) []byte {
	return []byte(`{"traceEvents": [` + strings.Join(list, ",") + `]}`)
}

// kernel is a kernel with ts and dur as they are given.
func kernel(ts, dur string) string {
	return fmt.Sprintf(
		`{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7,
"ts": %s, "dur": %s, "args": {"device": 0, "stream": 7, "correlation": 5}}`,
		ts,
		dur,
	)
}

func TestTimesAreExact(t *testing.T) {
	for _, c := range []struct {
		ts, dur      string
		origin, took int64
	}{
		{"1700000000000000.001", "0.001", 1700000000000000001, 1},
		{"1700000000000000.999", "2636.669", 1700000000000000999, 2636669},
		{"1.7e15", "1e1", 1700000000000000000, 10000},
		{"1700000000000000", "3", 1700000000000000000, 3000},
		{`"1700000000000000.5"`, `"2.25"`, 1700000000000000500, 2250},
		{"1700000000000000.0004", "0.0005", 1700000000000000000, 1},
		{"170000000000000000E-2", "25E-1", 1700000000000000000, 2500},
	} {
		d := only(t, read(t, "x.json", events(kernel(c.ts, c.dur))))
		if a := d.Activities[0]; d.Origin != c.origin || a.End-a.Start != c.took || a.Start != 0 {
			t.Errorf("%s, %s: origin %d, %+v; want %d and %d", c.ts, c.dur, d.Origin, a, c.origin, c.took)
		}
	}
}

func TestOrigin(t *testing.T) {
	for _, c := range []struct {
		o    tracetest.Options
		want int64
	}{
		{tracetest.Options{Base: 1711964646_000000000}, 1711964646_000005000},
		{tracetest.Options{Base: 1711964646_000000000, MetadataLast: true}, 1711964646_000005000},
		{tracetest.Options{Epoch: true}, 1700000000_000005000},
		{tracetest.Options{Epoch: true, Base: 1711964646_000000000}, 1700000000_000005000},
		{tracetest.Options{}, trace.Unknown},
	} {
		text := write(t, c.o, func(w *tracetest.Writer) { w.Kernel(one(5000, 1000)) })
		if d := only(t, read(t, "x.json", text)); d.Origin != c.want || d.Activities[0].Start != 0 {
			t.Errorf("%+v: origin %d, want %d", c.o, d.Origin, c.want)
		}
	}
}

func TestLayoutsOfTheFile(t *testing.T) {
	plain, _ := training(t, nil)
	want := only(t, read(t, "rank1.json", plain))
	for name, change := range map[string]func(*tracetest.Training){
		"metadata last":    func(s *tracetest.Training) { s.MetadataLast = true },
		"bare array":       func(s *tracetest.Training) { s.Bare = true },
		"byte order mark":  func(s *tracetest.Training) { s.ByteOrder = true },
		"old names":        func(s *tracetest.Training) { s.OldNames = true },
		"times since 1970": func(s *tracetest.Training) { s.Epoch = true },
		"old, bare, marked": func(s *tracetest.Training) {
			s.Epoch, s.OldNames, s.Bare, s.ByteOrder = true, true, true, true
		},
	} {
		text, _ := training(t, change)
		f := read(t, "rank1.json", text)
		got := only(t, f)
		if !slices.Equal(got.Activities, want.Activities) || len(got.Calls) != len(want.Calls) || got.Rank != 1 ||
			got.World != 4 || f.Cut != "" || len(f.Notes) != 0 || len(got.Ranges) != 3 {
			t.Errorf(
				"%s: %d activities, %d calls, rank %d of %d, cut %q, notes %v, ranges %v",
				name,
				len(got.Activities),
				len(got.Calls),
				got.Rank,
				got.World,
				f.Cut,
				f.Notes,
				got.Ranges,
			)
		}
	}
}

func TestWhatIsNoActivity(t *testing.T) {
	text := write(t, tracetest.Options{}, func(w *tracetest.Writer) {
		w.Kernel(one(50_000, 1000))
		w.DeviceRange("nccl:all_reduce", 7, 50_000, 1000)
		w.DeviceRange("ProfilerStep#1", 7, 40_000, 90_000)
		w.Raw(
			`{"ph": "X", "cat": "overhead", "name": "Activity Buffer Request", "pid": -1,
"tid": 0, "ts": 1, "dur": 100}`,
		)
		w.Raw(
			`{"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": 7, "ts": 1, "dur": 100,
"args": {"device": 0, "stream": 7}}`,
		)
		w.Raw(`{"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 99}`)
	})
	if d := only(t, read(t, "x.json", text)); len(d.Activities) != 1 || len(d.Ranges) != 0 {
		t.Errorf("%d activities, ranges %v", len(d.Activities), d.Ranges)
	}
}

func TestOddDurations(t *testing.T) {
	f := read(t, "x.json", events(kernel("10", "-1"), kernel("20", "0"), kernel("30", "5"), kernel(`"soon"`, "5"),
		strings.Replace(kernel("40", "5"), `"dur": 5, `, "", 1)))
	d := only(t, f)
	var took []int64
	for _, a := range d.Activities {
		took = append(took, a.End-a.Start)
	}
	wantText(t, took, "[0 0 5000 0]")
	said(t, f, notice.NegativeDurations{Activities: 1})
}

// said wants these notes of a file, and no other.
func said(t *testing.T, f *trace.File, facts ...notice.Fact) {
	t.Helper()
	if !slices.Equal(f.Notes, facts) {
		t.Errorf("notes %+v, want %+v", f.Notes, facts)
	}
}

func TestRepeatedActivitiesCountOnce(t *testing.T) {
	again := kernel("30", "5")
	f := read(t, "x.json", events(again, kernel("10", "50"), kernel("12", "3"), again, again,
		strings.Replace(again, `"correlation": 5`, `"correlation": 6`, 1),
		strings.Replace(again, `"correlation": 5`, `"correlation": 5, "graph node id": 8`, 1)))
	d := only(t, f)
	if len(d.Activities) != 5 {
		t.Errorf("%d activities, want 5: nested ones, and those of other launches and graph nodes, are not the same",
			len(d.Activities))
	}
	said(t, f, notice.ActivitiesRepeated{Activities: 2})
}

func TestTextInThePlaceOfNumbers(t *testing.T) {
	f := read(t, "x.json",
		events(
			`{"ph": "X", "cat": "Kernel", "name": "k", "pid": "GPU 3", "tid": "stream 12", "ts": 1, "dur": 1}`,
			`{"ph": "X", "cat": "kernel", "name": "with \"quotes\" and \u00e9", "pid": 3, "tid": 12, "ts": 2, "dur": 1,
"args": {"device": "3", "stream": "12"}}`,
		))
	d := only(t, f)
	if d.ID != 3 || d.Activities[0].Stream != 12 || d.Activities[1].Stream != 12 ||
		d.Names[d.Activities[1].Name] != `with "quotes" and é` {
		t.Errorf("device %d, %+v, names %q", d.ID, d.Activities, d.Names)
	}
}

func TestSeveralDevices(t *testing.T) {
	text := write(t, tracetest.Options{Rank: 5, World: 8, Devices: 8}, func(w *tracetest.Writer) {
		for i := range int64(3) {
			k := one(10_000+i*1000, 500)
			k.Device, k.Launch = 5, 2000+i*100
			w.Kernel(k)
		}
		stray := one(20_000, 100)
		stray.Copy, stray.Name, stray.Bytes = "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 64
		w.Kernel(stray)
		w.Call("cudaDeviceSynchronize", 30_000, 5000, 99, 99)
	})
	f := read(t, "x.json", text)
	if len(f.Devices) != 2 {
		t.Fatalf("%d devices", len(f.Devices))
	}
	stray, main := f.Devices[0], f.Devices[1]
	if stray.ID != 0 || stray.Rank != trace.Unknown || main.ID != 5 || main.Rank != 5 || main.World != 8 {
		t.Errorf("devices are %+v and %+v", stray, main)
	}
	if a := stray.Activities[0]; a.Kind != trace.MemcpyDeviceToHost || a.Bytes != 64 || a.Start != 10_000 {
		t.Errorf("the copy is %+v", a)
	}
	said(t, f, notice.SeveralDevices{Rank: 5, Devices: 2, Main: 5})
}

func TestGraphs(t *testing.T) {
	text := write(t, tracetest.Options{}, func(w *tracetest.Writer) {
		for node := range int64(2) {
			k := one(50_000+node*1000, 500)
			k.Node, k.Correlation = node, 77 // the first is known by its launch alone
			w.Kernel(k)
		}
		w.Call("cudaGraphLaunch", 10_000, 5000, 77, 77)
		w.Call("cudaGraphLaunch", 20_000, 5000, 78, 78)
		k := one(60_000, 500)
		k.Launch, k.Call = 30_000, "cudaLaunchKernelExC"
		w.Kernel(k)
		k = one(70_000, 500)
		k.Node = 9 // known by its node alone
		w.Kernel(k)
	})
	f := read(t, "x.json", text)
	d := only(t, f)
	for i, graph := range []bool{true, true, false, true} {
		if a := d.Activities[i]; a.Graph != graph || (a.Launch == trace.NoTime) != (i == 3) {
			t.Errorf("%d: %+v", i, a)
		}
	}
	said(t, f, notice.EmptyGraphs{Launches: 1})
}

func TestWhenAKernelWasLaunched(t *testing.T) {
	text := write(t, tracetest.Options{}, func(w *tracetest.Writer) {
		k := one(50_000, 1000)
		k.Launch = 40_000
		w.Kernel(k)
		w.Call("cudaDeviceSynchronize", 60_000, 4000, 0, 0)
	})
	if d := only(t, read(t, "x.json", text)); d.Activities[0].Launch != -10_000 {
		t.Errorf("launched at %d", d.Activities[0].Launch)
	}
	if d := only(t, read(t, "x.json", events(kernel("1", "1")))); d.Activities[0].Launch != trace.NoTime {
		t.Errorf("without calls: launched at %d", d.Activities[0].Launch)
	}
}

func TestKindsOfCopies(t *testing.T) {
	for name, want := range map[string]trace.Kind{
		"Memcpy HtoD (Pinned -> Device)":   trace.MemcpyHostToDevice,
		"Memcpy DtoH (Device -> Pageable)": trace.MemcpyDeviceToHost,
		"Memcpy DtoD (Device -> Device)":   trace.MemcpyDeviceToDevice,
		"Memcpy PtoP (Device -> Device)":   trace.MemcpyPeer, "CopyDeviceToHost": trace.MemcpyDeviceToHost,
		"Memcpy": trace.MemcpyOther, "Memcpy HtoH (Pinned -> Pinned)": trace.MemcpyOther,
	} {
		text := write(t, tracetest.Options{}, func(w *tracetest.Writer) {
			w.Kernel(tracetest.Kernel{Name: name, Copy: "gpu_memcpy", Bytes: 5, Start: 1000, Took: 10})
		})
		if a := only(t, read(t, "x.json", text)).Activities[0]; a.Kind != want || a.Bytes != 5 {
			t.Errorf("%s: kind %d of %d bytes", name, a.Kind, a.Bytes)
		}
	}
	text := write(t, tracetest.Options{OldNames: true}, func(w *tracetest.Writer) {
		w.Kernel(tracetest.Kernel{Name: "Memset (Device)", Copy: "gpu_memset", Start: 1000, Took: 10})
	})
	if a := only(t, read(t, "x.json", text)).Activities[0]; a.Kind != trace.Memset {
		t.Errorf("a memset is of kind %d", a.Kind)
	}
}

func TestTornPlaces(t *testing.T) {
	for name, torn := range map[string]string{
		"infinite": strings.Replace(kernel("20", "5"), `"correlation": 5`, `"bandwidth": inf`, 1),
		"quote":    strings.Replace(kernel("20", "5"), `"k"`, `"k"quoted"`, 1),
		"control":  strings.Replace(kernel("20", "5"), `"k"`, "\"k\x01\"", 1),
		"escape":   strings.Replace(kernel("20", "5"), `"k"`, `"C:\dir"`, 1),
	} {
		text := events(kernel("10", "5"), torn, kernel("30", "5"), torn, kernel("40", "5"))
		for layout, text := range map[string][]byte{
			"object": bytes.Replace(text, []byte("]}"),
				[]byte(`], "distributedInfo": {"rank": 3, "world_size": 4}}`), 1),
			"array": bytes.TrimSuffix(bytes.TrimPrefix(text, []byte(`{"traceEvents": `)), []byte("}")),
		} {
			f := read(t, "rank3.json", text)
			d := only(t, f)
			if len(d.Activities) != 3 || d.Rank != 3 || f.Cut != "" {
				t.Errorf("%s in an %s: %d activities, rank %d, cut %q", name, layout, len(d.Activities), d.Rank, f.Cut)
			}
			said(t, f, notice.TracePartsTorn{Places: 2})
		}
	}
}

func TestTimesThatNoClockShows(t *testing.T) {
	f := read(t, "x.json", events(kernel("-9e15", "1"), kernel("9e15", "1"), kernel("9e99", "1"), kernel("10", "9e15"),
		kernel("20", "1e400")))
	d := only(t, f)
	if len(d.Activities) != 2 || d.Activities[0].End < d.Activities[0].Start {
		t.Errorf("activities are %+v", d.Activities)
	}
	checkPromises(t, d)
}
