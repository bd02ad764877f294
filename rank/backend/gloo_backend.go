package backend

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"busbar/gloo"
	"busbar/internal/bench"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/notice"
	"busbar/internal/operation"
	"busbar/internal/result"
	"busbar/internal/step"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/machine"
	"busbar/rank/timeout"
)

// GlooOptions are the flags that belong to Gloo.
type GlooOptions struct {
	Network string // interface; empty: found out
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

func (l *glooLibrary) Open(w *World, m Method) (Backend, error) {
	b := &glooBackend{hostBackend: newHostBackend(l.h, w, m, "Gloo"), l: l}
	b.hostBackend.bind = b.bindCall
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
	mine := glooRank{Host: b.w.Hosts[b.Rank], Why: b.l.network.Why}
	c, err := b.l.lib.NewContext(gloo.Options{Rank: b.Rank, Size: b.w.Size, Interface: b.l.network.Interface,
		Address: b.l.network.Address, ConnectTimeout: glooConnect, CPUs: b.threadCPUs(),
		Sync: b.barrier.Step, SyncContext: b.barrier.Context})
	if err == nil {
		b.context = c
		mine.Device, mine.Thread = c.Device(), c.ThreadCPUs()
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

// Close implements backend. No rank closes its sockets while another still reads from them.
func (b *glooBackend) Close() error {
	b.l.h.Watch.Phase("Gloo close", 0)
	err := b.w.Group.Barrier()
	if b.context != nil {
		b.context.Close()
	}
	return errors.Join(err, b.barrier.Close())
}

// bindCall binds an operation of Gloo.
func (b *glooBackend) bindCall(spec operation.Host) (hostCall, error) {
	op, err := b.context.Prepare(spec)
	var lib *gloo.Error
	if errors.As(err, &lib) && lib.Status == gloo.NoMemory {
		return nil, &bench.MemoryError{Needed: spec.Count * int64(spec.Type.Size()), Err: err}
	}
	return glooCall{op, b}, err
}

// glooCall is an operation of Gloo.
type glooCall struct {
	*gloo.Operation
	b *glooBackend
}

// Close implements hostCall; Gloo reports no error here.
func (c glooCall) Close() error {
	c.Operation.Close()
	return nil
}

// failed breaks the connections of a rank whose operation failed, so that no other waits for it.
func (c glooCall) failed(step *loop.StepError) error {
	if step.Stage == loop.Sync {
		return fmt.Errorf("barrier before a batch: %w", c.b.barrier.Failed(step.Code))
	}
	err := c.b.l.named(c.Error(step.Code), c.b.w.Hosts)
	c.b.context.Interrupt()
	c.b.awaitDeath(err)
	return err
}

// awaitDeath gives the side channel and the launcher time to name the process that died after a connection broke.
// Gloo knows only that a rank does not answer. It returns if no process died.
func (b *glooBackend) awaitDeath(err error) {
	var e *gloo.Error
	if errors.As(err, &e) && e.Status == gloo.Lost {
		b.l.h.Watch.Rest("find out why a connection broke")
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

// failedRank is the error of the lowest rank that has one of its own; that rank reports it.
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

// note describes in the file of the world in hand on which network its hosts are, and where Gloo's threads may run.
func (l *glooLibrary) note(ranks []glooRank) {
	const most = 64
	var hosts []string
	l.threads = nil
	for i, r := range ranks {
		text := fmt.Sprintf("%s: %s, %s (%s)", r.Host, r.Device.Interface, r.Device.Address, r.Why)
		if len(hosts) < most && !slices.ContainsFunc(hosts, func(h string) bool { return strings.HasPrefix(h, text) }) {
			hosts = append(hosts, fmt.Sprintf("%s; Gloo's thread of rank %d on CPUs %s", text, i, r.Thread))
		}
		l.threads = append(l.threads, r.Thread)
	}
	l.notes = hosts
}

// threadCPUs are where Gloo's thread of this rank may run in the world in hand; nil: where its rank may.
func (b *glooBackend) threadCPUs() []int {
	h := b.l.h
	mine, ranks := h.Ranks[h.Rank], 0
	for _, r := range b.w.Names {
		ranks += b2i(h.Ranks[r].Machine == mine.Machine)
	}
	return threadCPUs(mine.CPUs, machine.GrantedCPUs(), ranks, os.Getenv("SLURM_JOB_ID") != "")
}

// threadCPUs are where a thread of Gloo may run; nil: where its rank may, as a thread inherits it. A rank bound to a
// single CPU most likely is so by a launcher that takes a rank for one thread; torch is mostly not bound at all. Its
// thread goes where the system lets it, if that is two CPUs for each of the host's ranks: with fewer, threads only get
// into each other's way. In a job of Slurm other CPUs may be another job's.
func threadCPUs(own string, granted []int, ranks int, slurm bool) []int {
	if cpus, err := machine.ParseCPUs(own); err == nil && len(cpus) == 1 && len(granted) >= 2*ranks && !slurm {
		return granted
	}
	return nil
}

// crowded is a warning for the first host on which the two threads of each rank have less than a CPU each. threads are
// the CPUs of Gloo's, by rank.
func crowded(ranks []launch.RankFacts, threads []string) []notice.Fact {
	for _, on := range groupRanks(len(ranks), func(r int) string { return ranks[r].Machine }) {
		all := map[int]bool{}
		for _, i := range on {
			cpus, err := machine.ParseCPUs(ranks[i].CPUs + "," + threads[i])
			if err != nil {
				return nil
			}
			for _, c := range cpus {
				all[c] = true
			}
		}
		n, last := len(all), ranks[on[0]]
		if last.Quota > 0 { // a cgroup's, in CPUs of time
			n = min(n, max(1, int(math.Ceil(last.Quota-0.01))))
		}
		if n > 0 && 2*len(on) > n {
			return []notice.Fact{notice.SharedThreads{Host: last.Host, CPUs: n, Ranks: len(on)}}
		}
	}
	return nil
}

var _ Trainer = (*glooBackend)(nil)

// Progress implements Trainer: Gloo's operations block.
func (b *glooBackend) Progress() []step.Progress { return []step.Progress{step.Thread} }

// Train implements Trainer. The operations run in the second thread, and MPI's barrier in the calling one; a context
// of Gloo does not mind which thread runs its operations, as long as it is one at a time.
func (b *glooBackend) Train(c Computing, p *step.Plan) (Training, error) {
	return b.bindPlan(c.(*hostComputing), p, b.barrier)
}

// Async implements hostCall.
func (c glooCall) Async() (loop.Async, error) {
	return loop.Async{}, &bench.UnsupportedError{Cause: notice.ProgressUnsupported{
		Library: "Gloo", Has: []string{step.Thread.String()}, Why: "its operations block",
	}}
}
