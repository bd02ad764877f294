package main

import (
	"busbar/rank/backend"
	"busbar/rank/launch"
	"busbar/rank/machine"
	"busbar/rank/session"
)

// host returns this launch for libraries.
func (j *job) host() *backend.Host {
	return &backend.Host{Options: j.cfg.ForBackend(), Ranks: j.ranks, Rank: j.rank, Group: j.world,
		CPU: machine.Facts("/").CPU, MPI: launch.MPIOf(*j.launched.Load()), PassOn: j.passOn, Watch: j.watch,
		Interrupts: &j.interrupts,
		Stderr:     j.stderr}
}

// session returns this launch for package session, without plan, libraries and screen.
func (j *job) session() *session.Run {
	mpi := (*j.launched.Load()).Library().Facts
	mpi.Launcher = j.started.Name()
	return &session.Run{
		Comm:      j.world,
		Ranks:     j.ranks,
		Watch:     j.watch,
		Ledger:    j.ledger,
		Stderr:    j.stderr,
		Start:     j.start,
		StopAsked: j.state.stopAsked.Load,
		Program: session.Program{Tool: "busbar " + toolVersion(), Command: append([]string{"rank"}, j.args...),
			MPI: mpi},
	}
}

// eventLeave is the message that an operation of a communicator has failed on some rank.
const eventLeave = "leave"

// passOn reports to every rank that an operation of the communicator has failed. Any goroutine may call it.
func (e *ending) passOn(number int) {
	if !e.interrupts.First(number) {
		return
	}
	event := launch.Event{Kind: eventLeave, Code: number}
	e.interrupts.Interrupt(number)
	if e.server != nil {
		go e.server.Broadcast(event)
	} else if e.rank != 0 {
		_ = e.client.Send(event) // without a side channel the watchdog ends the hang
	}
}
