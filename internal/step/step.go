// Package step has the vocabulary and the arithmetic of the training-step benchmark: models, buckets of gradients, the
// order of computation and communication in a step, and the metrics of its four modes.
//
// It measures nothing and knows no library: rank runs steps and post shows them, both from this package.
package step

import (
	"busbar/internal/coll"
)

// Strategy is how the ranks share the work of training.
type Strategy string

// The strategies.
const (
	DDP Strategy = "ddp" // every rank has the whole model: gradients are reduced, bucket by bucket
	// every rank has a share of each unit: parameters are gathered, gradients reduced and scattered
	FSDP Strategy = "fsdp"
)

// Cap is the size at which a bucket is full, in bytes of gradients as they are communicated.
type Cap int64

// The caps that are words.
const (
	PerLayer Cap = 0         // each layer is a bucket of its own
	All      Cap = 1<<63 - 1 // one bucket holds everything
)

// Progress is how communication advances on a host while the rank computes. It is empty on a GPU, where a stream
// advances it.
type Progress string

// The ways.
const (
	// started by a non-blocking call, and waited for at the end: no call of the library in between
	NoCalls Progress = "none"
	Poll    Progress = "poll"   // started by a non-blocking call, and tested now and then while computing
	Thread  Progress = "thread" // blocking calls in a second thread
)

// Point is one thing to measure: a model's step under one choice of everything that can be chosen.
type Point struct {
	Strategy Strategy `json:"strategy"`
	Bucket   Cap      `json:"bucket"`
	// of gradients (and with FSDP of parameters) as they are communicated
	Type        coll.DataType `json:"type"`
	Compression string        `json:"compression,omitempty"` // modelled, in files of older versions: "8x"
	Progress    Progress      `json:"progress,omitempty"`
}

// Group is the point without its bucket: points of one group differ by their bucket alone, and are measured in turn.
func (p Point) Group() Point {
	p.Bucket = 0
	return p
}

// Layer is one parameter tensor (or more that become ready together) of a model.
type Layer struct {
	Name     string
	Params   int64   // elements
	Forward  float64 // s of computing
	Backward float64 // s
}

// Model is what a step computes and communicates, in the order of the forward pass.
type Model struct {
	Name      string
	Layers    []Layer
	Optimizer float64 // s of computing behind all communication
	About     string  // a line on where its numbers come from
}

// Work is what a segment computes.
type Work string

// The kinds of work.
const (
	Forward   Work = "forward"
	Backward  Work = "backward"
	Optimizer Work = "optimizer"
)

// Segment is computing without a dependency on communication inside it.
type Segment struct {
	Name   string
	Work   Work
	Pieces []float64 // s, one for each layer in it: a GPU runs each as kernels of its own
}

// Seconds is what the segment is to take.
func (s Segment) Seconds() float64 { return sum(s.Pieces) }

// Op is one operation of communication.
type Op struct {
	Name       string // "bucket 3", "gather layer4.2.conv3"
	Collective coll.Collective
	Count      int64 // elements as in coll.Case: of the tensor, or of one rank's share where there are shares
	At         int64 // where its memory begins, in bytes from the beginning of the rank's; in place
	Layers     int   // whose gradients or parameters it carries
	After      int   // as in program.Link
	Before     int
}

// Plan is a point of a model in a world, ready to be bound to a library.
type Plan struct {
	Model    string
	Point    Point
	World    int
	Segments []Segment
	Ops      []Op
	Bytes    int64 // of memory that a rank needs for all operations
}

// Case is an operation as a collective: in place, a sum, in throughput mode.
func (p *Plan) Case(op int) (coll.Case, error) {
	o := p.Ops[op]
	c := coll.Case{
		Collective: o.Collective,
		Type:       p.Point.Type,
		Root:       -1,
		Placement:  coll.InPlace,
		Mode:       coll.Throughput,
		World:      p.World,
	}
	if o.Collective.Reduces() {
		c.Op = coll.Sum
	}
	return c.WithElements(o.Count)
}

// Round is one round of the four modes of a point. The first four are in seconds from when the ranks were brought
// together to the end, of the rank that took longest; the others come from the spans inside the step and are the mean
// of all ranks.
type Round struct {
	Compute    float64 `json:"compute_s"`
	Comm       float64 `json:"comm_s"`
	Sequential float64 `json:"sequential_s"`
	Overlapped float64 `json:"overlapped_s"`

	ComputeAlone float64 `json:"compute_alone_s"` // inside segments, in compute mode
	ComputeBusy  float64 `json:"compute_busy_s"`  // inside segments, in overlapped mode
	// at least one operation on its way, in comm mode; 0 like the next two in a world of one
	CommAlone float64 `json:"comm_alone_s"`
	CommBusy  float64 `json:"comm_busy_s"` // the same in overlapped mode
	Hidden    float64 `json:"hidden_s"`    // of CommBusy, while a segment ran: the overlap by intervals
}
