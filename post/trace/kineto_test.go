package trace_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// callsOf are the calls of a device's activities, a line each: index, name, collective, bytes, type, group, sequence
// number, peer and parts; - where there is none.
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

// wantText compares facts that are written as text.
func wantText(t testing.TB, got any, want string) {
	t.Helper()
	if got := strings.TrimSpace(fmt.Sprint(got)); got != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
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
	wantText(t, fmt.Sprintf("%d %s %d %s %s %d %+v", d.Rank, d.RankFrom, d.World, d.NCCL, d.GPU, d.Process, d.Groups),
		"1 distributedInfo 4 2.27.5 Test GPU 4711 [{Name:0 About:default_pg Ranks:[0 1 2 3] Size:4 Rank:1}]")
	if len(d.Calls) != 12 || len(d.Ranges) != 3 || d.Ranges[2].Name != "ProfilerStep#5" {
		t.Fatalf("%d calls, ranges %v", len(d.Calls), d.Ranges)
	}
	wantText(t, d.Calls[5], "{allreduce all_reduce 4194304 float32 0 6 -1 1}")
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
