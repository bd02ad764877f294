package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"unsafe"

	"busbar/gloo"
	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/stats"
	"busbar/mpi"
)

// glooPart sets rank's loop beside a bare C++ loop in one process, and whole launches beside torch.distributed's.
func glooPart(c config) error {
	if _, err := os.Stat(c.bareGloo()); err != nil {
		fmt.Fprintln(c.out, "Not looked at: there is no Gloo here (apt-get install libgloo-dev).")
		return nil
	}
	fmt.Fprintln(c.out, "np 2, all_reduce of float32 around the ring, out of place, on the loopback interface; the bare "+
		"C++ loop has a context of its own")
	fmt.Fprintln(c.out, "on the same libgloo and takes turns with busbar's on the same buffers, after the same barrier. "+
		"Targets: upper end at most 1.02 back to")
	fmt.Fprintln(c.out, "back, 1.05 and a clock reading in latency mode.")
	fmt.Fprintln(c.out)
	if err := c.selves(2, "gloo"); err != nil {
		return err
	}
	return torchTable(c)
}

func (c config) bareGloo() string { return filepath.Join(c.top, "lib", "busbar-bare-gloo.so") }

// bareGlooBatch is struct bare_batch of gloo/bare/bare.cc.
type bareGlooBatch struct {
	bareBatch
	sync        loop.Step
	syncContext unsafe.Pointer
	rank, size  int64
	store       [256]byte
}

// glooRank is one rank with a context of Gloo's, made as rank makes it.
type glooRank struct {
	mpi     *mpi.MPI
	world   *mpi.Comm
	barrier loop.Steps
	context *gloo.Context
	bare    string
	store   string // a folder, where the bare loops meet
}

func (c config) joinGloo() (g *glooRank, err error) {
	g = &glooRank{bare: c.bareGloo()}
	if g.mpi, err = c.joinMPI(); err != nil {
		return nil, err
	}
	g.world = g.mpi.World()
	if g.barrier, err = barrier(g.world); err != nil {
		return nil, err
	}
	library, err := gloo.Load(filepath.Join(c.top, "lib", "busbar-gloo.so"))
	if err != nil {
		return nil, err
	}
	if g.context, err = library.NewContext(gloo.Options{Rank: g.world.Rank(), Size: g.world.Size(),
		Interface: "lo"}); err != nil {
		return nil, err
	}
	mine, err := g.context.Address()
	if err != nil {
		return nil, err
	}
	parts, err := g.world.Gatherv(mine, 0)
	if err != nil {
		return nil, err
	}
	all := make([]byte, 0, len(mine)*g.world.Size()) // the addresses of all ranks are of one length
	for _, p := range parts {
		all = append(all, p...)
	}
	all = all[:cap(all)]
	if err := g.world.Bcast(all, 0); err != nil {
		return nil, err
	}
	if err := g.context.Connect(slices.Collect(slices.Chunk(all, len(mine)))); err != nil {
		return nil, err
	}
	name := make([]byte, 200)
	if g.world.Rank() == 0 {
		if g.store, err = os.MkdirTemp("", "busbar-bench-gloo-"); err != nil {
			return nil, err
		}
		copy(name, g.store)
	}
	err = g.world.Bcast(name, 0)
	g.store = string(bytes.TrimRight(name, "\x00"))
	return g, err
}

func (g *glooRank) end() error {
	g.context.Close()
	err := g.world.Barrier()
	if g.world.Rank() == 0 {
		err = first(err, os.RemoveAll(g.store))
	}
	return first(err, g.mpi.Finalize())
}

// compareGloo is what each rank does; rank 0 prints the rows.
func compareGloo(c config) error {
	g, err := c.joinGloo()
	if err != nil {
		return err
	}
	clock := clockCost()
	if g.world.Rank() == 0 {
		fmt.Fprintf(c.out, "| size | %s\n|---:|%s\n", loopColumns, loopLine)
	}
	for _, mode := range []coll.Mode{coll.Throughput, coll.Latency} {
		for _, size := range glooSizes(c.max) {
			r, err := g.compareSize(c, mode, size)
			if err != nil {
				return err
			}
			if g.world.Rank() == 0 {
				fmt.Fprintf(c.out, "| %s | ", coll.FormatSize(size, true))
				c.loopRow(mode, r, clock)
			}
		}
	}
	return g.end()
}

// glooSizes are the messages in bytes: from 8 in steps of eight, and the largest.
func glooSizes(most int64) (sizes []int64) {
	for size := int64(8); size < most; size *= 8 {
		sizes = append(sizes, size)
	}
	return append(sizes, most)
}

func (g *glooRank) compareSize(c config, mode coll.Mode, size int64) (r ratio, err error) {
	send, recv, free, err := buffers(size)
	if err != nil {
		return r, err
	}
	defer free()
	op, err := g.context.Prepare(gloo.OpSpec{Kind: gloo.AllReduce, Type: gloo.Float32, Op: gloo.Sum, Send: send,
		Recv:  recv,
		Count: size / 4, Sync: unsafe.Pointer(g.barrier.Sync), SyncContext: g.barrier.Context})
	if err != nil {
		return r, err
	}
	defer op.Close()
	p, err := newPair(g.world, op.Steps(), g.bare, "busbar_bare_gloo", unsafe.Sizeof(bareGlooBatch{}))
	if err != nil {
		return r, err
	}
	defer p.close()
	b := (*bareGlooBatch)(unsafe.Pointer(p.batch))
	b.send, b.recv, b.count = uintptr(send), uintptr(recv), size/4
	b.sync, b.syncContext = g.barrier.Sync, g.barrier.Context
	b.rank, b.size = int64(g.world.Rank()), int64(g.world.Size())
	copy(b.store[:], g.store)
	budget := c.budget
	if mode == coll.Throughput && size < 1<<20 {
		// Four threads share two cores or more: which of them has one is another matter in every batch.
		budget *= 3
	}
	return p.alternate(mode, budget)
}

// torchSizes are the messages that torch is measured with, in bytes: each ten times the one before.
var torchSizes = []int64{1 << 20, 10 << 20, 100 << 20}

// torchRounds is how many times as many launches there are of torch's as of other programs: they differ by a tenth and
// more, and what is looked for is a fiftieth.
const torchRounds = 3

// torchPython is Debian's: its python3-torch is linked to Debian's libgloo, the one that rank uses.
const torchPython = "/usr/bin/python3"

// torchTable sets launches of rank beside launches of torch.distributed with the same library, in turns.
func torchTable(c config) error {
	if _, err := start(torchPython, "-c", "import torch.distributed"); err != nil {
		fmt.Fprintln(c.out, "\ntorch.distributed was not looked at: it is not here (apt-get install python3-torch).")
		return nil
	}
	rounds := torchRounds * c.rounds
	fmt.Fprintf(c.out, "\nWhole programs: %d launches of each in turns, np 2, all_reduce of float32 in place, back to "+
		"back; torch.distributed of python3-torch\n", rounds)
	fmt.Fprintln(c.out, "(test/torch_gloo.py), on the same libgloo and interface. A launch gives one median a size. "+
		"Target: upper end at most 1.02.")
	fmt.Fprintln(c.out, "\n| size | busbar | torch | ratio | 95 % interval | busbar's launches | torch's launches | on "+
		"target |\n|---:|---:|---:|---:|---|---|---|---|")
	if err := os.Setenv("GLOO_SOCKET_IFNAME", "lo"); err != nil { // both read it
		return err
	}
	ours, torch := map[int64][]float64{}, map[int64][]float64{}
	for i := range rounds {
		launches := []func() error{
			func() error { return c.launchGloo(i, ours) }, func() error { return c.launchTorch(i, torch) },
		}
		if i%2 == 1 {
			slices.Reverse(launches)
		}
		for _, launch := range launches {
			if err := launch(); err != nil {
				return err
			}
		}
	}
	for _, size := range torchSizes {
		if len(ours[size]) != rounds || len(torch[size]) != rounds {
			return fmt.Errorf("%d and %d times at %d bytes, wanted %d", len(ours[size]), len(torch[size]), size, rounds)
		}
		r := compare(ours[size], torch[size])
		fmt.Fprintf(c.out, "| %s | %s | %s | %.3f | %.3f – %.3f | %s | %s | %s |\n", coll.FormatSize(size, true),
			seconds(stats.Median(ours[size])),
			seconds(stats.Median(torch[size])), r.median, r.lo, r.hi, span(ours[size]), span(torch[size]), r.within(1.02, 0))
	}
	return nil
}

func (c config) launchGloo(i int, times map[int64][]float64) error {
	dir := filepath.Join(c.work, fmt.Sprintf("gloo-%d", i))
	_, err := c.mpirun(2, c.program("rank"), "--quiet", "--backend", "gloo", "--collective", "all_reduce", "--placement",
		"in",
		"-b", fmt.Sprint(torchSizes[0]), "-e", fmt.Sprint(torchSizes[len(torchSizes)-1]), "-f", "10", "--budget", "1s", "-c",
		"0", "--out", dir)
	if err != nil {
		return err
	}
	return recordTimes(dir, times)
}

func (c config) launchTorch(i int, times map[int64][]float64) error {
	args := []string{filepath.Join(c.top, "test", "torch_gloo.py"), filepath.Join(c.work, fmt.Sprintf("torch-%d", i)), "1"}
	for _, size := range torchSizes {
		args = append(args, fmt.Sprint(size))
	}
	l, err := c.mpirun(2, torchPython, args...)
	if err != nil {
		return err
	}
	if err := readTimes(l.stdout, times); err != nil {
		return fmt.Errorf("torch_gloo.py: %w", err)
	}
	return nil
}
