// Package evidence is the model of what a hung or dead job leaves: what each rank called in each process group, and
// how far it got.
package evidence

import "strings"

// State is how far an operation got.
type State uint8

// The states. An operation that failed or timed out has no state of its own: it is retired and not completed.
const (
	Scheduled State = iota
	Started
	Completed
)

// Frame is one function of a stack.
type Frame struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
}

// Call is what was called: operation, sizes and types. Equal calls are one value.
type Call struct {
	Backend  string  // "nccl", "gloo"
	Op       string  // "all_reduce"; "send 1->2" is send with From and To
	From, To int     // group ranks of a point-to-point operation; -1 for none or unknown
	In, Out  []int64 // elements of each tensor
	Types    []string
}

// Elements is the number of elements of all input tensors, or of the output if it has no input.
func (c *Call) Elements() int64 {
	if n := sum(c.In); n > 0 {
		return n
	}
	return sum(c.Out)
}

// Sent and Received are the numbers of elements of all input and output tensors.
func (c *Call) Sent() int64 { return sum(c.In) }

// Received is the number of elements of all output tensors.
func (c *Call) Received() int64 { return sum(c.Out) }

func sum(all []int64) (n int64) {
	for _, v := range all {
		n += v
	}
	return n
}

// Type is the element type of the first tensor, in our spelling where it is known.
func (c *Call) Type() string {
	if len(c.Types) == 0 {
		return ""
	}
	t := strings.ToLower(c.Types[0])
	if name, known := typeNames[t]; known {
		return name
	}
	return t
}

// typeNames are PyTorch's names of types.
var typeNames = map[string]string{
	"float": "float32", "double": "float64", "half": "float16", "int": "int32", "long": "int64", "char": "int8",
	"byte": "uint8", "short": "int16",
}

// Canonical is the name of a collective without spelling that differs between the Flight Recorder and the watchdog.
func Canonical(op string) string {
	op = strings.ReplaceAll(strings.ToLower(op), "_", "")
	op = strings.TrimSuffix(strings.TrimSuffix(op, "barrier"), "base")
	if op == "" {
		return "barrier"
	}
	return op
}

// SameOp reports whether two calls are of one collective. Lines of the watchdog, whose calls have no backend, name a
// barrier by the collective that implements it; in dumps a barrier is another call than that collective.
func SameOp(a, b *Call) bool {
	if Canonical(a.Op) != Canonical(b.Op) {
		return false
	}
	barrier := func(c *Call) bool { return strings.HasSuffix(strings.ToLower(c.Op), "barrier") }
	return barrier(a) == barrier(b) || a.Backend == "" || b.Backend == ""
}

// Entry is one operation of one rank.
type Entry struct {
	Seq     int64 // collective_seq_id, or p2p_seq_id of a point-to-point operation
	Created int64 // ns since 1970, of the host's clock; 0 if unknown
	Call    *Call
	Stack   *Stack
	Record  int32 // running number within the process
	Timeout int32 // s
	Group   int16 // index in Dump.Groups
	State   State
	Retired bool
	P2P     bool
}

// Stack is a stack, innermost first. Equal stacks are one value.
type Stack struct{ Frames []Frame }

// Group is a process group as one rank knows it.
type Group struct {
	Name, Desc string
	Members    []int // global ranks; nil if unknown
	Enqueued   int64 // last collective by pg_status; -1 if unknown
	Finished   int64
}

// Dump is what the Flight Recorder of one rank wrote.
type Dump struct {
	File    string
	Rank    int // -1 if the file name has none
	JSON    bool
	Groups  []Group
	Entries []Entry // oldest first
	Lost    bool    // the ring was overwritten: the first entries are missing
	Events  bool    // the backend reports states, as NCCL does and Gloo does not
}

// First is when the first entry was created, and Last when the last one was; 0 without entries.
func (d *Dump) First() int64 {
	if len(d.Entries) == 0 {
		return 0
	}
	return d.Entries[0].Created
}

// Last is when the last entry was created.
func (d *Dump) Last() int64 {
	if len(d.Entries) == 0 {
		return 0
	}
	return d.Entries[len(d.Entries)-1].Created
}

// Ended reports whether an entry ended well as far as the dump shows. Gloo retires failed operations, too.
func (d *Dump) Ended(e *Entry) bool { return e.State == Completed || !d.Events && e.Retired }
