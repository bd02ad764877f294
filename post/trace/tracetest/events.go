package tracetest

import (
	"fmt"
	"strings"
)

// Kernel is a kernel, or with a Copy a copy or a memset.
type Kernel struct {
	Name        string
	Device      int
	Stream      int
	Start, Took int64
	Launch      int64  // when its call of the host began; the call is left out where it is 0
	Call        string // that launched it; "": cudaLaunchKernel
	Copy        string // category: gpu_memcpy, gpu_memset; "": a kernel
	Bytes       int64  // of a copy
	Node        int64  // of a CUDA graph
	Correlation int64  // 0: the next
	Collective  *Collective
}

// Collective is what a kernel of communication is of.
type Collective struct {
	Name     string // as torch.distributed spells it: allreduce, _allgather_base
	Type     string // Float, BFloat16
	In, Out  int64  // elements
	Group    Group
	Rank     int    // that its operator names: of this process, of the peer, of the root
	Peer     int    // of the world, of a send or recv
	Seq      int64  // 0: none
	Splits   string // "[]"
	Where    Where
	External int64 // id of its operator; 0: the next
}

// Where is where a trace tells what a collective is.
type Where int

// The places.
const (
	OnBoth     Where = iota // on the operator and on the kernel
	OnKernel                // on the kernel, and there is no operator
	OnOperator              // on the operator, which the kernel names by its id
	// on the operator, around the call that launches; the kernel has its correlation in the place of the id
	ByNesting
	ByShape // in the name and the shape of a range around that call; the operator says nothing
)

// Kernel writes a kernel or a copy, the call that launched it, and of a collective its operator.
func (t *Writer) Kernel(k Kernel) {
	t.correlation++
	if k.Correlation == 0 {
		k.Correlation = t.correlation
	}
	external, args := k.Correlation, ""
	if c := k.Collective; c != nil {
		t.external++
		if c.External == 0 {
			copied := *c
			c, copied.External = &copied, t.external
		}
		if c.Where != OnKernel {
			t.operator(c, k.Launch)
		}
		if c.Where <= OnOperator {
			external = c.External
		}
		if c.Where <= OnKernel {
			args = ", " + c.arguments()
		}
	}
	if k.Launch != 0 {
		t.Call(word(k.Call, "cudaLaunchKernel"), k.Launch, 5000, k.Correlation, external)
		t.flow("s", Process, Thread, k.Launch, k.Correlation)
		t.flow("f", k.Device, k.Stream, k.Start, k.Correlation)
	}
	t.activity(k, external, args)
}

// activity writes what ran on the device.
func (t *Writer) activity(k Kernel, external int64, more string) {
	head := fmt.Sprintf(`"External id": %d, "device": %d, "context": 1,
      "stream": %d, "correlation": %d`, external, k.Device, k.Stream, k.Correlation)
	if k.Copy != "" {
		t.complete(k.Copy, k.Name, k.Device, k.Stream, k.Start, k.Took, head+fmt.Sprintf(`,
      "bytes": %d, "memory bandwidth (GB/s)": 12.5`, k.Bytes))
		return
	}
	if k.Node != 0 {
		more = fmt.Sprintf(`, "graph id": 3, "graph node id": %d`, k.Node) + more
	}
	t.complete("kernel", k.Name, k.Device, k.Stream, k.Start, k.Took, `"queued": 0, `+head+`,
      "registers per thread": 96, "shared memory": 41744, "blocks per SM": 0.14814815, "warps per SM": 2.962963,
      "grid": [16, 1, 1], "block": [640, 1, 1], "est. achieved occupancy %": 5`+more)
}

// operator writes the operator of a collective around the call that launches it.
func (t *Writer) operator(c *Collective, launch int64) {
	const before, took = 20_000, 60_000
	if c.Where != ByShape {
		t.complete("cpu_op", "record_param_comms", Process, Thread, launch-before, took,
			fmt.Sprintf(`"External id": %d, "Ev Idx": 7, "Rank": %d,
      "Global rank start": 0, "Global rank stride": 1, %s`, c.External, c.Rank, c.arguments()))
		return
	}
	t.complete("cpu_op", "record_param_comms", Process, Thread, launch-before, took,
		fmt.Sprintf(`"External id": %d, "Input Dims": [[], []], "Input type": ["TensorList", "Scalar"]`, c.External))
	t.complete("user_annotation", "nccl:"+c.Name, Process, Thread, launch-before/2, took/2,
		fmt.Sprintf(`"External id": %d, "Input Dims": [[%d]], "Input type": [%q]`, c.External+1, c.In, c.Type))
}

func (c *Collective) arguments() string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		`"Collective name": %q, "In msg nelems": %d, "Out msg nelems": %d, "Group size": %d, "dtype": %q,
"In split size": %q, "Out split size": %q,
      "Process Group Name": %q, "Process Group Description": %q, "Process Group Ranks": %q`,
		c.Name,
		c.In,
		c.Out,
		len(c.Group.Ranks),
		c.Type,
		word(c.Splits, "[]"),
		word(c.Splits, "[]"),
		c.Group.Name,
		c.Group.About,
		list(c.Group.Ranks),
	)
	switch c.Name {
	case "send":
		fmt.Fprintf(&b, `, "Dst Rank": %d`, c.Peer)
	case "recv":
		fmt.Fprintf(&b, `, "Src Rank": %d`, c.Peer)
	}
	if c.Seq != 0 {
		fmt.Fprintf(&b, `, "Seq": %d`, c.Seq)
	}
	return b.String()
}

func word(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}

// Call writes a call of the host.
func (t *Writer) Call(name string, start, took, correlation, external int64) {
	t.complete("cuda_runtime", name, Process, Thread, start, took,
		fmt.Sprintf(`"External id": %d, "cbid": 211, "correlation": %d`, external, correlation))
}

// flow writes one end of the arrow between a call and what it launched.
func (t *Writer) flow(phase string, pid, tid int, at, id int64) {
	t.Raw(fmt.Sprintf(`{
    "ph": %q, "id": %d, "pid": %d, "tid": %d, "ts": %s,
    "cat": "ac2g", "name": "ac2g", "bp": "e"
  }`, phase, id, pid, tid, t.time(at)))
}

// Range writes a range of the host.
func (t *Writer) Range(name string, start, took int64) {
	t.complete("user_annotation", name, Process, Thread, start, took, `"External id": 3, "Ev Idx": 2`)
}

// DeviceRange writes the GPU's copy of a range, which is no activity.
func (t *Writer) DeviceRange(name string, stream int, start, took int64) {
	t.complete("gpu_user_annotation", name, 0, stream, start, took, `"External id": 3`)
}

// Operator writes an operator of torch.
func (t *Writer) Operator(name string, start, took int64) {
	t.complete(
		"cpu_op",
		name,
		Process,
		Thread,
		start,
		took,
		`"External id": 42, "Ev Idx": 27173, "Input Dims": [[2048, 1024], [], [1024]],
"Input type": ["float", "Scalar", "float"], "Fwd thread id": 0, "Sequence number": 1096588`,
	)
}

// Function writes a call of a Python function.
func (t *Writer) Function(name string, start, took int64) {
	t.complete("python_function", name, Process, Thread, start, took,
		`"Python id": 11, "Python parent id": 10, "Ev Idx": 5`)
}
