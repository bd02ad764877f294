package backend

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unsafe"

	"busbar/gloo"
	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/timeout"
)

// GlooOptions are the flags that belong to Gloo.
type GlooOptions struct {
	Network   string // interface; empty: found out
	Algorithm string // of an all_reduce: ring or bcube; empty is ring
	CPUs      string // where Gloo's thread may run: same, any, a list; empty: what is best for the rank
}

// glooConnect is how long ranks may take to connect: less than the watchdog waits, so that Gloo names the rank.
const glooConnect = 30 * time.Second

// glooBackend measures Gloo's collectives in one world, on buffers in host memory.
type glooBackend struct {
	hostBackend
	l       *glooLibrary
	barrier *launch.Barrier // MPI's: brings the ranks together before a batch
	context *gloo.Context
	took    float64 // s, to connect
}

// Setup implements Prepared.
func (b *glooBackend) Setup() []result.Setup {
	return []result.Setup{{What: "communicator", Seconds: b.took}}
}

var glooKinds = map[coll.Collective]gloo.Kind{
	coll.AllReduce: gloo.AllReduce, coll.AllGather: gloo.AllGather, coll.ReduceScatter: gloo.ReduceScatter,
	coll.Broadcast: gloo.Broadcast, coll.Reduce: gloo.Reduce, coll.AllToAll: gloo.AllToAll, coll.Gather: gloo.Gather,
	coll.Scatter: gloo.Scatter, coll.SendRecv: gloo.SendRecv,
}

var glooWords = wordsOf("Gloo", gloo.Int8, gloo.Float64, gloo.Sum, gloo.Avg)

func (l *glooLibrary) Open(w *World, m Method) (Backend, error) {
	b := &glooBackend{hostBackend: newHostBackend(l.h, w, m), l: l}
	var err error
	if b.barrier, err = NewBarrier(w.Group); err != nil {
		return nil, err
	}
	return b, b.connect()
}

// connect makes the context of the world; MPI carries the addresses. Collective.
func (b *glooBackend) connect() error {
	b.l.h.Watch.Phase("Gloo connect", 0)
	started := time.Now()
	place := b.placeThread()
	mine := glooRank{Host: b.w.Hosts[b.Rank], Why: b.l.network.Why, Placed: place.why}
	c, err := b.l.lib.NewContext(gloo.Options{Rank: b.Rank, Size: b.w.Size, Interface: b.l.network.Interface,
		Address:        b.l.network.Address,
		ConnectTimeout: glooConnect, CPUs: place.cpus})
	if err == nil {
		b.context = c
		mine.Device, mine.Thread = c.Device(), c.Thread()
		mine.Address, err = c.Address()
	}
	if err != nil {
		mine.Error = err.Error()
	}
	ranks, err := launch.AllGatherJSON(b.w.Group, mine)
	if err != nil {
		return err
	}
	if err := failedRank(ranks, b.Rank); err != nil {
		return err
	}
	addresses := make([][]byte, len(ranks))
	for i, r := range ranks {
		addresses[i] = r.Address
	}
	over := glooRank{Host: mine.Host}
	if err := c.Connect(addresses); err != nil {
		var e *gloo.Error
		over.Follows = errors.As(err, &e) && e.Status == gloo.Lost
		over.Error = b.l.named(err, b.w.Hosts).Error()
		c.Interrupt() // the others wait for this rank
	}
	all, err := launch.AllGatherJSON(b.w.Group, over)
	if err != nil {
		return err
	}
	if err := failedRank(all, b.Rank); err != nil {
		return err
	}
	b.l.note(ranks)
	took := []float64{time.Since(started).Seconds()}
	if err := b.w.Max(took); err != nil {
		return err
	}
	b.took = took[0]
	return nil
}

// Memory implements Backend: a reduce out of place has an output on every rank, and a reduce_scatter its partial sums.
// Where operations are issued together, the one that is issued alone has its own.
func (b *glooBackend) Memory(c coll.Case) float64 {
	_, _, slots := b.Slots(c)
	own := float64(c.Count) * float64(c.Type.Size()) * float64(slots)
	bytes := b.Layout.Memory(c)
	if c.Placement != coll.InPlace &&
		(c.Collective == coll.ReduceScatter || c.Collective == coll.Reduce && b.Rank != c.Root) {
		bytes += own * float64(min(2, b.aggregate))
	}
	return bytes
}

// glooScratch is what Gloo allocates beside the buffers, as a share of them: bcube takes a vector of the message's
// size.
const glooScratch = 0.5

// Room implements backend.
func (b *glooBackend) Room() (most float64, limit notice.MemoryLimit, err error) {
	return b.w.Memory.HostRoom(glooScratch)
}

// Close implements backend. No rank closes its sockets while another still reads from them.
func (b *glooBackend) Close() error {
	b.l.h.Watch.Phase("Gloo close", 0)
	err := b.w.Group.Barrier()
	if b.context != nil {
		b.context.Close()
	}
	return errors.Join(err, b.barrier.Close())
}

// Prepare implements bench.Backend.
func (b *glooBackend) Prepare(c coll.Case) (bench.Operation, error) {
	if err := glooWords.lacks(c); err != nil {
		return nil, err
	}
	p, err := b.place(c)
	if err != nil {
		return nil, err
	}
	return b.prepare(p, func(aggregate int) (hostCall, error) {
		return b.bind(gloo.OpSpec{Kind: glooKinds[c.Collective], Type: glooWords.types[c.Type], Op: glooWords.ops[c.Op],
			Root:      max(0, c.Root),
			Algorithm: b.l.algorithm, InPlace: c.Placement == coll.InPlace, Send: p.send, Recv: p.recv, Count: c.Count,
			Slots: p.slots, SendStride: p.sendStride, RecvStride: p.recvStride, Aggregate: aggregate,
			Sync: unsafe.Pointer(b.barrier.Step), SyncContext: b.barrier.Context})
	})
}

// bind makes an operation of Gloo.
func (b *glooBackend) bind(spec gloo.OpSpec) (hostCall, error) {
	op, err := b.context.Prepare(spec)
	if err != nil {
		var lacks *gloo.UnsupportedError
		if errors.As(err, &lacks) {
			return nil, &bench.UnsupportedError{Cause: notice.LibraryLacks{Problem: lacks.Reason}}
		}
		var lib *gloo.Error
		if errors.As(err, &lib) && lib.Status == gloo.NoMemory {
			return nil, &bench.MemoryError{Needed: spec.Count * spec.Type.Size(), Err: err}
		}
		return nil, err
	}
	return glooCall{op, b}, nil
}

// glooCall is an operation of Gloo.
type glooCall struct {
	*gloo.Operation
	b *glooBackend
}

// Close implements hostCall; Gloo has nothing to say then.
func (c glooCall) Close() error {
	c.Operation.Close()
	return nil
}

// failed breaks the connections of a rank whose operation failed, so that no other waits for it.
func (c glooCall) failed(step *loop.StepError) error {
	if step.Stage == loop.Sync {
		return fmt.Errorf("MPI's barrier before a batch: %w", c.b.barrier.Failed(step.Code))
	}
	err := c.b.l.named(c.Error(step.Code), c.b.w.Hosts)
	c.b.context.Interrupt()
	c.b.awaitDeath(err)
	return err
}

// awaitDeath gives the side channel and the launcher time to say which process died, where a connection broke: they
// know it, and Gloo knows only that somebody does not answer. It returns if nobody did.
func (b *glooBackend) awaitDeath(err error) {
	var e *gloo.Error
	if errors.As(err, &e) && e.Status == gloo.Lost {
		b.l.h.Watch.Rest("learn why a connection broke")
		time.Sleep(timeout.Abort)
	}
}

// named adds the host to an error that names a rank.
func (l *glooLibrary) named(err error, hosts []string) error {
	var e *gloo.Error
	if errors.As(err, &e) && e.Peer >= 0 && e.Peer < len(hosts) {
		return fmt.Errorf("%w (rank %d is on %s)", err, e.Peer, hosts[e.Peer])
	}
	return err
}

// failedRank is the error of the lowest rank that has one of its own; that rank is the one that says so.
func failedRank(ranks []glooRank, self int) error {
	failed := slices.IndexFunc(ranks, func(r glooRank) bool { return r.Error != "" && !r.Follows })
	if failed < 0 {
		failed = slices.IndexFunc(ranks, func(r glooRank) bool { return r.Error != "" })
	}
	switch failed {
	case -1:
		return nil
	case self:
		return exit.Environmentf("%s", ranks[self].Error)
	}
	return exit.ErrElsewhere
}

// note says in the file of the world in hand on which network its hosts are, and where Gloo's threads may run.
func (l *glooLibrary) note(ranks []glooRank) {
	const most = 64
	var hosts []string
	l.threads = nil
	for i, r := range ranks {
		text := fmt.Sprintf("%s: %s, %s (%s)", r.Host, r.Device.Interface, r.Device.Address, r.Why)
		if len(hosts) < most && !slices.ContainsFunc(hosts, func(h string) bool { return strings.HasPrefix(h, text) }) {
			hosts = append(hosts, fmt.Sprintf("%s; Gloo's thread of rank %d on CPUs %s (%s), policy %s", text, i,
				r.Thread.CPUs, r.Placed, r.Thread.Policy))
		}
		l.threads = append(l.threads, r.Thread.CPUs)
	}
	l.notes = hosts
}
