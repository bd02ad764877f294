package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/rank/launch"
)

// A launcher that is told to stop gives its ranks about a second: Open MPI 4.1 sends SIGTERM and a second later
// SIGKILL. So TERM and INT end the files at once, in this goroutine, and nothing is finalized. USR1 (time limit near,
// spot notice) lets the case in hand end first.
func (j *job) listen() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1)
	go func() {
		for s := range signals {
			j.onSignal(s.(syscall.Signal))
		}
	}()
}

// quarrel is how long rank 0 waits to learn whether a signal came because another rank had died: a launcher sends
// SIGTERM to the ranks that are left.
const quarrel = 60 * time.Millisecond

func (j *job) onSignal(s syscall.Signal) {
	if j.rank != 0 {
		_ = j.spoke.Send(launch.Event{Kind: "signal", Code: int(s)})
		if s != syscall.SIGUSR1 {
			time.Sleep(700 * time.Millisecond) // rank 0 ends the files
			os.Exit(0)
		}
		return
	}
	if s == syscall.SIGUSR1 {
		j.askedToStop.Store(true)
		return
	}
	j.signalled.Store(true)
	time.Sleep(quarrel)
	j.interrupted(s, nil)
}

var signalNames = map[syscall.Signal]string{
	syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT", syscall.SIGUSR1: "SIGUSR1",
}

// interrupted ends the run after SIGTERM or SIGINT, here (nil) or on another rank. It does not return.
func (j *job) interrupted(s syscall.Signal, other *launch.RankFacts) {
	if hang := j.look.Load().Reason(); hang != nil { // this rank was stopped, and is woken up to be told to end
		j.stopAll(exit.Hang, result.Timeout, hang)
	}
	code := exit.Interrupted + int(s)
	cause := notice.RunSignalled{Signal: signalNames[s]}
	if other != nil {
		cause.Rank, cause.Host = &other.Rank, other.Host
	}
	paths := j.ledger.Paths()
	if j.ledger.Finish(result.Interrupted, cause, code, "") {
		fmt.Fprintf(j.stderr, "rank: interrupted by %s; what was measured is kept%s\n", notice.Message(cause), inFiles(paths))
		fmt.Fprintln(j.stderr, "rank: the same command with --resume continues it")
		if other != nil {
			j.die(code)
		}
		os.Exit(code)
	}
	j.yield(code)
}

func inFiles(paths []string) string {
	switch len(paths) {
	case 0:
		return ""
	case 1:
		return " in " + paths[0]
	}
	return fmt.Sprintf(" in %s and %d more", paths[0], len(paths)-1)
}
