package main

import (
	"fmt"
	"os"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/hang"
	"busbar/rank/launch"
)

// onHang runs when a phase exceeds its time limit, or when another rank reports a hang. It may not return.
func (e *ending) onHang(mine launch.State) {
	r := hang.Run{Rank: e.rank, Host: hostName(), Ranks: e.ranks, Watch: e.watch,
		Peers: e.peers.Load(), Server: e.server, Client: e.client, Naming: &e.state.naming, Libraries: e.diagnose,
		Stop: func(cause notice.Fact) { e.stopAll(exit.Hang, result.Timeout, cause) },
		GiveUp: func(cause notice.Fact) {
			fmt.Fprintf(e.stderr, "rank: %s\n", causeText(cause))
			e.peers.Load().AwaitOtherHosts()
			e.die(exit.Hang)
		}}
	r.Respond(mine)
}

// librariesOnHang returns the report of the libraries on a hang.
func (j *job) librariesOnHang() (text string) {
	for _, lib := range j.libraries {
		if l, ok := lib.(backend.Diagnoser); ok {
			text += l.Diagnose()
		}
	}
	return text
}

// openBoard connects the ranks of each host through shared memory. Collective.
func (j *job) openBoard() error {
	j.watch.Phase("open the shared memory", 0)
	number, err := launch.Share(j.world, hang.NewJobNumber)
	if err != nil {
		return err
	}
	defer j.unlinkShared()
	l, err := hang.OpenPeers(j.world, j.ranks, number, j.watch, func(path string) { j.shared.Store(&path) })
	if err != nil {
		return err
	}
	j.peers.Store(l)
	return nil
}

// unlinkShared unlinks the shared memory of this rank.
func (e *ending) unlinkShared() {
	if path := e.shared.Swap(nil); path != nil {
		_ = os.Remove(*path) // another rank may have unlinked it
	}
}
