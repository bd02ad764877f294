//go:build cgo

package gloo

import (
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"busbar/internal/loop"
	"busbar/internal/needs"
)

// library opens the shim that make builds.
func library(t *testing.T) *Library {
	t.Helper()
	path := filepath.Join("..", "lib", shimFile)
	needs.File(t, path, "make gloo-shim builds it where libgloo-dev is")
	l, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// group runs work on n ranks, each with its own context and thread in this process, over the loopback interface. A
// rank that fails interrupts its context, so that the others stop too. It returns every rank's error.
func group(t *testing.T, n int, o Options, work func(*Context) error) []error {
	t.Helper()
	o.Interface = "lo"
	return groupOf(t, n, func(int) (Options, error) { return o, nil }, work)
}

// groupOf is group with options per rank, from begin on the rank's thread.
func groupOf(t *testing.T, n int, begin func(rank int) (Options, error), work func(*Context) error) []error {
	t.Helper()
	l := library(t)
	var exchanged, connected, done, ended sync.WaitGroup
	exchanged.Add(n)
	connected.Add(n)
	done.Add(n)
	ended.Add(n)
	addresses, failures := make([][]byte, n), make([]error, n)
	for rank := range n {
		go func() {
			defer ended.Done()
			runtime.LockOSThread()
			o, err := begin(rank)
			o.Rank, o.Size = rank, n
			var c *Context
			if err == nil {
				c, err = l.NewContext(o)
			}
			if err == nil {
				addresses[rank], err = c.Address()
			}
			exchanged.Done()
			exchanged.Wait()
			if err == nil {
				err = c.Connect(addresses)
			}
			// A rank that finishes at once must not close a connection that another rank still reads.
			connected.Done()
			connected.Wait()
			if err == nil {
				if err = work(c); err != nil {
					c.Interrupt()
				}
			}
			failures[rank] = err
			done.Done()
			done.Wait()
			if c != nil {
				c.Close()
			}
		}()
	}
	all := make(chan struct{})
	go func() { ended.Wait(); close(all) }()
	select {
	case <-all:
	case <-time.After(time.Minute):
		t.Fatal("some rank does not come back")
	}
	return failures
}

// must fails the test with every rank's error.
func must(t *testing.T, failures []error) {
	t.Helper()
	for rank, err := range failures {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// issue runs the operation n times.
func issue(o *Operation, n int) error {
	l, err := loop.New(o.Steps(), 1)
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = l.Run(1, n)
	if step := new(loop.StepError); errors.As(err, &step) {
		return o.Error(step.Code)
	}
	return err
}
