package trace_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/post/trace"
	"busbar/post/trace/tracetest"
)

// write is a trace as text.
func write(t testing.TB, o tracetest.Options, events func(w *tracetest.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tracetest.NewWriter(&b, o)
	events(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read reads text as a file of that name.
func read(t testing.TB, name string, text []byte) *trace.File {
	t.Helper()
	f, err := readAs(t, name, text, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func readAs(t testing.TB, name string, text []byte, o trace.Options) (*trace.File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	return trace.Read(context.Background(), path, o)
}

// only is the one device of a file.
func only(t testing.TB, f *trace.File) *trace.Device {
	t.Helper()
	if len(f.Devices) != 1 {
		t.Fatalf("%d devices", len(f.Devices))
	}
	return f.Devices[0]
}

func packed(t testing.TB, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// training is what most tests read, with what it holds.
func training(t testing.TB, change func(*tracetest.Training)) ([]byte, tracetest.Answers) {
	t.Helper()
	s := tracetest.Training{Options: tracetest.Options{Rank: 1, World: 4, NCCL: "2.27.5"}, Steps: 3, Layers: 4,
		Layer: 2_000_000, Comm: 1_500_000, Elements: 1 << 20, Late: 300_000, LateRank: 0}
	if change != nil {
		change(&s)
	}
	var b bytes.Buffer
	a, err := s.Write(&b)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), a
}

// sums are the times of a device by its names.
func sums(d *trace.Device) (compute, comm, span int64) {
	for _, a := range d.Activities {
		if took := a.End - a.Start; strings.HasPrefix(d.Names[a.Name], "nccl") {
			comm += took
		} else {
			compute += took
		}
		span = max(span, a.End)
	}
	return compute, comm, span
}

func TestTraining(t *testing.T) {
	text, want := training(t, nil)
	d := only(t, read(t, "x.json", text))
	compute, comm, span := sums(d)
	if compute != want.Compute || comm != want.Comm || span != want.Span {
		t.Errorf("%d compute, %d comm, %d span; want %+v", compute, comm, span, want)
	}
	if d.Rank != 1 || d.RankFrom != "distributedInfo" || d.World != 4 || d.NCCL != "2.27.5" || d.GPU != "Test GPU" ||
		d.Process != tracetest.Process {
		t.Errorf("the device is %+v", d)
	}
	if len(d.Calls) != 12 || len(d.Groups) != 1 || len(d.Ranges) != 3 || d.Ranges[2].Name != "ProfilerStep#5" {
		t.Fatalf("%d calls, %d groups, ranges %v", len(d.Calls), len(d.Groups), d.Ranges)
	}
	if g := d.Groups[0]; g.Name != "0" || g.About != "default_pg" || g.Size != 4 || len(g.Ranks) != 4 || g.Rank != 1 {
		t.Errorf("the group is %+v", g)
	}
	c := d.Calls[5]
	if c.What != coll.AllReduce || c.Bytes != 4<<20 || c.Type != "float32" || c.Seq != 6 || c.Parts != 1 || c.Group != 0 {
		t.Errorf("a call is %+v", c)
	}
	for _, a := range d.Activities {
		if strings.HasPrefix(d.Names[a.Name], "nccl") != (a.Call != trace.Unknown) || a.Launch == trace.NoTime ||
			a.Launch >= a.Start {
			t.Fatalf("an activity is %+v", a)
		}
	}
}

func TestPackedIsFoundByContent(t *testing.T) {
	text := write(t, tracetest.Options{}, func(w *tracetest.Writer) {
		w.Kernel(tracetest.Kernel{Name: "k", Stream: 7, Start: 5000, Took: 1000})
	})
	for name, content := range map[string][]byte{"plain.json.gz": text, "packed.json": packed(t, text),
		"twice": packed(t, packed(t, text))} {
		if d := only(t, read(t, name, content)); len(d.Activities) != 1 {
			t.Errorf("%s: %d activities", name, len(d.Activities))
		}
	}
}
