package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// signalError is the signal that ended the program.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string { return "stopped by a signal: " + e.signal.String() }

// untilSignal is a context that ends with the first SIGINT or SIGTERM, a *signalError being its cause. A second one
// ends the program at once, also where it waits for a disk or a pipe.
func untilSignal() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		s, _ := (<-signals).(syscall.Signal)
		signal.Stop(signals)
		cancel(&signalError{s})
	}()
	return ctx
}
