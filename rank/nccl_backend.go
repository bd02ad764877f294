package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"busbar/cudart"
	"busbar/cudart/nccl"
	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// ncclBackend measures NCCL's collectives in one world, on buffers in the memory of this rank's GPU.
type ncclBackend struct {
	layout
	l         *ncclLibrary
	s         *session
	aggregate int

	barrier *barrier // MPI's: brings the ranks together before a batch
	stream  *cudart.Stream
	mover   *cudart.Mover
	comm    *nccl.Comm
	area    cudart.Pointer // the input and, from a page of its own, the output of the case in hand
	bytes   int64

	registered nccl.Registration
	graph      int            // operations of a CUDA graph; 0: no graphs
	paths      *nccl.Profiler // nil unless NCCL tells of its ways on every rank

	computes *gpuComputing // nil where no training steps are measured
	profiled bool          // the driver's profiler range has begun (--profile-range)

	unsupported map[reduction]string // what the library has refused, with its reason
	refused     bool                 // the last operation was refused before anything was issued, as on all ranks
}

// rehearsalChunk is the mover's chunk where the device's memory is the host's.
const rehearsalChunk = 4 << 20

func (l *ncclLibrary) open(s *session) (backend, error) {
	b := &ncclBackend{layout: s.layout(), l: l, s: s, aggregate: max(1, s.p.sweep.Aggregate), graph: graphOf(s.j.cfg, s.p, l)}
	// Windows are of one size on all ranks, and copy engines write at the root's own offset in another rank's.
	b.alike = l.j.cfg.gpu.register == "window"
	var err error
	if b.barrier, err = newBarrier(s.comm); err != nil {
		return nil, err
	}
	chunk := int64(0)
	if l.rehearsed() {
		chunk = rehearsalChunk
	}
	l.j.watch.Phase("prepare the GPU", 0)
	if b.stream, err = l.gpu.NewStream(); err != nil {
		return nil, err
	}
	if l.j.cfg.gpu.events {
		if l.eventStep, err = l.gpu.EventStep(b.stream); err != nil {
			return nil, err
		}
	}
	begun := time.Now()
	if b.mover, err = l.gpu.NewMover(chunk); err != nil {
		return nil, err
	}
	took := []float64{time.Since(begun).Seconds(), l.loading.Seconds()}
	if err := s.world.Max(took); err != nil {
		return nil, err
	}
	s.setup = append(s.setup, result.Setup{What: "driver", Seconds: took[1]}, result.Setup{What: "checks", Seconds: took[0]})
	how := "data is filled and compared by kernels on the GPU"
	if used, why := b.mover.Kernels(); !used {
		how = "data is filled and compared through pinned host memory: " + why
	}
	if !slices.Contains(l.notes, how) {
		l.notes = append(l.notes, how)
	}
	if err := b.connect(); err != nil {
		return nil, err
	}
	return b, b.agreeOnPaths()
}

// connect makes the communicator of the world: rank 0's id goes out by MPI. Collective.
func (b *ncclBackend) connect() error {
	b.l.j.watch.Phase("NCCL init", 0)
	mine := make([]byte, 1+8+nccl.IDBytes)
	var failed error
	if b.rank == 0 {
		id, err := b.l.nccl.NewID()
		if failed = err; err == nil {
			mine[0] = 1
			putInt(mine[1:9], b.l.j.nextCommunicator())
			copy(mine[9:], id[:])
		}
	}
	if err := b.s.comm.Bcast(mine, 0); err != nil {
		return err
	}
	if mine[0] == 0 {
		if failed == nil {
			failed = errors.New("rank 0 could not make an id")
		}
		return failed
	}
	started := time.Now()
	comm, err := b.l.nccl.Init(b.s.world.Size, b.rank, nccl.ID(mine[9:]), b.l.config)
	if err != nil {
		return err
	}
	b.comm = comm
	if err := b.l.onOwnGPU(comm); err != nil {
		return err
	}
	b.l.j.leaver.guard(getInt(mine[1:9]), comm.Interrupt)
	took := []float64{time.Since(started).Seconds()}
	if err := b.s.world.Max(took); err != nil {
		return err
	}
	if b.area == 0 { // the first one: the header is still to be written
		b.s.setup = append(b.s.setup, result.Setup{What: "communicator", Seconds: took[0]})
	}
	return nil
}

// Recover implements bench.Recoverer: after an operation that failed on some rank the communicator is given up on all
// ranks, and a new one made. Where all ranks refused the operation it stays.
func (b *ncclBackend) Recover() error {
	broken, number := float64(b2i(!b.refused)), 0.0
	b.refused = false
	if b.s.world.Rank == 0 {
		number = float64(b.l.j.nextCommunicator())
	}
	all := []float64{broken, number}
	if err := b.s.world.Max(all); err != nil {
		return err
	}
	if all[0] > 0 {
		if err := b.reconnect(); err != nil {
			return err
		}
	} else {
		// A watchdog may have seen the failure and told all ranks to leave the operation. The communicator is sound, and
		// has another number from now on, so that this does not end the next operation.
		b.l.j.leaver.guard(int(all[1]), b.comm.Interrupt)
		b.comm.Resume()
	}
	over := b.l.nccl.LastError()
	b.l.stale.Store(&over)
	return nil
}

func (b *ncclBackend) reconnect() error {
	b.l.j.leaver.guard(b.l.j.leaver.current(), nil)
	b.l.j.watch.Phase("NCCL abort", 0)
	if err := b.comm.Abort(); err != nil && !errors.Is(err, nccl.ErrClosed) {
		return fmt.Errorf("giving up the communicator: %w", err)
	}
	if err := errors.Join(b.stream.Synchronize(), b.computes.end()); err != nil {
		return fmt.Errorf("after giving up the communicator: %w", err)
	}
	b.registered = nccl.Registration{} // gone with the communicator
	if err := b.connect(); err != nil {
		return err
	}
	return b.register()
}

// room implements backend.
func (b *ncclBackend) room() (float64, notice.MemoryLimit, error) {
	if b.l.rehearsed() {
		return b.s.hostMemory(0)
	}
	free, _, err := b.l.gpu.Memory()
	if err != nil {
		return 0, notice.MemoryLimit{}, err
	}
	return b.s.planRoom([]memoryBound{{Name: "the memory of GPU " + b.l.ranks[b.l.j.rank].UUID, Free: free}}, 0)
}

// reserve implements backend.
func (b *ncclBackend) reserve(bytes int64) (err error) {
	if err := b.release(); err != nil {
		return err
	}
	want := max(pageBytes, bytes)
	if b.l.j.cfg.gpu.alloc == "nccl" {
		var p uint64
		p, err = b.l.nccl.MemAlloc(want)
		b.area = cudart.Pointer(p)
	} else {
		b.area, err = b.l.gpu.Alloc(want)
	}
	if err != nil {
		b.area = 0
		return err
	}
	b.bytes = want
	return nil
}

// ready implements backend: the buffers become known to the communicator where that is asked for.
func (b *ncclBackend) ready() error {
	if err := b.register(); err != nil {
		return &codeError{exitEnvironment, fmt.Errorf("--register %s: %w", b.l.j.cfg.gpu.register, err)}
	}
	return nil
}

func (b *ncclBackend) register() (err error) {
	if r := b.l.j.cfg.gpu.register; r == "buffer" || r == "window" {
		b.registered, err = b.comm.Register(uint64(b.area), b.bytes, r == "window")
	}
	return err
}

func (b *ncclBackend) release() error {
	if b.area == 0 {
		return nil
	}
	err := b.registered.Close()
	b.registered = nccl.Registration{}
	if b.l.j.cfg.gpu.alloc == "nccl" {
		err = errors.Join(err, b.l.nccl.MemFree(uint64(b.area)))
	} else {
		err = errors.Join(err, b.l.gpu.Free(b.area))
	}
	b.area, b.bytes = 0, 0
	return err
}

// close implements backend.
func (b *ncclBackend) close() error {
	b.l.j.watch.Phase("look at the GPUs", 0)
	var err error
	if b.s.throttled, err = b.throttled(); err != nil {
		return err
	}
	b.l.j.watch.Phase("NCCL destroy", 0)
	b.l.j.leaver.guard(b.l.j.leaver.current(), nil)
	// Graphs may have made NCCL register the buffers by itself: they go after the communicator.
	err = errors.Join(b.endProfile(), b.registered.Close(), b.comm.Close())
	return errors.Join(err, b.release(), b.mover.Close(), b.stream.Close(), b.barrier.close())
}

// shared says whether ranks of this world share a GPU.
func (b *ncclBackend) shared() bool {
	return slices.ContainsFunc(b.s.members, func(r int) bool { return b.l.ranks[r].Shared })
}

// Prepare implements bench.Backend.
func (b *ncclBackend) Prepare(c coll.Case) (bench.Operation, error) {
	if _, ok := ncclTypes[c.Type]; !ok {
		return nil, &bench.UnsupportedError{Cause: notice.NotSupported{Library: "NCCL", What: c.Type.String()}}
	}
	if lost := bench.LostAverage(c); lost != nil {
		return nil, &bench.UnsupportedError{Cause: lost}
	}
	if why := b.unsupported[reductionOf(c)]; why != "" {
		return nil, &bench.UnsupportedError{Cause: notice.LibraryLacks{Problem: why}}
	}
	send, recv, slots := b.slots(c)
	if float64(b.bytes) < b.memory(c) {
		return nil, &bench.MemoryError{Needed: int64(min(b.memory(c), math.MaxInt64/2)), Err: errors.New("the buffers of this world are smaller")}
	}
	inputs, outputs := b.area, b.area+cudart.Pointer(b.first(send, slots))
	if c.Placement == coll.InPlace {
		inputs, send = outputs, recv
	}
	in, out := ncclViews(c, b.rank, b.alike)
	spec := b.spec(c, inputs+cudart.Pointer(in.at), outputs+cudart.Pointer(out.at))
	spec.Slots, spec.SendStride, spec.RecvStride = slots, send, recv
	spec.Aggregate, spec.Graph = b.aggregate, b.graph
	spec.Sync, spec.SyncContext = b.barrier.step, b.barrier.context
	if b.l.j.cfg.gpu.events {
		spec.Events = bench.MaxBatches
	}
	o, err := b.bind(spec)
	if err != nil {
		return nil, err
	}
	o.of = c
	if b.aggregate > 1 || b.graph > 0 {
		spec.Aggregate, spec.Graph, spec.Events = 1, 0, 0
		if o.single, err = b.bind(spec); err != nil {
			return nil, errors.Join(err, o.Close())
		}
		o.single.of = c
	}
	for i := range int64(slots) {
		place := func(base cudart.Pointer, stride int64, e extent) bench.Memory {
			return deviceMemory{b.mover, base + cudart.Pointer(i*stride+e.at), e.n}
		}
		o.slots = append(o.slots, bench.Buffers{Send: place(inputs, send, in), Recv: place(outputs, recv, out)})
	}
	return o, nil
}

// spec is a case at these addresses.
func (b *ncclBackend) spec(c coll.Case, send, recv cudart.Pointer) nccl.OpSpec {
	return nccl.OpSpec{Kind: ncclKinds[c.Collective], Type: ncclTypes[c.Type], Op: ncclOps[c.Op], Root: max(0, c.Root),
		Send: uint64(send), Recv: uint64(recv), Count: c.Count, Stream: b.stream.Pointer(), Cuda: b.l.driver.Table(), Algorithms: b.l.j.cfg.gpu.algorithms}
}

// prepare makes an operation of the library's; what it does not have is an *UnsupportedError of bench.
func (b *ncclBackend) prepare(spec nccl.OpSpec) (*nccl.Operation, error) {
	op, err := b.comm.Prepare(spec)
	var lacks *nccl.UnsupportedError
	if errors.As(err, &lacks) {
		return nil, &bench.UnsupportedError{Cause: notice.LibraryLacks{Problem: lacks.Reason}}
	}
	return op, err
}

func (b *ncclBackend) bind(spec nccl.OpSpec) (*ncclOperation, error) {
	op, err := b.prepare(spec)
	if err != nil {
		return nil, err
	}
	l, err := loop.New(op.Steps(), bench.MaxBatches)
	if err != nil {
		return nil, errors.Join(err, op.Close())
	}
	l.KeepInStep()
	return &ncclOperation{b: b, op: op, loop: l, graphed: spec.Graph > 0}, nil
}

// ncclOperation is one prepared case.
type ncclOperation struct {
	b       *ncclBackend
	of      coll.Case
	op      *nccl.Operation
	loop    *loop.Loop
	slots   []bench.Buffers
	single  *ncclOperation // nil where one operation is issued at a time anyway
	graphed bool           // it is a CUDA graph
	times   []float64      // the device's, of the batches of the last Run
}

func (o *ncclOperation) Buffers() []bench.Buffers { return o.slots }

func (o *ncclOperation) Notes() []string {
	notes := o.op.Notes()
	if o.b.paths != nil && o.b.graph > 0 {
		notes = append(notes, "the path is that of the operation outside the graph")
	}
	if o.b.shared() {
		notes = append(notes, "ranks share a GPU")
	}
	return notes
}

// Times implements bench.Timer.
func (o *ncclOperation) Times() []float64 { return o.times }

// Single implements bench.Aggregator.
func (o *ncclOperation) Single() bench.Operation {
	if o.single == nil {
		return o
	}
	return o.single
}

// Profile implements bench.Profiler: a range named after the case where an NVTX tool listens, and the driver's own
// profiler range with --profile-range.
func (o *ncclOperation) Profile(on bool) error {
	l := o.b.l
	if on {
		l.nvtx.Push(o.of.String())
	} else {
		l.nvtx.Pop()
	}
	switch {
	case !l.j.cfg.profile:
		return nil
	case on:
		return l.driver.ProfilerStart()
	}
	return l.driver.ProfilerStop()
}

// Run implements bench.Operation.
func (o *ncclOperation) Run(batches, n int) (bench.Stamps, error) {
	s, err := o.b.run(o.loop, batches, n, ncclCalls{
		failed:  o.op.Error,
		issued:  func() bool { return !o.graphed },
		refused: func() bool { return o.b.lacksFloat8(o.of) },
		over:    func() (err error) { o.times, err = o.op.Times(); return err },
	})
	o.b.remember(o.of, err)
	return s, err
}

// ncclCalls are what a loop over NCCL's operations has to say of itself.
type ncclCalls struct {
	failed  func(code int) error // of an issue or a wait
	issued  func() bool          // an issue that failed was that of an operation
	refused func() bool          // every rank's library refuses such an operation before it issues anything; may be nil
	over    func() error         // called where all went well
}

// run runs a loop of this backend's. Where an operation fails, the others are told to leave theirs.
func (b *ncclBackend) run(l *loop.Loop, batches, n int, c ncclCalls) (bench.Stamps, error) {
	j, number := b.l.j, b.l.j.leaver.current()
	j.watch.Attach(l, func() { j.passOn(number) })
	s, err := l.Run(batches, n)
	var step *loop.StepError
	switch {
	case err == nil: // a wait asks the communicator only while its stream is busy
		err = b.comm.AsyncError()
		if err == nil {
			err = c.over()
		}
		if err == nil {
			return bench.Stamps(s), nil
		}
		return bench.Stamps(s), b.lost(number, err)
	case !errors.As(err, &step):
		return bench.Stamps(s), err
	}
	if step.Stage == loop.Sync { // MPI's own failure ends the run
		return bench.Stamps(s), fmt.Errorf("MPI's barrier before a batch: %w", b.barrier.op.Error(step.Code))
	}
	err = c.failed(step.Code)
	if step.Stage == loop.Issue && c.refused != nil && c.refused() && b.pointStatus(err) == result.Unsupported {
		b.refused = true // no rank waits for another one
		return bench.Stamps(s), &bench.OperationError{Status: result.Unsupported, Err: err}
	}
	err = b.lost(number, err)
	if step.Stage == loop.Issue && c.issued() && err.(*bench.OperationError).Status != "" {
		// The others may be inside NCCL, connecting to this rank, where only the end of its sockets brings them out.
		_ = b.comm.Abort()
	}
	return bench.Stamps(s), err
}

// lost is the error of an operation that failed with all ranks alive; unless it only left off, the others are told.
func (b *ncclBackend) lost(number int, err error) error {
	status := b.pointStatus(err)
	if status != "" {
		b.l.j.passOn(number)
	}
	if status == result.OOM { // NCCL's own words need not say so
		err = fmt.Errorf("out of memory: %w", err)
	}
	return &bench.OperationError{Status: status, Err: err}
}

func (o *ncclOperation) Close() error {
	o.b.l.j.watch.Attach(nil, nil)
	o.loop.Close()
	err := o.op.Close()
	if o.single != nil {
		err = errors.Join(err, o.single.Close())
	}
	return err
}

// deviceMemory is a stretch of a GPU's memory.
type deviceMemory struct {
	mover *cudart.Mover
	at    cudart.Pointer
	n     int64
}

func (m deviceMemory) Len() int64 { return m.n }

func (m deviceMemory) Set(b byte) error {
	if m.n == 0 {
		return nil
	}
	return m.mover.Set(m.at, m.n, b)
}

func (m deviceMemory) Fill(table []byte, first int64) error {
	if m.n == 0 {
		return nil
	}
	return m.mover.Fill(m.at, m.n, table, first)
}

func (m deviceMemory) Differs(from, to int64, table []byte, first int64, near bench.Near) (int64, error) {
	at, err := m.mover.Differs(m.at+cudart.Pointer(from), to-from, table, first, cudart.Near(near))
	if err != nil || at < 0 {
		return -1, err
	}
	return from + at, nil
}

func (m deviceMemory) Way() bench.Way {
	if used, _ := m.mover.Kernels(); used {
		return bench.Kernels
	}
	return bench.Pinned
}

func (m deviceMemory) Read(at int64, dst []byte) error { return m.mover.Read(m.at, at, dst) }
