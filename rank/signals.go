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

// A launcher gives its ranks about a second: Open MPI 4.1 sends SIGKILL one second after SIGTERM. So SIGTERM and SIGINT
// end the files at once in this goroutine, without MPI_Finalize. SIGUSR1 (time limit near, spot notice) first completes
// the current case.
func (e *ending) listen() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGUSR1)
	go func() {
		for s := range signals {
			e.onSignal(s.(syscall.Signal))
		}
	}()
}

// signalDelay is the time in which rank 0 detects that another rank died: launchers then send SIGTERM to the other
// ranks.
const signalDelay = 60 * time.Millisecond

func (e *ending) onSignal(s syscall.Signal) {
	if e.rank != 0 {
		_ = e.client.Send(launch.Event{Kind: "signal", Code: int(s)})
		if s != syscall.SIGUSR1 {
			time.Sleep(700 * time.Millisecond) // rank 0 ends the files
			os.Exit(e.ownCode(exit.Interrupted + int(s)))
		}
		return
	}
	if s == syscall.SIGUSR1 {
		e.state.stopAsked.Store(true)
		return
	}
	e.state.signalled.Store(true)
	time.Sleep(signalDelay)
	e.interrupted(s, nil)
}

var signalNames = map[syscall.Signal]string{
	syscall.SIGTERM: "SIGTERM", syscall.SIGINT: "SIGINT", syscall.SIGUSR1: "SIGUSR1",
}

// interrupted ends the run after SIGTERM or SIGINT, here (nil) or on another rank. It does not return.
func (e *ending) interrupted(s syscall.Signal, other *launch.RankFacts) {
	if hang := e.peers.Load().Reason(); hang != nil { // a stopped rank was continued only to end
		e.stopAll(exit.Hang, result.Timeout, hang)
	}
	code := exit.Interrupted + int(s)
	cause := notice.RunSignalled{Signal: signalNames[s]}
	if other != nil {
		cause.Rank, cause.Host = &other.Rank, other.Host
	}
	paths := e.ledger.Paths()
	if e.ledger.Finish(result.Interrupted, cause, code, "") {
		fmt.Fprintf(
			e.stderr,
			"rank: interrupted by %s; results are kept%s\n",
			notice.Message(cause),
			inFiles(paths),
		)
		fmt.Fprintln(e.stderr, "rank: repeat the command with --resume to continue")
		// Without MPI's launcher nobody signals the others.
		if l := e.launched.Load(); other != nil || l != nil && launch.MPIOf(*l) == nil {
			e.die(code)
		}
		os.Exit(code)
	}
	e.yield(code)
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
