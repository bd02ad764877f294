package trace_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shoenig/test/must"

	"busbar/internal/notice"
	"busbar/post/trace"
	"busbar/post/trace/tracetest"
)

// write returns a trace as text.
func write(t testing.TB, o tracetest.Options, events func(w *tracetest.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tracetest.NewWriter(&b, o)
	events(w)
	must.NoError(t, w.Close())
	return b.Bytes()
}

// written returns the only device of a trace without a rank.
func written(t testing.TB, events func(w *tracetest.Writer)) *trace.Device {
	t.Helper()
	return only(t, read(t, "x.json", write(t, tracetest.Options{}, events)))
}

// read reads text as a file of that name.
func read(t testing.TB, name string, text []byte) *trace.File {
	t.Helper()
	f, err := readAs(t, name, text, trace.Options{})
	must.NoError(t, err)
	return f
}

func readAs(t testing.TB, name string, text []byte, o trace.Options) (*trace.File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.FromSlash(name))
	must.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
	must.NoError(t, os.WriteFile(path, text, 0o666))
	return trace.Read(t.Context(), path, o)
}

// only returns the only device of a file.
func only(t testing.TB, f *trace.File) *trace.Device {
	t.Helper()
	must.Len(t, 1, f.Devices)
	return f.Devices[0]
}

// noted checks the notes of a file.
func noted(t testing.TB, f *trace.File, facts ...notice.Fact) {
	t.Helper()
	must.Eq(t, facts, f.Notes)
}

// callsOf returns the calls of a device's activities, one per line: index, name, collective, bytes, type, group,
// sequence number, peer and parts; - without a call.
func callsOf(d *trace.Device) string {
	var b strings.Builder
	for _, a := range d.Activities {
		if a.Call == trace.Unknown {
			b.WriteString("-\n")
			continue
		}
		c := d.Calls[a.Call]
		fmt.Fprintln(&b, a.Call, c.Name, c.What, c.Bytes, c.Type, c.Group, c.Seq, c.Peer, c.Parts)
	}
	return b.String()
}

// wantText compares texts.
func wantText(t testing.TB, got any, want string) {
	t.Helper()
	must.EqOp(t, strings.TrimSpace(want), strings.TrimSpace(fmt.Sprint(got)))
}

func packed(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	must.NoError(t, err)
	must.NoError(t, z.Close())
	return b.Bytes()
}

// training returns a trace of three steps of four layers, with the expected results.
func training(t testing.TB) ([]byte, answers) {
	t.Helper()
	s := steady{Options: tracetest.Options{Rank: 1, World: 4, NCCL: "2.27.5"}, Steps: 3, Layers: 4,
		Layer: 2_000_000, Comm: 1_500_000, Elements: 1 << 20}
	var b bytes.Buffer
	a, err := s.write(&b)
	must.NoError(t, err)
	return b.Bytes(), a
}

func TestTraining(t *testing.T) {
	text, want := training(t)
	d := only(t, read(t, "x.json", text))
	wantText(t, fmt.Sprintf("%d %d %s %s %d %+v", d.Rank, d.World, d.NCCL, d.GPU, d.Process, d.Groups),
		"1 4 2.27.5 Test GPU 4711 [{Name:0 About:default_pg Ranks:[0 1 2 3] Size:4 Rank:1}]")
	must.Len(t, 12, d.Calls)
	must.Len(t, 3, d.Ranges)
	must.EqOp(t, "ProfilerStep#5", d.Ranges[2].Name)
	wantText(t, d.Calls[5], "{allreduce all_reduce 4194304 float32 0 6 -1 1 <nil>}")
	var got answers
	for _, a := range d.Activities {
		must.EqOp(t, a.Call != trace.Unknown, strings.HasPrefix(d.Names[a.Name], "nccl"))
		must.True(t, a.Launch != trace.NoTime && a.Launch < a.Start)
		if a.Call != trace.Unknown {
			got.Comm += a.End - a.Start
		} else {
			got.Compute += a.End - a.Start
		}
		got.Span = max(got.Span, a.End)
	}
	got.Exposed = want.Exposed
	must.EqOp(t, want, got)
}

// TestLayouts reads one trace in the layouts of other profiler versions, and compressed.
func TestLayouts(t *testing.T) {
	plain, _ := training(t)
	want := only(t, read(t, "rank1.json", plain))
	head, events, _ := bytes.Cut(plain, []byte(`, "traceEvents": `))
	events = bytes.TrimSuffix(bytes.TrimSpace(events), []byte("}"))
	for name, text := range map[string][]byte{
		"metadata last": fmt.Appendf(nil, `{"traceEvents": %s, %s}`, events, head[1:]),
		"bare array":    events,
		"packed":        packed(t, plain),
	} {
		t.Run(name, func(t *testing.T) {
			f := read(t, "rank1.json", text)
			got := only(t, f)
			must.Eq(t, want.Activities, got.Activities)
			must.Eq(t, want.Calls, got.Calls)
			must.Eq(t, want.Ranges, got.Ranges)
			must.EqOp(t, 1, got.Rank)
			must.EqOp(t, "", f.Cut)
			noted(t, f)
		})
	}
}

// checkPromises checks the documented invariants of a device.
func checkPromises(t *testing.T, d *trace.Device) {
	t.Helper()
	last := int64(trace.NoTime)
	for _, a := range d.Activities {
		must.True(t, a.End >= a.Start && a.Start >= last && int(a.Name) < len(d.Names) && int(a.Call) < len(d.Calls) &&
			a.Call >= trace.Unknown, must.Sprint(a))
		last = a.Start
	}
	for _, c := range d.Calls {
		must.True(t, int(c.Group) < len(d.Groups) && c.Group >= trace.Unknown && c.Bytes >= trace.Unknown &&
			c.Bytes != 0 && c.Parts >= 1 && c.What != 0, must.Sprint(c))
	}
	for _, g := range d.Groups {
		must.True(t, g.Rank >= trace.Unknown && g.Size >= 0 && (g.Ranks == nil || g.Rank < len(g.Ranks)),
			must.Sprint(g))
	}
	last = trace.NoTime
	for _, r := range d.Ranges {
		must.True(t, r.End >= r.Start && r.Start >= last, must.Sprint(r))
		last = r.Start
	}
}

// FuzzKineto checks that reading any file ends and keeps the types' invariants.
func FuzzKineto(f *testing.F) {
	text, _ := training(f)
	f.Add(text)
	f.Add([]byte(`[{"ph":"B","name":"a","ts":1e3,"pid":"x","tid":2}, {"ph":"E","ts":"2.5","pid":"x","tid":2},
{"ph":"X","cat":"Memcpy","name":"Memcpy HtoD","ts":-3,"dur":-9,"args":{"stream":-1}}]`))
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

// A truncated file keeps all complete events and states the truncation; so does truncated compressed data.
func TestTruncatedAnywhere(t *testing.T) {
	text := write(t, tracetest.Options{World: 1}, func(w *tracetest.Writer) {
		for i := range int64(4) {
			w.Kernel(one(50_000+i*2000, 1000))
		}
	})
	whole := len(bytes.TrimSpace(text))
	for n := range len(text) {
		f, err := trace.ReadBytes("x.json", text[:n], trace.Options{})
		want := bytes.Count(text[:n], []byte("}}"))
		if err != nil || len(f.Devices) == 0 {
			must.EqOp(t, 0, want)
			continue
		}
		must.Len(t, want, only(t, f).Activities)
		must.EqOp(t, n >= whole, f.Cut == "")
	}
	text, _ = training(t)
	z := packed(t, text)
	f, err := trace.ReadBytes("x.json.gz", z[:len(z)-2], trace.Options{})
	must.NoError(t, err)
	must.True(t, f.Cut != "")
	must.Len(t, 24, only(t, f).Activities)
}

// A file is read up to the first invalid JSON.
func TestInvalidJSON(t *testing.T) {
	f := read(t, "x.json", events(kernel("10", "5"), kernel("20", "inf"), kernel("30", "5")))
	must.Len(t, 1, only(t, f).Activities)
	must.StrContains(t, f.Cut, "1 events read")
}
