//go:build cgo

package gloo

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/loop"

	"github.com/shoenig/test"
)

// groupWith is group, each rank with an operation in place over a buffer of its own.
func groupWith(t *testing.T, n int, o Options, collective coll.Collective, bytes int64,
	work func(*Context, *Operation) error) {
	t.Helper()
	must(t, group(t, n, o, func(c *Context) error {
		b, err := loop.AllocBuffer(bytes * int64(c.size))
		if err != nil {
			return err
		}
		defer b.Free()
		op := coll.RedOp(0)
		if collective.Reduces() {
			op = coll.Sum
		}
		o, err := c.Prepare(inPlace(collective, coll.UInt8, op, b.Pointer(), bytes))
		if err != nil {
			return err
		}
		defer o.Close()
		return work(c, o)
	}))
}

// expect checks that an operation failed as expected.
func expect(err error, status Status, peer int, words ...string) error {
	var e *Error
	if !errors.As(err, &e) || e.Status != status || e.Peer != peer {
		return fmt.Errorf("%#v, want status %d and peer %d", err, status, peer)
	}
	for _, w := range words {
		if !strings.Contains(e.Error(), w) {
			return fmt.Errorf("%q does not contain %q", e.Error(), w)
		}
	}
	return nil
}

// A rank that exits is named, between operations or while the others wait for it, and the text is kept.
func TestLostRank(t *testing.T) {
	for _, kind := range []coll.Collective{coll.AllReduce, coll.ReduceScatter, coll.Broadcast} {
		t.Run(kind.String(), func(t *testing.T) {
			groupWith(t, 2, Options{}, kind, 1<<16, func(c *Context, o *Operation) error {
				if err := issue(o, 3); err != nil {
					return err
				}
				if c.rank == 0 {
					time.Sleep(50 * time.Millisecond)
					c.Interrupt()
					return nil
				}
				failed := issue(o, 1000)
				if err := expect(failed, Lost, 0, "lost the connection to rank 0"); err != nil {
					return err
				}
				return expect(issue(o, 1), Lost, 0, failed.Error())
			})
		})
	}
}

// The connection breaks in the middle of a message: no rank may wait for the rest.
func TestLostRankDuringOperation(t *testing.T) {
	var halfway atomic.Bool
	groupWith(t, 2, Options{}, coll.Broadcast, 256<<20, func(c *Context, o *Operation) error {
		if c.rank == 0 {
			go func() {
				time.Sleep(40 * time.Millisecond)
				halfway.Store(true)
				c.Interrupt()
			}()
			return expect(issue(o, 1000), Interrupted, -1)
		}
		failed := issue(o, 1000)
		if !halfway.Load() {
			return fmt.Errorf("failed before the connection broke: %w", failed)
		}
		return expect(failed, Lost, 0)
	})
}

func TestInterrupt(t *testing.T) {
	begin := time.Now()
	groupWith(t, 3, Options{}, coll.AllReduce, 1<<10, func(c *Context, o *Operation) error {
		switch c.rank {
		case 2: // never comes
			time.Sleep(200 * time.Millisecond)
			return nil
		case 1:
			time.AfterFunc(50*time.Millisecond, c.Interrupt)
			if err := expect(issue(o, 1), Interrupted, -1, "interrupted"); err != nil {
				return err
			}
			return expect(issue(o, 1), Interrupted, -1)
		}
		return expect(issue(o, 1), Lost, 1)
	})
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("leaving took %s", d)
	}
}

func TestTimeout(t *testing.T) {
	groupWith(t, 2, Options{Timeout: 300 * time.Millisecond}, coll.ReduceScatter, 1<<10, func(c *Context,
		o *Operation) error {
		if c.rank == 1 {
			time.Sleep(time.Second)
			return nil
		}
		return expect(issue(o, 1), TimedOut, 1, "timed out waiting for rank 1", "300ms")
	})
}

func TestConnectTimeout(t *testing.T) {
	l := library(t)
	c, err := l.NewContext(Options{Rank: 0, Size: 2, Interface: "lo", ConnectTimeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	other, err := l.NewContext(Options{Rank: 1, Size: 2, Interface: "lo"})
	if err != nil {
		t.Fatal(err)
	}
	a, err1 := c.Address()
	b, err2 := other.Address()
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	other.Close() // no process listens, and no rank connects
	err = c.Connect([][]byte{a, b})
	var e *Error
	if !errors.As(err, &e) || e.Peer != 1 || e.Status != TimedOut && e.Status != Lost {
		t.Errorf("%v, want a failure that names rank 1", err)
	}
}

func TestContextErrors(t *testing.T) {
	l := library(t)
	for want, o := range map[string]Options{
		"interface nowhere0":            {Size: 1, Interface: "nowhere0"},
		"address 203.0.113.7":           {Size: 1, Address: "203.0.113.7"},
		"binding Gloo's thread":         {Size: 1, Interface: "lo", CPUs: []int{1023}},
		"beyond what sched_setaffinity": {Size: 1, Interface: "lo", CPUs: []int{0, 1 << 20}},
	} {
		c, err := l.NewContext(o)
		if err == nil {
			c.Close()
		}
		test.ErrorContains(t, err, want, test.Sprint(o))
	}
}

func TestFacts(t *testing.T) {
	must(t, group(t, 2, Options{CPUs: []int{0}}, func(c *Context) error {
		if d := c.Device(); d.Interface != "lo" || d.Address != "127.0.0.1" || c.ThreadCPUs() != "0" {
			return fmt.Errorf("device %+v, thread on CPUs %s", d, c.ThreadCPUs())
		}
		c.Close()
		c.Close()
		c.Interrupt()
		return nil
	}))
	if i := library(t).Info(); !strings.Contains(i.Path, "libgloo.so") || i.Version == "" || i.BuildID == "" {
		t.Errorf("%+v", i)
	}
}
