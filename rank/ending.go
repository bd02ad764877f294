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

// ending ends the launch: in good order, or from any goroutine after an error, a hang, a signal or the end of another
// rank.
type ending struct {
	stderr io.Writer
	rank   int
	world  launch.Comm        // nil before the ranks are connected
	ranks  []launch.RankFacts // empty until the ranks know each other

	launched atomic.Pointer[launch.Launch] // nil before the ranks are connected
	server   *launch.ControlServer         // on rank 0; nil: there is no control channel
	client   *launch.Connection            // on the other ranks
	peers    atomic.Pointer[hang.Peers]    // nil until the ranks know each other
	shared   atomic.Pointer[string]        // path of the shared memory while it has a name

	watch      *hang.Watchdog
	ledger     *ledger.Ledger
	checks     *preflight.Checklist // rank 0 with --preflight
	interrupts backend.Interrupts
	diagnose   func() string // what the libraries report of a hang
	state      struct {
		stopAsked atomic.Bool // after the case in hand
		signalled atomic.Bool // rank 0 got SIGTERM or SIGINT itself
		parting   atomic.Bool // the launch is ending in good order
		aborting  atomic.Bool // rank 0 ends the launch: what fails now fails because of that
		naming    atomic.Bool // rank 0 is finding out which ranks hang
	}
}

// placed is this rank.
func (e *ending) placed() notice.PlacedRank { return notice.PlacedRank{Rank: e.rank, Host: hostName()} }

// causeText is the text of a cause for stderr, with the stack of a crash.
func causeText(cause notice.Fact) string {
	text := notice.Message(cause)
	if c, is := cause.(notice.RankCrashed); is {
		text += "\n" + c.Stack
	}
	return text
}

// stop ends the whole job because of something this rank saw. It does not return.
func (e *ending) stop(code int, status result.Status, cause notice.Fact) {
	if e.rank == 0 {
		e.stopAll(code, status, cause)
	}
	if e.state.aborting.Load() {
		time.Sleep(timeout.Abort)
		os.Exit(exit.OK)
	}
	if e.client.Send(launch.Event{Kind: "failed", Cause: notice.Kept{Fact: cause}, Code: code}) == nil {
		time.Sleep(timeout.Abort) // rank 0 closes its files and takes us along
	}
	fmt.Fprintf(e.stderr, "rank: %s\n", causeText(cause))
	e.die(code)
}

// stopAll is stop on rank 0: it closes the files, reports the reason and ends the other ranks.
func (e *ending) stopAll(code int, status result.Status, cause notice.Fact) {
	paths := e.ledger.Paths()
	if !e.ledger.Finish(result.Aborted, cause, code, status) {
		e.yield(code) // somebody else is ending the run
	}
	fmt.Fprintf(e.stderr, "rank: %s\n", causeText(cause))
	e.checks.CutShort(cause)
	if len(paths) > 0 && !e.ledger.Reported() {
		fmt.Fprintf(e.stderr, "rank: what was measured before is kept%s; --resume continues it\n", inFiles(paths))
	}
	e.peers.Load().AwaitOtherHosts()
	e.die(code)
}

// finalize disconnects the ranks in good order. Collective.
func (e *ending) finalize() {
	e.state.parting.Store(true)
	if err := (*e.launched.Load()).Finalize(); err != nil {
		fmt.Fprintf(e.stderr, "rank: rank %d on %s: %v\n", e.rank, hostName(), err)
	}
	// Last: until here a rank that hangs can be asked.
	if e.server != nil {
		e.server.Close()
	}
	e.client.Close()
}

// die ends the whole job: MPI_Abort takes the other ranks along, and rank 0's message does where MPI's does not
// arrive. It does not return.
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

// yield lets whoever ends the run do so, and ends this process where that comes to nothing. It does not return.
func (e *ending) yield(code int) {
	time.Sleep(timeout.CloseFiles + timeout.Abort)
	e.die(code)
}
