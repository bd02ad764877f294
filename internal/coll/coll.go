// Package coll holds the words of the field: collectives, data types, reduction operations, placements, modes,
// message sizes, and the case that is made of them, with the formulas of algbw and busbw.
//
// It knows no library and measures nothing. Bytes and seconds inside; other units are made at the edge.
package coll

import "strings"

// Collective is one collective operation.
type Collective uint8

// The collectives, in the order in which they are listed to a user.
const (
	AllReduce Collective = iota + 1
	AllGather
	ReduceScatter
	Broadcast
	Reduce
	AllToAll
	Gather
	Scatter
	SendRecv  // ring: every rank sends to rank+1 and receives from rank-1
	AllToAllV // every rank sends parts of different sizes to all, see Imbalance
)

// Other is an unknown operation, or one outside this list. Nothing here measures it; files of other tools have such
// operations.
const Other Collective = 255

const otherName = "other"

var collectives = vocabulary[Collective]{
	kind: "collective",
	names: []string{"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "alltoall", "gather",
		"scatter", "sendrecv", "alltoallv"},
	aliases: map[string]string{
		"allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter", "bcast": "broadcast",
		"all_to_all": "alltoall", "all-to-all": "alltoall", "all-reduce": "all_reduce", "all-gather": "all_gather",
		"reduce-scatter": "reduce_scatter", "send_recv": "sendrecv", "all_to_allv": "alltoallv",
		"all_to_all_v": "alltoallv",
	},
}

// titles are the names in the text view (the collective profiler's spelling).
var titles = []string{"AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Reduce", "AllToAll", "Gather", "Scatter",
	"SendRecv", "AllToAllV"}

// Collectives lists all collectives that can be measured.
func Collectives() []Collective { return collectives.all() }

// ParseCollective reads a collective by its name or by a common other spelling; the error is an *UnknownWordError.
func ParseCollective(s string) (Collective, error) {
	return collectives.parse(s)
}

func (c Collective) String() string {
	if c == Other {
		return otherName
	}
	return collectives.name(c)
}

// Title is the spelling of the text view: AllReduce, ReduceScatter, …
func (c Collective) Title() string {
	if c < 1 || int(c) > len(titles) {
		return c.String()
	}
	return titles[c-1]
}

// MarshalText implements encoding.TextMarshaler.
func (c Collective) MarshalText() ([]byte, error) {
	if c == Other {
		return []byte(otherName), nil
	}
	return collectives.marshal(c)
}

// UnmarshalText implements encoding.TextUnmarshaler; it knows Other too, which ParseCollective does not.
func (c *Collective) UnmarshalText(b []byte) (err error) {
	if string(b) == otherName {
		*c = Other
		return nil
	}
	*c, err = ParseCollective(string(b))
	return err
}

// Reduces reports whether the collective combines data, so that it needs an operation.
func (c Collective) Reduces() bool { return c == AllReduce || c == ReduceScatter || c == Reduce }

// Rooted reports whether one rank, the root, has a role of its own.
func (c Collective) Rooted() bool {
	return c == Broadcast || c == Reduce || c == Gather || c == Scatter
}

// Shared reports whether the data consists of one share per rank, so that the size is a multiple of the world size.
func (c Collective) Shared() bool {
	switch c {
	case AllGather, ReduceScatter, AllToAll, Gather, Scatter:
		return true
	}
	return false
}

// DataType is the type of one element.
type DataType uint8

// The data types.
const (
	Int8 DataType = iota + 1
	UInt8
	Int32
	UInt32
	Int64
	UInt64
	Float16
	BFloat16
	Float32
	Float64
	Float8E4M3 // 4 bits of exponent, no infinity; largest value 448
	Float8E5M2 // 5 bits of exponent, infinity as in IEEE 754
)

var dataTypes = vocabulary[DataType]{
	kind: "data type",
	names: []string{"int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32", "float64",
		"float8e4m3", "float8e5m2"},
	aliases: map[string]string{
		"char": "int8", "int": "int32", "half": "float16", "fp16": "float16", "bf16": "bfloat16", "float": "float32",
		"fp32": "float32", "double": "float64", "fp64": "float64",
		"f8e4m3": "float8e4m3", "f8e5m2": "float8e5m2",
	},
}

var typeSizes = []int{1, 1, 4, 4, 8, 8, 2, 2, 4, 8, 1, 1}

// DataTypes lists all data types.
func DataTypes() []DataType { return dataTypes.all() }

// ParseDataType reads a data type by its name or by nccl-tests' (half, float, double).
func ParseDataType(s string) (DataType, error) {
	return dataTypes.parse(s)
}

func (t DataType) String() string { return dataTypes.name(t) }

// MarshalText implements encoding.TextMarshaler.
func (t DataType) MarshalText() ([]byte, error) { return dataTypes.marshal(t) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *DataType) UnmarshalText(b []byte) (err error) {
	*t, err = ParseDataType(string(b))
	return err
}

// Size is the size of one element in bytes; 0 for no type.
func (t DataType) Size() int {
	if t < 1 || int(t) > len(typeSizes) {
		return 0
	}
	return typeSizes[t-1]
}

// Float reports whether the type is a floating-point type.
func (t DataType) Float() bool { return t >= Float16 && t <= Float8E5M2 }

// RedOp is a reduction operation; the zero value is for collectives without a reduction.
type RedOp uint8

// The reduction operations.
const (
	Sum RedOp = iota + 1
	Prod
	Min
	Max
	Avg
	MulSum // the sum of every input times MulFactor, one operation of NCCL's (nccl-tests' mulsum)
)

// MulFactor is what MulSum multiplies every input by; exact in every type.
const MulFactor = 2

var redOps = vocabulary[RedOp]{
	kind:    "reduction operation",
	names:   []string{"sum", "prod", "min", "max", "avg", "mulsum"},
	aliases: map[string]string{"premulsum": "mulsum", "product": "prod", "average": "avg", "mean": "avg"},
}

// RedOps lists all reduction operations.
func RedOps() []RedOp { return redOps.all() }

// ParseRedOp parses a reduction operation; "none" and "" give the zero value.
func ParseRedOp(s string) (RedOp, error) {
	if s = strings.TrimSpace(s); s == "" || s == "none" {
		return 0, nil
	}
	return redOps.parse(s)
}

func (o RedOp) String() string {
	if o == 0 {
		return "none"
	}
	return redOps.name(o)
}

// MarshalText implements encoding.TextMarshaler.
func (o RedOp) MarshalText() ([]byte, error) {
	if o == 0 {
		return []byte("none"), nil
	}
	return redOps.marshal(o)
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (o *RedOp) UnmarshalText(b []byte) (err error) {
	*o, err = ParseRedOp(string(b))
	return err
}

// Placement is where the result goes: into a buffer of its own, or over the input.
type Placement uint8

// The placements.
const (
	OutOfPlace Placement = iota + 1
	InPlace
)

var placements = vocabulary[Placement]{kind: "placement", names: []string{"out", "in"},
	aliases: map[string]string{"out-of-place": "out", "out_of_place": "out", "in-place": "in", "in_place": "in"}}

// ParsePlacement reads a placement: out or in.
func ParsePlacement(s string) (Placement, error) {
	return placements.parse(s)
}

func (p Placement) String() string { return placements.name(p) }

// MarshalText implements encoding.TextMarshaler.
func (p Placement) MarshalText() ([]byte, error) { return placements.marshal(p) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Placement) UnmarshalText(b []byte) (err error) {
	*p, err = ParsePlacement(string(b))
	return err
}

// Mode is how an operation is timed; the two are never mixed in one column.
type Mode uint8

// The modes.
const (
	Throughput Mode = iota + 1 // operations back to back, one wait: time of the batch / operations
	Latency                    // every operation synchronised and timed alone
)

var modes = vocabulary[Mode]{kind: "mode", names: []string{"throughput", "latency"}}

// ParseMode reads a mode: throughput or latency.
func ParseMode(s string) (Mode, error) {
	return modes.parse(s)
}

func (m Mode) String() string { return modes.name(m) }

// MarshalText implements encoding.TextMarshaler.
func (m Mode) MarshalText() ([]byte, error) { return modes.marshal(m) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *Mode) UnmarshalText(b []byte) (err error) {
	*m, err = ParseMode(string(b))
	return err
}
