package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/notice/profiles"
	"busbar/post/trace"
	"busbar/post/trace/tracetest"
)

// one is a kernel on stream 7.
func one(start, took int64) tracetest.Kernel {
	return tracetest.Kernel{Name: "k", Stream: 7, Start: start, Took: took}
}

// events returns a trace of the given events.
func events(list ...string) []byte {
	return []byte(`{"traceEvents": [` + strings.Join(list, ",") + `]}`)
}

// kernel returns a kernel with the given ts and dur.
func kernel(ts, dur string) string {
	return fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": %s, "dur": %s,
"args": {"device": 0, "stream": 7, "correlation": 5}}`, ts, dur)
}

// TestTimes covers the formats of times, from 1970 or with a base.
func TestTimes(t *testing.T) {
	const base = 1700000000_000000000
	for _, c := range []struct {
		ts, dur      string
		base         int64
		origin, took int64
	}{
		{"1700000000000000.001", "0.001", 0, base + 1, 1},
		{"1700000000000000.999", "2636.669", 0, base + 999, 2636669},
		{"1.7e15", "1e1", 0, base, 10000},
		{`"1700000000000000.5"`, `"2.25"`, 0, base + 500, 2250},
		{"1700000000000000.0004", "0.0005", 0, base, 1},
		{"170000000000000000E-2", "25E-1", 0, base, 2500},
		{"1700000000000000", "3", 1711964646_000000000, base, 3000},
		{"5", "3", base, base + 5000, 3000},
		{"-5", "3", base, base - 5000, 3000},
		{"5", "3", 0, trace.Unknown, 3000},
	} {
		text := write(t, tracetest.Options{Base: c.base}, func(w *tracetest.Writer) { w.Raw(kernel(c.ts, c.dur)) })
		d := only(t, read(t, "x.json", text))
		a := d.Activities[0]
		must.Eq(t, []int64{c.origin, 0, c.took}, []int64{d.Origin, a.Start, a.End}, must.Sprint(c))
	}
}

func TestOddTimes(t *testing.T) {
	f := read(t, "x.json", events(kernel("10", "-1"), kernel("20", "0"), kernel("30", "5"), kernel(`"soon"`, "5"),
		strings.Replace(kernel("40", "5"), `"dur": 5,`, "", 1), kernel("-9e15", "1"), kernel("9e15", "1"),
		kernel("9e99", "1"), kernel("50", "9e15"), kernel("60", "1e400"), kernel("70", `"nan"`)))
	d := only(t, f)
	var took []int64
	for _, a := range d.Activities {
		took = append(took, a.End-a.Start)
	}
	must.Eq(t, []int64{0, 0, 5000, 0, 1 << 60, 0, 0}, took)
	noted(t, f)
}

func TestIgnoredEvents(t *testing.T) {
	d := written(t, func(w *tracetest.Writer) {
		w.Kernel(one(50_000, 1000))
		for _, category := range []string{"gpu_user_annotation", "overhead", "cuda_sync", "fwdbwd"} {
			w.Raw(fmt.Sprintf(`{"ph": "X", "cat": %q, "name": "ProfilerStep#1", "pid": 0, "tid": 7, "ts": 1, "dur": 100,
"args": {"device": 0, "stream": 7}}`, category))
		}
		w.Raw(`{"ph": "i", "s": "g", "name": "Record Window End", "pid": "", "tid": "", "ts": 99}`)
	})
	must.Len(t, 1, d.Activities)
	must.Len(t, 0, d.Ranges)
}

// Nested activities, and those of other launches or graph nodes, are different.
func TestDuplicateActivities(t *testing.T) {
	again := kernel("30", "5")
	d := only(t, read(t, "x.json", events(again, kernel("10", "50"), kernel("12", "3"), again, again,
		strings.Replace(again, `"correlation": 5`, `"correlation": 6`, 1),
		strings.Replace(again, `"correlation": 5`, `"correlation": 5, "graph node id": 8`, 1))))
	must.Len(t, 5, d.Activities)
}

func TestTextInsteadOfNumbers(t *testing.T) {
	d := only(t, read(t, "x.json", events(
		`{"ph": "X", "cat": "kernel", "name": "with \"quotes\" and \u00e9", "pid": 3, "tid": 12, "ts": 2, "dur": 1,
"args": {"device": "3", "stream": "12"}}`)))
	must.EqOp(t, 3, d.ID)
	must.EqOp(t, 12, d.Activities[0].Stream)
	must.EqOp(t, `with "quotes" and é`, d.Names[0])
}

func TestSeveralDevices(t *testing.T) {
	f := read(t, "x.json", write(t, tracetest.Options{Rank: 5, World: 8}, func(w *tracetest.Writer) {
		for i := range int64(3) {
			k := one(10_000+i*1000, 500)
			k.Device, k.Launch = 5, 2000+i*100
			w.Kernel(k)
		}
		w.Kernel(tracetest.Kernel{Copy: "gpu_memcpy", Name: "Memcpy DtoH (Device -> Pageable)", Bytes: 64,
			Start: 20_000})
	}))
	must.Len(t, 2, f.Devices)
	stray, main := f.Devices[0], f.Devices[1]
	must.Eq(t, []int{0, trace.Unknown, 5, 5, 8}, []int{stray.ID, stray.Rank, main.ID, main.Rank, main.World})
	must.EqOp(t, 10_000, stray.Activities[0].Start)
	noted(t, f, profiles.SeveralDevices{Rank: 5, Devices: 2, Main: 5})
}

// TestGraphs covers graph kernels known by their launch only and by their node only.
func TestGraphs(t *testing.T) {
	f := read(t, "x.json", write(t, tracetest.Options{}, func(w *tracetest.Writer) {
		for node := range int64(2) {
			k := one(50_000+node*1000, 500)
			k.Node, k.Correlation = node, 77
			w.Kernel(k)
		}
		w.Call("cudaGraphLaunch", 10_000, 5000, 77, 77)
		w.Call("cudaGraphLaunch", 20_000, 5000, 78, 78)
		k := one(60_000, 500)
		k.Launch = 30_000
		w.Kernel(k)
		k = one(70_000, 500)
		k.Node = 9
		w.Kernel(k)
	}))
	var graphs []bool
	var launches []int64
	for _, a := range only(t, f).Activities {
		graphs, launches = append(graphs, a.Graph), append(launches, a.Launch)
	}
	must.Eq(t, []bool{true, true, false, true}, graphs)
	must.Eq(t, []int64{-40_000, -40_000, -20_000, trace.NoTime}, launches)
	noted(t, f, profiles.EmptyGraphs{Launches: 1})
}

func TestKindsOfCopies(t *testing.T) {
	for name, want := range map[string]trace.Kind{
		"Memcpy HtoD (Pinned -> Device)":   trace.MemcpyHostToDevice,
		"Memcpy DtoH (Device -> Pageable)": trace.MemcpyDeviceToHost,
		"Memcpy DtoD (Device -> Device)":   trace.MemcpyDeviceToDevice,
		"Memcpy PtoP (Device -> Device)":   trace.MemcpyPeer, "CopyDeviceToHost": trace.MemcpyDeviceToHost,
		"Memcpy": trace.MemcpyOther, "Memcpy HtoH (Pinned -> Pinned)": trace.MemcpyOther,
		"Memset (Device)": trace.Memset,
	} {
		category := "gpu_" + strings.ToLower(name[:6])
		if category == "gpu_copyde" {
			category = "gpu_memcpy"
		}
		a := written(t, func(w *tracetest.Writer) {
			w.Kernel(tracetest.Kernel{Name: name, Copy: category, Bytes: 5, Start: 1000, Took: 10})
		}).Activities[0]
		must.EqOp(t, want, a.Kind, must.Sprint(name))
		must.EqOp(t, 5, a.Bytes)
	}
}
