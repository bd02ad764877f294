package trace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"busbar/internal/needs"
	"busbar/internal/notice"
	"busbar/post/trace"
)

// publicExport is a recording of two processes with a GPU each.
const publicExport = "../../../shared/examples/traces/nsys/mfu_2gpu_before.sqlite"

func TestPublicExport(t *testing.T) {
	needs.Examples(t, publicExport)
	f, err := trace.Read(t.Context(), publicExport, trace.Options{KeepRange: func(name string) bool {
		return name == "AllToAll4D"
	}})
	if err != nil {
		t.Fatal(err)
	}
	if f.Tool != "Nsight Systems 2026.2.1" || f.Cut != "" || len(f.Devices) != 2 {
		t.Fatalf("tool %q, cut %q, %d devices", f.Tool, f.Cut, len(f.Devices))
	}
	if len(f.Notes) != 1 ||
		f.Notes[0] != (notice.PayloadsMissing{Command: trace.ExportCommand("mfu_h1002_nsys.nsys-rep")}) {
		t.Errorf("notes %v", f.Notes)
	}
	for i, want := range []struct {
		process         int64
		stream          int32
		kernels, copies int
		compute, comm   string // milliseconds
	}{{144, 7, 1993, 510, "253.691", "17.173"}, {145, 15, 2017, 510, "256.096", "8.229"}} {
		d := f.Devices[i]
		if d.Process != want.process || d.ID != i || d.Rank != trace.Unknown || d.Host != "modal" {
			t.Errorf("device %d of process %d on %s, rank %d", d.ID, d.Process, d.Host, d.Rank)
		}
		if d.Origin != 1779782330176752435-28254349605 {
			t.Errorf("device %d: time 0 is %d", i, d.Origin)
		}
		var compute, comm []trace.Span
		kernels, copies, called := 0, 0, 0
		for _, a := range d.Activities {
			if a.Kind.Memcpy() {
				copies++
			}
			if a.Kind != trace.Kernel {
				continue
			}
			kernels++
			if a.Stream != want.stream {
				t.Errorf("a kernel on stream %d", a.Stream)
			}
			if strings.Contains(d.Names[a.Name], "nccl") {
				comm = append(comm, trace.Span{Start: a.Start, End: a.End})
				if a.Call != trace.Unknown {
					called++
				}
			} else {
				compute = append(compute, trace.Span{Start: a.Start, End: a.End})
			}
		}
		if kernels != want.kernels || copies != want.copies {
			t.Errorf("device %d: %d kernels, %d copies", i, kernels, copies)
		}
		if got := covered(compute); got != want.compute {
			t.Errorf("device %d: computes for %s ms, want %s", i, got, want.compute)
		}
		if got := covered(comm); got != want.comm {
			t.Errorf("device %d: communicates for %s ms, want %s", i, got, want.comm)
		}
		// The first of 33 was launched before the part of the recording that this file is.
		if called != 32 || len(d.Calls) != 32 {
			t.Errorf("device %d: %d kernels of %d calls", i, called, len(d.Calls))
		}
		if c := d.Calls[0]; c.Name != "ncclSend+ncclRecv" || c.Parts != 4 || c.Bytes != trace.Unknown {
			t.Errorf("device %d: a call %+v", i, c)
		}
		if len(d.Ranges) == 0 {
			t.Errorf("device %d has no ranges", i)
		}
	}
	beside, err := os.ReadDir(filepath.Dir(publicExport))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range beside {
		if name := e.Name(); strings.HasSuffix(name, "-wal") || strings.HasSuffix(name, "-shm") ||
			strings.HasSuffix(name, "-journal") {
			t.Errorf("reading made %s", name)
		}
	}
}

// covered is the time that spans cover together, in milliseconds.
func covered(spans []trace.Span) string {
	slices.SortFunc(spans, func(a, b trace.Span) int { return int(a.Start - b.Start) })
	sum, end := int64(0), int64(0)
	for _, s := range spans {
		if s.End > end {
			sum += s.End - max(s.Start, end)
			end = s.End
		}
	}
	return fmt.Sprintf("%.3f", float64(sum)/1e6)
}
