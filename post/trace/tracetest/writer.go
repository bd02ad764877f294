// Package tracetest writes Kineto traces with known answers, for tests and for measuring how fast they are read.
// Times are nanoseconds; they are written as microseconds with three decimals, as torch.profiler does.
package tracetest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Options are how a trace is written. The zero value is a trace of today of a job without ranks.
type Options struct {
	Rank, World  int    // of distributedInfo, which is left out where World is 0
	NCCL         string // version
	Base         int64  // baseTimeNanoseconds; 0: none
	Epoch        bool   // times count from 1970 and have no decimals, as before 2024
	OldNames     bool   // categories of the first versions: Kernel, Memcpy, Runtime, Operator
	MetadataLast bool   // what is not events stands after them
	Bare         bool   // an array of events, and no metadata
	ByteOrder    bool   // begins with a mark of the byte order
	Groups       []Group
	Devices      int // in deviceProperties; 0: one
}

// Group is a process group.
type Group struct {
	Name, About string
	Ranks       []int
}

// Process is the pid of what is written.
const Process = 4711

// Thread is the thread that launches.
const Thread = 4711

// epoch is the moment that times of traces with Epoch count from.
const epoch = 1700000000_000000000

// Writer writes one trace.
type Writer struct {
	w           *bufio.Writer
	o           Options
	events      int
	correlation int64
	external    int64
	written     counter
}

// counter counts bytes.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// NewWriter begins a trace.
func NewWriter(w io.Writer, o Options) *Writer {
	t := &Writer{o: o, written: counter{w: w}, correlation: 1000, external: 500}
	t.w = bufio.NewWriterSize(&t.written, 1<<16)
	if o.ByteOrder {
		t.print("\xef\xbb\xbf")
	}
	switch {
	case o.Bare:
		t.print("[\n")
	case o.MetadataLast:
		t.print("{\n  \"traceEvents\": [\n")
	default:
		t.print("{\n" + t.metadata() + "  \"traceEvents\": [\n")
	}
	return t
}

// Written is how many bytes were written so far.
func (t *Writer) Written() int64 { return t.written.n + int64(t.w.Buffered()) }

// Close ends the trace. The error is that of any write.
func (t *Writer) Close() error {
	switch {
	case t.o.Bare:
		t.print("\n]\n")
	case t.o.MetadataLast:
		t.print("\n  ],\n" + strings.TrimSuffix(t.metadata(), ",\n") + "\n}\n")
	default:
		t.print("\n  ],\n  \"traceName\": \"trace.json\"\n}\n")
	}
	return t.w.Flush()
}

// print writes; the first error stays with the buffer, and Close gives it.
func (t *Writer) print(s string) { _, _ = t.w.WriteString(s) }

func (t *Writer) metadata() string {
	var b strings.Builder
	b.WriteString("  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n")
	for i := range max(1, t.o.Devices) {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, "    {\n      \"id\": %d, \"name\": \"Test GPU\", \"numSms\": 100\n    }", i)
	}
	b.WriteString("\n  ],\n")
	if t.o.World > 0 {
		fmt.Fprintf(
			&b,
			"  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": %d, \"world_size\": %d, \"pg_config\": [",
			t.o.Rank,
			t.o.World,
		)
		for i, g := range t.o.Groups {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, `{"pg_name": %q, "pg_desc": %q, "pg_size": %d, "ranks": %s}`, g.Name, g.About, len(g.Ranks),
				list(g.Ranks))
		}
		fmt.Fprintf(&b, "], \"nccl_version\": %q},\n", t.o.NCCL)
	}
	if t.o.Base != 0 {
		fmt.Fprintf(&b, "  \"baseTimeNanoseconds\": %d,\n", t.o.Base)
	}
	return b.String()
}

// list is a list as torch writes it, with its end left out where it has more than thirty.
func list(ranks []int) string {
	words := make([]string, 0, len(ranks))
	for i, r := range ranks {
		if len(ranks) > 30 && i == 29 {
			words = append(words, "...")
			break
		}
		words = append(words, strconv.Itoa(r))
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// Raw writes an event as it is given.
func (t *Writer) Raw(json string) {
	if t.events > 0 {
		t.print(",\n")
	}
	t.events++
	t.print("  " + json)
}

// oldNames are the categories of the first versions.
var oldNames = map[string]string{"kernel": "Kernel", "gpu_memcpy": "Memcpy", "gpu_memset": "Memset",
	"cuda_runtime": "Runtime", "cpu_op": "Operator", "user_annotation": "Operator"}

// complete writes an X event.
func (t *Writer) complete(category, name string, pid, tid any, start, took int64, args string) {
	if old, ok := oldNames[category]; ok && t.o.OldNames {
		category = old
	}
	if args != "" {
		args = ",\n    \"args\": {\n      " + args + "\n    }"
	}
	t.Raw(fmt.Sprintf("{\n    \"ph\": \"X\", \"cat\": %q, \"name\": %q, \"pid\": %v, \"tid\": %v,\n    \"ts\": %s, "+
		"\"dur\": %s%s\n  }",
		category, name, pid, tid, t.time(start), t.duration(took), args))
}

// time is a moment in microseconds.
func (t *Writer) time(ns int64) string {
	if t.o.Epoch {
		return strconv.FormatInt((epoch+ns)/1000, 10)
	}
	return t.duration(ns)
}

func (t *Writer) duration(ns int64) string {
	switch {
	case t.o.Epoch:
		return strconv.FormatInt(ns/1000, 10)
	case ns < 0:
		return "-" + t.duration(-ns)
	}
	return fmt.Sprintf("%d.%03d", ns/1000, ns%1000)
}
