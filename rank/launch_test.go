package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"busbar/internal/loop"
	"busbar/rank/launch"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

// 130 ranks are three blocks of the tree. The system tests run the suite over MPI.
func TestTCPConforms(t *testing.T) {
	for _, n := range []int{1, 2, 5, 130} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			socket, err := net.Listen("tcp", "127.0.0.1:0")
			must.NoError(t, err)
			port := socket.Addr().(*net.TCPAddr).Port
			must.NoError(t, socket.Close())
			errs := make([]error, n)
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			var wait sync.WaitGroup
			for r := range n {
				m := &launch.Meeting{Source: "a test", Rank: r, Size: n, LocalRank: r, LocalSize: n, Host: "127.0.0.1",
					HostFrom: "MASTER_ADDR", Port: port, Identity: t.Name()}
				wait.Go(func() {
					l, err := launch.ConnectTCP(ctx, m, nil, "build", io.Discard)
					if err == nil {
						err = errors.Join(useComm(l.World()), l.Finalize())
					}
					errs[r] = err
				})
			}
			wait.Wait()
			test.NoError(t, errors.Join(errs...))
		})
	}
}

// useComm is the conformance suite of everything that connects ranks. It uses every method of a world and of groups of
// it, and returns the first that is wrong. The ranks are on one host.
// Collective.
func useComm(c launch.Comm) error {
	for _, root := range []int{0, c.Size() / 2, c.Size() - 1} {
		if err := useRoot(c, root); err != nil {
			return err
		}
	}
	if err := errors.Join(useSum(c), useClock(c), useGroups(c)); err != nil {
		return err
	}
	return errors.Join(useBarrier(c),
		waitsForAll(c, c.Barrier), waitsForAll(c, func() error { return c.BarrierSleeping(time.Millisecond) }),
		waitsForAll(c, func() error {
			return launch.BarrierWhile(c, func() error { time.Sleep(time.Millisecond); return nil })
		}))
}

// waitsForAll requires that no rank leaves a barrier before the last has come: each rank comes late once.
func waitsForAll(c launch.Comm, barrier func() error) error {
	for _, late := range []int{0, c.Size() / 2, c.Size() - 1} {
		if c.Rank() == late {
			time.Sleep(20 * time.Millisecond)
		}
		came := loop.Now()
		if err := barrier(); err != nil {
			return err
		}
		left := loop.Now()
		most := []float64{float64(came), -float64(left)} // ns; the clock is that of the host
		if err := c.Max(most); err != nil {
			return err
		}
		if most[0] > -most[1] {
			return fmt.Errorf("a rank left the barrier %g ns before the last came, rank %d", most[0]+most[1], late)
		}
	}
	return nil
}

func useRoot(c launch.Comm, root int) error {
	data := []byte{0, 0}
	if c.Rank() == root {
		data = []byte{byte(root), 7}
	}
	if err := c.Bcast(data, root); err != nil || data[0] != byte(root) || data[1] != 7 {
		return fmt.Errorf("broadcast of %d: %v, error %v", root, data, err)
	}
	same, err := c.Gather([]byte{byte(c.Rank())}, root)
	if err != nil || (same != nil) != (c.Rank() == root) {
		return fmt.Errorf("gather at %d: %v, error %v", root, same, err)
	}
	all, err := c.Gatherv(make([]byte, c.Rank()), root)
	if err != nil || (all != nil) != (c.Rank() == root) {
		return fmt.Errorf("gather of lengths at %d: %v, error %v", root, all, err)
	}
	for r, part := range all {
		if len(part) != r || len(same[r]) != 1 || same[r][0] != byte(r) {
			return fmt.Errorf("gather of rank %d: %v, %d bytes", r, same[r], len(part))
		}
	}
	return nil
}

// useSum compares sum and maximum with n(n-1)/2, n and 0.
func useSum(c launch.Comm) error {
	n := float64(c.Size())
	sum, most := []float64{float64(c.Rank()), 1}, []float64{float64(-c.Rank())}
	err := errors.Join(c.Sum(sum), c.Max(most))
	if err != nil || sum[0] != n*(n-1)/2 || sum[1] != n || most[0] != 0 {
		return fmt.Errorf("sum %v, max %v, error %v", sum, most, err)
	}
	return nil
}

// useClock compares the clocks of the first and the last rank, which are on one host.
func useClock(c launch.Comm) error {
	last := c.Size() - 1
	if last == 0 || c.Rank() != 0 && c.Rank() != last {
		return nil
	}
	offset, uncertainty, err := c.ClockOffset(last-c.Rank(), 20)
	if err != nil || uncertainty <= 0 || offset > uncertainty+1e-6 || offset < -uncertainty-1e-6 {
		return fmt.Errorf("clock: %g ± %g, error %v", offset, uncertainty, err)
	}
	return nil
}

// useGroups splits the ranks into even and odd ones, in reverse order. The last of more than two is in no group.
func useGroups(c launch.Comm) error {
	color, members := c.Rank()%2, []int(nil)
	for r := c.Size() - 1; r >= 0; r-- {
		if r%2 == color && (c.Size() <= 2 || r != c.Size()-1) {
			members = append(members, r)
		}
	}
	if c.Size() > 2 && c.Rank() == c.Size()-1 {
		color = -1
	}
	group, err := c.Split(color, -c.Rank())
	if err != nil {
		return err
	}
	if color < 0 {
		if group != nil {
			return errors.New("a group for a negative color")
		}
		return nil
	}
	if group.Size() != len(members) || members[group.Rank()] != c.Rank() {
		return fmt.Errorf("rank %d of %d in the group of %v", group.Rank(), group.Size(), members)
	}
	return errors.Join(useSum(group), useRoot(group, group.Size()-1), useBarrier(group), group.Free())
}

// useBarrier runs the barrier of the timed loop.
func useBarrier(c launch.Comm) error {
	b, err := c.(launch.LoopBarrier).NewBarrier()
	if err != nil {
		return err
	}
	l, err := loop.New(loop.Steps{Issue: b.Step, Context: b.Context}, 3)
	if err != nil {
		return err
	}
	defer l.Close()
	run := func() error {
		_, err := l.Run(3, 5)
		return err
	}
	return errors.Join(waitsForAll(c, run), b.Close())
}
