//go:build cgo

package mpi

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"busbar/internal/coll"
	"busbar/internal/loop"
	"busbar/internal/operation"
)

func TestComm(t *testing.T) { run(t, "comm", worlds...) }

func init() { workers["comm"] = workComm }

func workComm(m *MPI) error {
	for _, check := range []func(*Comm) error{data, splits, sleeping, clocks, mistakes, signals} {
		if err := check(m.World()); err != nil {
			return err
		}
	}
	return nil
}

func data(c *Comm) error {
	text := []byte("nothing here")
	if c.Rank() == 1 {
		copy(text, "from rank 01")
	}
	if err := c.Bcast(text, 1); err != nil || string(text) != "from rank 01" {
		return fmt.Errorf("bcast: %q, %v", text, err)
	}
	all, err := c.Gather([]byte{byte(c.Rank()), 7}, 1)
	ragged, err2 := c.Gatherv(make([]byte, 3*c.Rank(), 100), 1)
	if err != nil || err2 != nil || (c.Rank() != 1) != (all == nil) || (c.Rank() != 1) != (ragged == nil) {
		return fmt.Errorf("gather: %v %v, %v %v", all, err, ragged, err2)
	}
	for r := range all {
		if !slices.Equal(all[r], []byte{byte(r), 7}) || len(ragged[r]) != 3*r {
			return fmt.Errorf("gathered %v, %v", all, ragged)
		}
	}
	if err := errors.Join(c.Bcast(nil, 0), c.Sum(nil)); err != nil {
		return err
	}
	if _, err := c.Gatherv(nil, 0); err != nil {
		return err
	}
	n := float64(c.Size())
	sum, most := []float64{float64(c.Rank()), 1}, []float64{float64(c.Rank()), 1}
	if err := errors.Join(c.Sum(sum), c.Max(most)); err != nil || !slices.Equal(sum, []float64{n * (n - 1) / 2, n}) ||
		!slices.Equal(most, []float64{n - 1, 1}) {
		return fmt.Errorf("sum %v, max %v: %w", sum, most, err)
	}
	return c.Barrier()
}

func splits(c *Comm) error {
	color := 0
	if c.Rank() == 0 {
		color = -1
	}
	sub, err := c.Split(color, -c.Rank()) // all but rank 0, in reverse
	if err != nil || (sub == nil) != (c.Rank() == 0) {
		return fmt.Errorf("split: %v, %v", sub, err)
	}
	if sub != nil {
		x := []float64{1}
		err := sub.Sum(x)
		if err != nil || sub.Size() != c.Size()-1 || sub.Rank() != c.Size()-1-c.Rank() || x[0] != float64(c.Size()-1) {
			return fmt.Errorf("split: rank %d of %d, sum %v, %v", sub.Rank(), sub.Size(), x, err)
		}
		var mine *Error
		if err := sub.Bcast(make([]byte, 1), 99); !errors.As(err, &mine) {
			return fmt.Errorf("a bad root in a sub-world: %v", err)
		}
	}
	return errors.Join(sub.Free(), c.Free(), c.Barrier())
}

// sleeping lets the others wait for rank 0: none may return early, and they must sleep meanwhile.
func sleeping(c *Comm) error {
	cpu := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(1, &u) // RUSAGE_THREAD
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	for _, pause := range []time.Duration{5 * time.Millisecond, 0} {
		came, used := []float64{0}, cpu()
		if c.Rank() == 0 {
			time.Sleep(200 * time.Millisecond)
			came[0] = float64(loop.Now())
		}
		if err := c.BarrierSleeping(pause); err != nil {
			return err
		}
		left := float64(loop.Now())
		used = cpu() - used
		if err := c.Max(came); err != nil {
			return err
		}
		if left < came[0] {
			return fmt.Errorf("left the barrier %g ns before rank 0 came", came[0]-left)
		}
		if pause > 0 && used > 100*time.Millisecond {
			return fmt.Errorf("used %s of CPU time while sleeping", used)
		}
	}
	return nil
}

func clocks(c *Comm) error {
	if c.Rank() > 1 {
		return c.Barrier()
	}
	offset, uncertainty, err := c.ClockOffset(1-c.Rank(), 50)
	if err != nil || uncertainty <= 0 || math.Abs(offset) > uncertainty+1e-9 {
		return fmt.Errorf("one clock, but an offset of %g ± %g s, %v", offset, uncertainty, err)
	}
	if offset, uncertainty, err := c.ClockOffset(c.Rank(), 50); offset != 0 || uncertainty != 0 || err != nil {
		return fmt.Errorf("offset to oneself: %g ± %g s, %v", offset, uncertainty, err)
	}
	return c.Barrier()
}

// mistakes are errors that MPI detects and busbar returns.
func mistakes(c *Comm) error {
	b, err := loop.AllocBuffer(64)
	if err != nil {
		return err
	}
	for i, k := range []coll.Case{
		{Collective: coll.Broadcast, Type: coll.Float32, Placement: coll.InPlace, Root: 99, Count: 1},
		{Collective: coll.AllGather, Type: coll.Int8, Count: -1},
	} {
		name := []string{"MPI_ERR_ROOT", "MPI_ERR_COUNT"}[i]
		o, err := c.Prepare(operation.Host{Spec: operation.Spec{Case: k}, Send: b.Pointer(),
			Recv: unsafe.Add(b.Pointer(), 32)})
		if err != nil {
			return err
		}
		var e *Error
		if err := issueSteps(o.Steps(), 3, o.Error); !errors.As(err, &e) || e.Name != name || e.Text == "" ||
			!strings.Contains(e.Error(), functions[k.Collective]) {
			return fmt.Errorf("%s: %w", k, err)
		}
		if err := errors.Join(o.Close(), o.Close()); err != nil {
			return err
		}
	}
	return errors.Join(b.Free(), b.Free())
}

// signals checks that Go's handlers are still installed: crashes become panics, and signals arrive.
func signals(c *Comm) error {
	recovered := func() (r any) {
		defer func() { r = recover() }()
		var p *int
		*p = 1
		return nil
	}()
	if recovered == nil {
		return errors.New("a nil dereference did nothing")
	}
	arrived := make(chan os.Signal, 1)
	for _, s := range []syscall.Signal{syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGTERM, syscall.SIGINT,
		syscall.SIGHUP, syscall.SIGCHLD} {
		signal.Notify(arrived, s)
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			return err
		}
		select {
		case got := <-arrived:
			if got != s {
				return fmt.Errorf("sent %s, got %s", s, got)
			}
		case <-time.After(10 * time.Second):
			return fmt.Errorf("%s did not arrive", s)
		}
		signal.Reset(s)
	}
	return c.Barrier()
}
