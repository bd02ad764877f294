package loop

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// pairs connects a first rank with n others.
func pairs(t *testing.T, n int) (first, others []int) {
	t.Helper()
	for range n {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = errors.Join(syscall.Close(fds[0]), syscall.Close(fds[1])) })
		first, others = append(first, fds[0]), append(others, fds[1])
	}
	return first, others
}

// pass runs n barriers of one rank.
func pass(sockets []int, first bool, n int) error {
	b, err := NewSocketBarrier(sockets, first, time.Millisecond)
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
	first, others := pairs(t, 3)
	var wait sync.WaitGroup
	var come atomic.Int32
	for round := range int32(20) {
		for i := range 4 {
			wait.Go(func() {
				sockets := first
				if i > 0 {
					sockets = others[i-1 : i]
				}
				come.Add(1)
				if err := pass(sockets, i == 0, 1); err != nil || come.Load() < 4*(round+1) {
					t.Errorf("%d have come, %v", come.Load(), err)
				}
			})
		}
		wait.Wait()
	}
}

func TestSocketBarrierClosed(t *testing.T) {
	first, others := pairs(t, 1)
	if err := syscall.Shutdown(others[0], syscall.SHUT_RDWR); err != nil {
		t.Fatal(err)
	}
	var step *StepError
	if err := pass(first, true, 1); !errors.As(err, &step) || syscall.Errno(step.Code) != syscall.ECONNRESET {
		t.Error(err)
	}
}
