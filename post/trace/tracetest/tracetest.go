// Package tracetest writes Kineto traces with known results, for tests of the reader. Times are
// nanoseconds, written as microseconds with three decimals, as torch.profiler does.
package tracetest

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Options are the trace's metadata.
type Options struct {
	Rank, World int    // of distributedInfo, omitted if World is 0
	NCCL        string // version
	Base        int64  // baseTimeNanoseconds; 0: none
	Groups      []Group
}

// Group is a process group.
type Group struct {
	Name, About string
	Ranks       []int
}

// Process is the pid of all events, and the number of its thread.
const Process = 4711

// AllReduce is the kernel of an all-reduce.
const AllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"

// Writer writes one trace.
type Writer struct {
	w                     *bufio.Writer
	correlation, external int64
}

// NewWriter begins a trace.
func NewWriter(w io.Writer, o Options) *Writer {
	t := &Writer{w: bufio.NewWriterSize(w, 1<<16), correlation: 1000, external: 500}
	t.print(`{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Test GPU"}, {"id": 5, "name": "Test GPU"}]`)
	if o.World > 0 {
		var groups []string
		for _, g := range o.Groups {
			groups = append(groups, fmt.Sprintf(`{"pg_name": %q, "pg_desc": %q, "pg_size": %d, "ranks": %s}`, g.Name,
				g.About, len(g.Ranks), list(g.Ranks)))
		}
		t.print(`, "distributedInfo": {"rank": %d, "world_size": %d, "pg_config": [%s], "nccl_version": %q}`, o.Rank,
			o.World, strings.Join(groups, ", "), o.NCCL)
	}
	if o.Base != 0 {
		t.print(`, "baseTimeNanoseconds": %d`, o.Base)
	}
	t.print(`, "traceEvents": [` + "\n" + `{"ph": "M", "name": "process_name"}`)
	return t
}

// Close ends the trace. It returns the first error of any write.
func (t *Writer) Close() error {
	t.print("\n]}\n")
	return t.w.Flush()
}

// print writes; the buffer keeps the first error, which Close returns.
func (t *Writer) print(format string, of ...any) { _, _ = fmt.Fprintf(t.w, format, of...) }

// list formats a list as torch does, truncated after thirty elements.
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

// Raw writes an event unchanged.
func (t *Writer) Raw(json string) { t.print(",\n%s", json) }

// complete writes an X event.
func (t *Writer) complete(category, name string, pid, tid int, start, took int64, args string, of ...any) {
	t.print(",\n"+`{"ph": "X", "cat": %q, "name": %q, "pid": %d, "tid": %d, "ts": %s, "dur": %s, "args": {%s}}`,
		category, name, pid, tid, microseconds(start), microseconds(took), fmt.Sprintf(args, of...))
}

func microseconds(ns int64) string {
	if ns < 0 {
		return "-" + microseconds(-ns)
	}
	return fmt.Sprintf("%d.%03d", ns/1000, ns%1000)
}

// Kernel is a kernel or, with a Copy, a copy or a memset.
type Kernel struct {
	Name        string
	Device      int
	Stream      int
	Start, Took int64
	Launch      int64  // start of its host call, which is omitted if 0
	Copy        string // category: gpu_memcpy, gpu_memset; "": a kernel
	Bytes       int64  // of a copy
	Node        int64  // of a CUDA graph
	Correlation int64  // 0: the next
	Collective  *Collective
}

// Collective describes the collective of a kernel.
type Collective struct {
	Name     string // torch.distributed's name: allreduce, _allgather_base
	Type     string // Float, BFloat16
	In, Out  int64  // elements
	Group    Group
	Peer     int    // world rank, of a send or recv
	Seq      int64  // 0: none
	Splits   string // "[]"
	Received string // splits of the output; "": as Splits
	Where    Where
	External int64 // id of its operator; 0: the next
}

// Where is which events of a trace describe the collective.
type Where int

// The events.
const (
	OnBoth     Where = iota // the operator and the kernel
	OnKernel                // the kernel; there is no operator
	OnOperator              // the operator, whose id the kernel has
	ByNesting               // the operator around the launching call; the kernel has the call's correlation
)

// Kernel writes a kernel or a copy, its launching call, and a collective's operator.
func (t *Writer) Kernel(k Kernel) {
	t.correlation++
	k.Correlation = cmp.Or(k.Correlation, t.correlation)
	external, args := k.Correlation, ""
	if c := k.Collective; c != nil {
		t.external++
		id := cmp.Or(c.External, t.external)
		if c.Where != OnKernel {
			t.complete("cpu_op", "record_param_comms", Process, Process, k.Launch-20_000, 60_000,
				`"External id": %d, "Global rank start": 0, "Global rank stride": 1%s`, id, c.arguments())
		}
		if c.Where <= OnOperator {
			external = id
		}
		if c.Where <= OnKernel {
			args = c.arguments()
		}
	}
	if k.Launch != 0 {
		t.Call("cudaLaunchKernel", k.Launch, 5000, k.Correlation, external)
		t.Raw(fmt.Sprintf(`{"ph": "s", "id": %d, "pid": %d, "tid": %[2]d, "ts": %s, "cat": "ac2g", "name": "ac2g"}`,
			k.Correlation, Process, microseconds(k.Launch)))
	}
	if k.Node != 0 {
		args += fmt.Sprintf(`, "graph id": 3, "graph node id": %d`, k.Node)
	}
	t.complete(cmp.Or(k.Copy, "kernel"), k.Name, k.Device, k.Stream, k.Start, k.Took, `"External id": %d, "device": %d,
"stream": %d, "correlation": %d, "bytes": %d, "grid": [16, 1, 1], "block": [640, 1, 1], "warps per SM": 2.962963%s`,
		external, k.Device, k.Stream, k.Correlation, k.Bytes, args)
}

func (c *Collective) arguments() string {
	args := fmt.Sprintf(`, "Collective name": %q, "In msg nelems": %d, "Out msg nelems": %d, "Group size": %d,
"dtype": %q, "In split size": %q, "Out split size": %q, "Process Group Name": %q, "Process Group Description": %q,
"Process Group Ranks": %q`, c.Name, c.In, c.Out, len(c.Group.Ranks), c.Type, cmp.Or(c.Splits, "[]"),
		cmp.Or(c.Received, c.Splits, "[]"), c.Group.Name, c.Group.About, list(c.Group.Ranks))
	switch c.Name {
	case "send":
		args += fmt.Sprintf(`, "Dst Rank": %d`, c.Peer)
	case "recv":
		args += fmt.Sprintf(`, "Src Rank": %d`, c.Peer)
	}
	if c.Seq != 0 {
		args += fmt.Sprintf(`, "Seq": %d`, c.Seq)
	}
	return args
}

// Call writes a call of the host.
func (t *Writer) Call(name string, start, took, correlation, external int64) {
	t.complete("cuda_runtime", name, Process, Process, start, took, `"External id": %d, "cbid": 211, "correlation": %d`,
		external, correlation)
}

// Range writes a range of the host.
func (t *Writer) Range(name string, start, took int64) {
	t.complete("user_annotation", name, Process, Process, start, took, `"External id": 3, "Ev Idx": 2`)
}
