package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/hang"
	"busbar/rank/launch"
	"busbar/rank/ledger"
	"busbar/rank/preflight"
	"busbar/rank/timeout"
)

// ending ends the launch: normally, or from any goroutine after an error, a hang, a signal or the exit of another rank.
type ending struct {
	stderr io.Writer
	rank   int
	world  launch.Comm        // nil before the ranks are connected
	ranks  []launch.RankFacts // empty before the ranks are compared

	launched atomic.Pointer[launch.Launch] // nil before the ranks are connected
	server   *launch.ControlServer         // on rank 0; nil without a side channel
	client   *launch.Connection            // on the other ranks
	peers    atomic.Pointer[hang.Peers]    // nil before the ranks are compared
	shared   atomic.Pointer[string]        // path of the shared memory until it is unlinked

	watch      *hang.Watchdog
	ledger     *ledger.Ledger
	checks     *preflight.Checklist // rank 0 with --preflight
	interrupts backend.Interrupts
	diagnose   func() string // report of the libraries on a hang
	state      struct {
		stopAsked atomic.Bool // stop after the current case
		signalled atomic.Bool // rank 0 received SIGTERM or SIGINT
		parting   atomic.Bool // the launch ends normally
		aborting  atomic.Bool // rank 0 ends the launch: ignore later failures
		naming    atomic.Bool // rank 0 identifies the ranks that hang
	}
}

// placed returns the place of this rank.
func (e *ending) placed() notice.PlacedRank { return notice.PlacedRank{Rank: e.rank, Host: hostName()} }

// causeText returns the text of a cause for stderr, with the stack of a crash.
func causeText(cause notice.Fact) string {
	text := notice.Message(cause)
	if c, is := cause.(notice.RankCrashed); is {
		text += "\n" + c.Stack
	}
	return text
}

// stop ends the whole job because of a failure of this rank. It does not return.
func (e *ending) stop(code int, status result.Status, cause notice.Fact) {
	if e.rank == 0 {
		e.stopAll(code, status, cause)
	}
	if e.state.aborting.Load() {
		time.Sleep(timeout.Abort)
		os.Exit(exit.OK)
	}
	if e.client.Send(launch.Event{Kind: "failed", Cause: notice.Kept{Fact: cause}, Code: code}) == nil {
		time.Sleep(timeout.Abort) // rank 0 closes its files and ends this rank
	}
	fmt.Fprintf(e.stderr, "rank: %s\n", causeText(cause))
	e.die(code)
}

// stopAll implements stop on rank 0: it closes the files, reports the reason and ends the other ranks.
func (e *ending) stopAll(code int, status result.Status, cause notice.Fact) {
	paths := e.ledger.Paths()
	if !e.ledger.Finish(result.Aborted, cause, code, status) {
		e.yield(code) // another goroutine ends the run
	}
	fmt.Fprintf(e.stderr, "rank: %s\n", causeText(cause))
	e.checks.CutShort(cause)
	if len(paths) > 0 && !e.ledger.Reported() {
		fmt.Fprintf(e.stderr, "rank: results are kept%s; --resume continues the run\n", inFiles(paths))
	}
	e.peers.Load().AwaitOtherHosts()
	e.die(code)
}

// finalize disconnects the ranks normally. Collective.
func (e *ending) finalize() {
	e.state.parting.Store(true)
	if err := (*e.launched.Load()).Finalize(); err != nil {
		fmt.Fprintf(e.stderr, "rank: rank %d on %s: %v\n", e.rank, hostName(), err)
	}
	// Last: until here a rank that hangs can be queried.
	if e.server != nil {
		e.server.Close()
	}
	e.client.Close()
}

// die ends the whole job. MPI_Abort ends the other ranks; if it fails, a message of rank 0 does. It does not return.
func (e *ending) die(code int) {
	if e.server != nil {
		go e.server.Broadcast(launch.Event{Kind: eventAbort})
	}
	e.unlinkShared()
	time.Sleep(timeout.PassOn)
	if l := e.launched.Load(); l != nil {
		go func() {
			if (*l).Connected() {
				(*l).Abort(code)
			}
		}()
		if (*l).Connected() {
			time.Sleep(timeout.Abort)
		}
	}
	os.Exit(code)
}

// yield waits for the goroutine that ends the run, and ends this process if that fails. It does not return.
func (e *ending) yield(code int) {
	time.Sleep(timeout.CloseFiles + timeout.Abort)
	e.die(code)
}
