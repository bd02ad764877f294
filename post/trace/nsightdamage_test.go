package trace_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"busbar/internal/needs"
	"busbar/post/trace"
	"busbar/post/trace/tracetest"
)

// longExport has some thousand kernels, so that its tables are many pages.
func longExport(kernels int) *tracetest.Export {
	e := trainingExport(tracetest.Style{Payloads: tracetest.Blobs})
	for i := range kernels {
		at := int64(100_000 + 100*i)
		e.Called(50, 50, at, 10, 100+i, "cudaLaunchKernel_v7000")
		e.Ran(tracetest.On{PID: 50, Stream: 7}, at+20, 50, 100+i, fmt.Sprintf("gemm<%d>", i%50), 0)
		e.Annotated(50, 50, at, 90, fmt.Sprintf("iteration %d", i))
	}
	return e
}

func damagedExport(t testing.TB, content []byte) (*trace.File, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.sqlite")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	f, err := trace.Read(ctx, path, trace.Options{KeepRange: func(string) bool { return true }})
	if ctx.Err() != nil {
		t.Fatalf("reading takes more than a minute")
	}
	return f, err
}

func wholeExport(t testing.TB, kernels int) []byte {
	t.Helper()
	content, err := os.ReadFile(writeExport(t, longExport(kernels), "whole.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestTruncatedExport reads what is left of a file that breaks off.
func TestTruncatedExport(t *testing.T) {
	content := wholeExport(t, 4000)
	last := 0
	for _, part := range []int{20, 40, 60, 80, 99} {
		f, err := damagedExport(t, content[:len(content)*part/100])
		if err != nil {
			t.Fatalf("%d %%: %v", part, err)
		}
		if !strings.Contains(f.Cut, fmt.Sprintf("of %d bytes", len(content))) {
			t.Errorf("%d %%: cut %q", part, f.Cut)
		}
		n := 0
		for _, d := range f.Devices {
			n += len(d.Activities)
		}
		if n < last {
			t.Errorf("%d %%: %d activities, fewer than of a shorter file", part, n)
		}
		last = n
	}
	if last < 4000 {
		t.Errorf("of 99 %% of the file %d activities", last)
	}
}

// TestExportWithABadPage reads what lies before and after a page that is overwritten.
func TestExportWithABadPage(t *testing.T) {
	content := wholeExport(t, 4000)
	const page = 4096
	hit := 0
	for at := page; at+page <= len(content); at += len(content) / page / 12 * page {
		b := append([]byte(nil), content...)
		for i := range page {
			b[at+i] = 0xa5
		}
		f, err := damagedExport(t, b)
		if err != nil {
			continue // a page that everything hangs on
		}
		if f.Cut == "" {
			t.Errorf("page %d is overwritten, and nothing is said", at/page)
		}
		if strings.Contains(f.Cut, "CUPTI_ACTIVITY_KIND_KERNEL the first ") && len(f.Devices) == 1 {
			hit++
			if n := len(f.Devices[0].Activities); n < 3800 {
				t.Errorf("of a file with one bad page of kernels %d activities: %s", n, f.Cut)
			}
		}
	}
	if hit == 0 {
		t.Error("no page of kernels was overwritten")
	}
}

// TestMutatedExports changes bytes at random: what is read may be wrong, but it is read or refused, and every index
// points at something.
func TestMutatedExports(t *testing.T) {
	content := wholeExport(t, 60)
	random := rand.New(rand.NewPCG(7, 1))
	tries := 300
	if needs.Shortened(t) {
		tries = 50
	}
	for range tries {
		b := append([]byte(nil), content...)
		for range 1 + random.IntN(12) {
			b[16+random.IntN(len(b)-16)] = byte(random.Uint32())
		}
		if random.IntN(4) == 0 {
			b = b[:16+random.IntN(len(b)-16)]
		}
		if f, err := damagedExport(t, b); err == nil {
			consistent(t, f)
		}
	}
}

// consistent checks what a reader of File may rely on.
func consistent(t *testing.T, f *trace.File) {
	t.Helper()
	for _, d := range f.Devices {
		for i, a := range d.Activities {
			if a.End < a.Start || int(a.Name) >= len(d.Names) || a.Name < 0 || int(a.Call) >= len(d.Calls) ||
				a.Call < trace.Unknown {
				t.Fatalf("activity %+v", a)
			}
			if i > 0 && d.Activities[i-1].Start > a.Start {
				t.Fatalf("activities are out of order at %d", i)
			}
		}
		for _, c := range d.Calls {
			if int(c.Group) >= len(d.Groups) || c.Group < trace.Unknown || c.Parts < 1 || c.Bytes < trace.Unknown {
				t.Fatalf("call %+v", c)
			}
		}
		for i, r := range d.Ranges {
			if r.End < r.Start || i > 0 && d.Ranges[i-1].Start > r.Start {
				t.Fatalf("range %+v", r)
			}
		}
	}
}

// FuzzExport begins with small files: most of the time goes into what SQLite does for every page.
func FuzzExport(f *testing.F) {
	for _, s := range []tracetest.Style{{Page: 512, Payloads: tracetest.Blobs, NoEnums: true},
		{Page: 512, Old: true, NoEnums: true, NoIndex: true}} {
		content, err := os.ReadFile(writeExport(f, trainingExport(s), "small.sqlite"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if file, err := damagedExport(t, content); err == nil {
			consistent(t, file)
		}
	})
}
