package main

import (
	byteorder "encoding/binary"
	"errors"
	"math"
	"strings"
	"unsafe"

	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/result"
	"busbar/mpi"
)

// mpiBackend measures MPI's own collectives on buffers in host memory, allocated once for a world.
type mpiBackend struct {
	comm      *mpi.Comm
	rank      int
	watch     *watchdog
	aggregate int
	rotate    int64 // bytes over which operations walk; 0: one place

	area *loop.Buffer // the input and, from a page of its own, the output of the case in hand
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

// pageBytes keeps slots apart, so that each starts on a page of its own.
const pageBytes = 4096

// layout is how much memory a case takes on this rank: one slot of each buffer, and how many slots there are, which is
// the same on all ranks though a root has larger buffers: they walk in step.
func (b *mpiBackend) layout(c coll.Case) (send, recv int64, slots int) {
	send, recv = b.slot(c, b.rank)
	if b.rotate == 0 {
		return send, recv, 1
	}
	root := max(0, c.Root)
	most := int64(1)
	for _, rank := range []int{root, (root + 1) % c.World} {
		s, r := b.slot(c, rank)
		most = max(most, s+r)
	}
	return send, recv, int(max(1, b.rotate/most))
}

// slot is the size of a rank's buffers in bytes.
func (b *mpiBackend) slot(c coll.Case, rank int) (send, recv int64) {
	s := int64(c.Type.Size())
	if c.Placement == coll.InPlace {
		recv = max(c.SendCount(rank), c.RecvCount(rank)) * s
	} else {
		send, recv = c.SendCount(rank)*s, c.RecvCount(rank)*s
	}
	if b.rotate > 0 {
		send, recv = wholePages(send), wholePages(recv)
	}
	return send, recv
}

func wholePages(n int64) int64 { return (n + pageBytes - 1) / pageBytes * pageBytes }

// memory is what a case takes on this rank in bytes; a float, since what is asked for may be beyond any integer.
func (b *mpiBackend) memory(c coll.Case) float64 {
	send, recv, slots := b.layout(c)
	return (float64(send)+float64(recv))*float64(slots) + pageBytes
}

// span is what the largest of the cases that fit takes on this rank.
func (b *mpiBackend) span(cases []coll.Case, rooms []room) float64 {
	largest := 0.0
	for i, c := range cases {
		if rooms[i].fits() {
			largest = max(largest, b.memory(c))
		}
	}
	return largest
}

// reserve allocates the memory that every case has its buffers in. Pages are touched by this rank when a case first
// fills them.
func (b *mpiBackend) reserve(bytes int64) (err error) {
	if err := b.area.Free(); err != nil {
		return err
	}
	b.area, err = loop.AllocBuffer(bytes)
	return err
}

// release gives the buffers back.
func (b *mpiBackend) release() error {
	return b.area.Free()
}

// Prepare implements bench.Backend.
func (b *mpiBackend) Prepare(c coll.Case) (bench.Operation, error) {
	send, recv, slots := b.layout(c)
	if float64(len(b.area.Bytes())) < b.memory(c) {
		return nil, &bench.MemoryError{Needed: int64(b.memory(c)), Err: errors.New("the buffers of this world are smaller")}
	}
	first := wholePages(send * int64(slots)) // of the output
	inputs, outputs := b.area.Bytes()[:first], b.area.Bytes()[first:]
	spec := mpi.OpSpec{Kind: mpiKinds[c.Collective], Type: mpiTypes[c.Type], Op: mpiOps[c.Op], Root: max(0, c.Root),
		InPlace: c.Placement == coll.InPlace, Send: b.area.Pointer(), Recv: unsafe.Add(b.area.Pointer(), first), Count: c.Count,
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
func (b *mpiBackend) views(c coll.Case, send, recv []byte) bench.Buffers {
	s := int64(c.Type.Size())
	in, out := c.SendCount(b.rank)*s, c.RecvCount(b.rank)*s
	if c.Placement != coll.InPlace {
		return bench.Buffers{Send: send[:in], Recv: recv[:out]}
	}
	share := int64(b.rank) * c.Count * s
	root := b.rank == c.Root
	v := bench.Buffers{Send: recv[:in], Recv: recv[:out]}
	switch {
	case c.Collective == coll.AllGather, c.Collective == coll.Gather && root:
		v.Send = recv[share : share+in]
	case c.Collective == coll.Scatter && root:
		v.Recv = recv[share : share+out]
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
	o.watch.Attach(o.loop)
	s, err := o.loop.Run(batches, n)
	var step *loop.StepError
	if errors.As(err, &step) {
		err = o.op.Error(step.Code)
	}
	return bench.Stamps(s), err
}

func (o *mpiOperation) Close() error {
	o.watch.Attach(nil)
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

// backendFacts identifies the library for the file.
func backendFacts(i mpi.Info) result.Backend {
	return result.Backend{Name: "mpi", Library: i.Name, Version: versionOf(i.Name), Path: i.LibMPIPath, BuildID: i.BuildID}
}

// versionOf is the version in a library's name: "4.1.4" of "Open MPI 4.1.4".
func versionOf(name string) string {
	words := strings.Fields(name)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}
