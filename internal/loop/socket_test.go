package loop

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/shoenig/test/must"
)

// member is a rank of a tree: its sockets to its parent and its children.
type member struct {
	parent   int
	children []int
}

// tree connects ranks: parents[r] is the parent of rank r, that of rank 0 is -1.
func tree(t *testing.T, parents ...int) []member {
	t.Helper()
	members := make([]member, len(parents))
	members[0].parent = -1
	for r, p := range parents[1:] {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		must.NoError(t, err)
		t.Cleanup(func() { _ = errors.Join(syscall.Close(fds[0]), syscall.Close(fds[1])) })
		members[r+1].parent = fds[0]
		members[p].children = append(members[p].children, fds[1])
	}
	return members
}

// pass runs n barriers of one rank.
func pass(m member, n int) error {
	b, err := NewSocketBarrier(m.parent, m.children, time.Millisecond)
	if err != nil {
		return err
	}
	defer b.Free()
	l, err := New(Steps{Issue: b.Step(), Context: b.Context()}, n)
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = l.Run(n, 1)
	return err
}

// No rank leaves a barrier before all have come.
func TestSocketBarrier(t *testing.T) {
	for name, parents := range map[string][]int{"star": {-1, 0, 0, 0}, "tree": {-1, 0, 0, 1, 1, 2}} {
		t.Run(name, func(t *testing.T) {
			members := tree(t, parents...)
			var wait sync.WaitGroup
			var come atomic.Int32
			for round := range int32(20) {
				for _, m := range members {
					wait.Go(func() {
						come.Add(1)
						if err := pass(m, 1); err != nil || come.Load() < int32(len(members))*(round+1) {
							t.Errorf("%d have come, %v", come.Load(), err)
						}
					})
				}
				wait.Wait()
			}
		})
	}
}

func TestSocketBarrierClosed(t *testing.T) {
	members := tree(t, -1, 0)
	must.NoError(t, syscall.Shutdown(members[1].parent, syscall.SHUT_RDWR))
	var step *StepError
	if err := pass(members[0], 1); !errors.As(err, &step) || syscall.Errno(step.Code) != syscall.ECONNRESET {
		t.Error(err)
	}
}
