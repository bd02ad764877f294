package main

import (
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/launch"
	"busbar/rank/machine"
	"busbar/rank/session"
)

// host is this launch as libraries see it.
func (j *job) host() *backend.Host {
	return &backend.Host{Options: j.cfg.ForBackend(), Ranks: j.ranks, Rank: j.rank, Group: j.world,
		CPU: machine.Facts("/").CPU, MPI: j.lib, PassOn: j.passOn, Watch: j.watch, Interrupts: &j.interrupts,
		Stderr: j.stderr}
}

// session is this launch as what measures it sees it; its plan, libraries and screen are still to come.
func (j *job) session() *session.Run {
	info := j.lib.Info()
	return &session.Run{
		Comm:      j.world,
		Ranks:     j.ranks,
		Watch:     j.watch,
		Ledger:    j.ledger,
		Stderr:    j.stderr,
		Start:     j.start,
		StopAsked: j.state.stopAsked.Load,
		Program: session.Program{Tool: "busbar " + toolVersion(), Command: append([]string{"rank"}, j.args...),
			MPI: result.MPI{Family: info.Family, Library: info.Library, Standard: info.Standard, Path: info.LibMPIPath,
				Shim: info.ShimPath, ThreadLevel: info.ThreadLevel.String(), LargeCounts: info.LargeCounts,
				Launcher: launch.LauncherName(j.started)}},
	}
}

// eventLeave is the message that an operation of the communicator with that number has failed somewhere.
const eventLeave = "leave"

// passOn tells every rank that an operation of the communicator with that number has failed, from any goroutine.
func (e *ending) passOn(number int) {
	if !e.interrupts.First(number) {
		return
	}
	event := launch.Event{Kind: eventLeave, Code: number}
	e.interrupts.Interrupt(number)
	if e.server != nil {
		go e.server.Broadcast(event)
	} else if e.rank != 0 {
		_ = e.client.Send(event) // without a control channel the watchdog ends what hangs
	}
}
