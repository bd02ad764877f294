package main

import (
	byteorder "encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"unsafe"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/result"
	"busbar/mpi"
)

// mpiLibrary is the MPI that carries the world, measured itself.
type mpiLibrary struct{ j *job }

func (l mpiLibrary) name() string { return "mpi" }

func (l mpiLibrary) facts() result.Backend {
	i := l.j.lib.Info()
	return result.Backend{Name: l.name(), Library: i.Name, Version: versionOf(i.Name), Path: i.LibMPIPath, BuildID: i.BuildID}
}

func (l mpiLibrary) device() string { return "cpu (" + machineFacts("/").CPU + ")" }

func (l mpiLibrary) unfit(world int) string { return l.j.tooLarge(world) }

func (l mpiLibrary) open(w *session) (backend, error) {
	return &mpiBackend{layout: w.layout(), s: w, comm: w.comm, watch: w.j.watch, aggregate: max(1, w.p.sweep.Aggregate)}, nil
}

// mpiBackend measures MPI's own collectives on buffers in host memory, allocated once for a world.
type mpiBackend struct {
	layout
	s         *session
	comm      *mpi.Comm
	watch     *watchdog
	aggregate int
}

// mpiPlaces says which placements MPI has: a broadcast has one buffer.
func mpiPlaces(c coll.Collective) []coll.Placement {
	if c == coll.Broadcast {
		return []coll.Placement{coll.InPlace}
	}
	return []coll.Placement{coll.OutOfPlace, coll.InPlace}
}

// mpiScratch is what MPI libraries allocate beside the buffers, as a share of them: Open MPI's all_reduce takes a
// vector of the message's size for one of its algorithms.
const mpiScratch = 0.5

var mpiKinds = map[coll.Collective]mpi.Kind{
	coll.AllReduce: mpi.AllReduce, coll.AllGather: mpi.AllGather, coll.ReduceScatter: mpi.ReduceScatter,
	coll.Broadcast: mpi.Broadcast, coll.Reduce: mpi.Reduce, coll.AllToAll: mpi.AllToAll, coll.Gather: mpi.Gather,
	coll.Scatter: mpi.Scatter, coll.SendRecv: mpi.SendRecv,
}

var mpiTypes = map[coll.DataType]mpi.Type{
	coll.Int8: mpi.Int8, coll.UInt8: mpi.UInt8, coll.Int32: mpi.Int32, coll.UInt32: mpi.UInt32, coll.Int64: mpi.Int64,
	coll.UInt64: mpi.UInt64, coll.Float16: mpi.Float16, coll.BFloat16: mpi.BFloat16, coll.Float32: mpi.Float32,
	coll.Float64: mpi.Float64,
}

var mpiOps = map[coll.RedOp]mpi.Op{0: 0, coll.Sum: mpi.Sum, coll.Prod: mpi.Prod, coll.Min: mpi.Min, coll.Max: mpi.Max, coll.Avg: mpi.Avg}

// reserve implements backend.
func (b *mpiBackend) reserve(bytes int64) error { return b.s.area.reserve(bytes) }

// close implements backend: the buffers are the world's, and MPI has nothing else.
func (b *mpiBackend) close() error { return nil }

// ready implements backend: MPI knows of no buffers.
func (b *mpiBackend) ready() error { return nil }

// room implements backend.
func (b *mpiBackend) room() (limit float64, why string, err error) { return b.s.hostMemory(mpiScratch) }

// Prepare implements bench.Backend.
func (b *mpiBackend) Prepare(c coll.Case) (bench.Operation, error) {
	if _, ok := mpiTypes[c.Type]; !ok {
		return nil, &bench.UnsupportedError{Reason: fmt.Sprintf("MPI has no %s", c.Type)}
	}
	if _, ok := mpiOps[c.Op]; !ok {
		return nil, &bench.UnsupportedError{Reason: fmt.Sprintf("MPI has no %s", c.Op)}
	}
	send, recv, slots := b.slots(c)
	area := b.s.area.buffer
	if float64(len(b.s.area.bytes())) < b.memory(c) {
		return nil, &bench.MemoryError{Needed: int64(b.memory(c)), Err: errors.New("the buffers of this world are smaller")}
	}
	first := b.first(send, slots)
	inputs, outputs := area.Bytes()[:first], area.Bytes()[first:]
	spec := mpi.OpSpec{Kind: mpiKinds[c.Collective], Type: mpiTypes[c.Type], Op: mpiOps[c.Op], Root: max(0, c.Root),
		InPlace: c.Placement == coll.InPlace, Send: area.Pointer(), Recv: unsafe.Add(area.Pointer(), first), Count: c.Count,
		Slots: slots, SendStride: send, RecvStride: recv, Aggregate: b.aggregate}
	o, err := b.bind(spec)
	if err != nil {
		return nil, err
	}
	if b.aggregate > 1 {
		spec.Aggregate = 1
		if o.single, err = b.bind(spec); err != nil {
			return nil, errors.Join(err, o.Close())
		}
	}
	for i := range int64(slots) {
		o.slots = append(o.slots, b.views(c, inputs[i*send:(i+1)*send], outputs[i*recv:(i+1)*recv]))
	}
	return o, nil
}

// bind makes an operation of MPI and the loop that times it.
func (b *mpiBackend) bind(spec mpi.OpSpec) (*mpiOperation, error) {
	op, err := b.comm.Prepare(spec)
	if err != nil {
		var lacks *mpi.UnsupportedError
		if errors.As(err, &lacks) {
			return nil, &bench.UnsupportedError{Reason: lacks.Reason}
		}
		return nil, err
	}
	l, err := loop.New(op.Steps(), bench.MaxBatches)
	if err != nil {
		return nil, errors.Join(err, op.Close())
	}
	return &mpiOperation{op: op, loop: l, watch: b.watch}, nil
}

// views are the input and the output of this rank within one slot. In place there is one buffer, and MPI says where in
// it a rank's own share lies.
func (l layout) views(c coll.Case, send, recv []byte) bench.Buffers {
	s := int64(c.Type.Size())
	in, out := c.SendCount(l.rank)*s, c.RecvCount(l.rank)*s
	if c.Placement != coll.InPlace {
		return bench.Buffers{Send: bench.Host(send[:in]), Recv: bench.Host(recv[:out])}
	}
	share := int64(l.rank) * c.Count * s
	root := l.rank == c.Root
	v := bench.Buffers{Send: bench.Host(recv[:in]), Recv: bench.Host(recv[:out])}
	switch {
	case c.Collective == coll.AllGather, c.Collective == coll.Gather && root:
		v.Send = bench.Host(recv[share : share+in])
	case c.Collective == coll.Scatter && root:
		v.Recv = bench.Host(recv[share : share+out])
	}
	return v
}

// mpiOperation is one prepared case.
type mpiOperation struct {
	op     *mpi.Operation
	loop   *loop.Loop
	watch  *watchdog
	slots  []bench.Buffers
	single *mpiOperation // nil where one operation is issued at a time anyway
}

func (o *mpiOperation) Buffers() []bench.Buffers { return o.slots }

func (o *mpiOperation) Notes() []string { return o.op.Notes() }

// Single implements bench.Aggregator.
func (o *mpiOperation) Single() bench.Operation {
	if o.single == nil {
		return o
	}
	return o.single
}

func (o *mpiOperation) Run(batches, n int) (bench.Stamps, error) {
	o.watch.Attach(o.loop, nil)
	s, err := o.loop.Run(batches, n)
	var step *loop.StepError
	if errors.As(err, &step) {
		err = o.op.Error(step.Code)
	}
	return bench.Stamps(s), err
}

func (o *mpiOperation) Close() error {
	o.watch.Attach(nil, nil)
	o.loop.Close()
	err := o.op.Close()
	if o.single != nil {
		err = errors.Join(err, o.single.Close())
	}
	return err
}

// mpiComm carries bench's collective decisions.
type mpiComm struct{ comm *mpi.Comm }

func (c mpiComm) Max(x []float64) error { return c.comm.Allreduce(x, mpi.Max) }

func (c mpiComm) Sum(x []float64) error { return c.comm.Allreduce(x, mpi.Sum) }

func (c mpiComm) Gather(x []float64) ([]float64, error) {
	parts, err := c.comm.Gather(bytesOf(x), 0)
	if parts == nil {
		return nil, err
	}
	all := make([]float64, 0, len(parts)*len(x))
	for _, p := range parts {
		for at := 0; at < len(p); at += 8 {
			all = append(all, math.Float64frombits(binary8.Uint64(p[at:])))
		}
	}
	return all, err
}

func (c mpiComm) Bcast(x []float64) error {
	b := bytesOf(x)
	if err := c.comm.Bcast(b, 0); err != nil {
		return err
	}
	for i := range x {
		x[i] = math.Float64frombits(binary8.Uint64(b[8*i:]))
	}
	return nil
}

// binary8 is how eight bytes are one number; the ranks of a world have one byte order.
var binary8 = byteorder.LittleEndian

func bytesOf(x []float64) []byte {
	b := make([]byte, 0, 8*len(x))
	for _, v := range x {
		b = binary8.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// versionOf is the version in a library's name: "4.1.4" of "Open MPI 4.1.4".
func versionOf(name string) string {
	words := strings.Fields(name)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
