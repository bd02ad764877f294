package main

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
	"busbar/mpi"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/machine"
	"busbar/rank/timeout"
)

// connect makes the world: library, MPI_Init, the ranks' facts compared, shared memory and control channel.
func (j *job) connect() error {
	l, err := launch.Connect(mpi.Options{Choice: j.cfg.mpi}, func(phase string) { j.watch.Phase(phase, 0) })
	if err != nil {
		return err
	}
	j.world = l.World()
	j.launched.Store(&l)
	if err := launch.CheckLaunch(j.world.Size(), j.started, l.Library().Facts.Library); err != nil {
		if j.started.Rank > 0 { // each is a world of its own
			return exit.ErrElsewhere
		}
		return exit.With(exit.Environment, err)
	}
	j.rank = j.world.Rank()
	j.watch.Phase("compare the ranks", 0)
	if j.ranks, err = launch.CompareRanks(j.world, j.facts()); err != nil {
		return err
	}
	if err := j.openBoard(); err != nil {
		return err
	}
	if err := j.openSideChannel(); err != nil {
		return err
	}
	return j.warnOfFirewall()
}

// facts are those of this rank.
func (j *job) facts() launch.RankFacts {
	cpus, _ := machine.Affinity("/")
	return launch.RankFacts{Rank: j.rank, Host: hostName(), Machine: launch.BootID("/"), LocalRank: j.started.LocalRank,
		PID: os.Getpid(), CPUs: cpus, Quota: machine.CPUQuota("/"), Build: launch.BuildIdentity(),
		MPI: (*j.launched.Load()).Library().Version, Command: fmt.Sprintf("%q", j.args)}
}

// openSideChannel connects every rank to rank 0 by TCP, for when MPI hangs. Nothing moves on it while measuring.
func (j *job) openSideChannel() error {
	j.watch.Phase("open the side channel", 0)
	info, err := launch.Share(j.world, func() (string, error) {
		if j.world.Size() == 1 || j.cfg.noSideChannel {
			return "", nil
		}
		h, info, err := launch.ListenControl(j.world.Size(),
			launch.Handlers{State: j.watch.State, Event: j.onEvent, Gone: j.onGone})
		if err != nil {
			fmt.Fprintf(j.stderr, "rank: no side channel (%v): each host will report a hang of its own "+
				"ranks\n", err)
			return "", nil
		}
		j.server = h
		return info, nil
	})
	if err != nil || info == "" || j.rank == 0 {
		return err
	}
	// A rank that cannot connect goes on without; rank 0 reports it once for all of them.
	j.client, _ = launch.DialControl(info, j.rank, hostName(),
		launch.Handlers{State: j.watch.State, Event: j.onRank0Event, Gone: j.onRank0Gone})
	return nil
}

// eventAbort is rank 0's message that the launch ends now.
const eventAbort = "abort"

// onRank0Event acts on a message of rank 0.
func (e *ending) onRank0Event(_ int, event launch.Event) {
	switch event.Kind {
	case eventAbort:
		e.state.aborting.Store(true)
		time.Sleep(timeout.Abort) // MPI_Abort comes first where it comes at all
		os.Exit(exit.OK)
	case eventLeave:
		e.interrupts.Interrupt(event.Code)
	}
}

// onRank0Gone is called when rank 0's process is gone. One rank reports it and ends the launch where the
// launcher does not; the files are whole but for their end.
func (e *ending) onRank0Gone(_ int, err error) {
	time.Sleep(timeout.Abort / 2) // a launcher that ends the job itself comes first
	if e.state.parting.Load() {
		return
	}
	if e.rank == 1 {
		fmt.Fprintf(e.stderr, "rank: rank 0 on %s is gone (%v) %s; what it had written is kept, "+
			"--resume continues it\n", e.ranks[0].Host, err, e.inHand())
	}
	e.die(exit.Failed)
}

// warnOfFirewall reports on rank 0, after all ranks have tried, which of them have no side channel.
func (j *job) warnOfFirewall() error {
	j.watch.Phase("connect the ranks to rank 0", 0) // from here on the watchdog may use the side channel
	if err := j.world.Barrier(); err != nil || j.server == nil {
		return err
	}
	if ranks := j.server.Missing(); len(ranks) > 0 {
		fmt.Fprintf(j.stderr, "rank: %s of %d, the first rank %d on %s, cannot open a TCP connection to rank 0 on %s "+
			"(a firewall?): a signal there is known to MPI alone, and a hang is reported by that host alone\n",
			units.Count(len(ranks), "rank"), j.world.Size(), ranks[0], j.ranks[ranks[0]].Host, hostName())
	}
	return nil
}

// onGone is called when a rank's process is gone.
func (e *ending) onGone(rank int, _ error) {
	// A launch that gets a signal loses its ranks one by one; the signal's handler comes first then.
	time.Sleep(signalDelay / 2)
	if e.state.parting.Load() {
		return
	}
	host := e.ranks[rank].Host
	cause := notice.RankGone{
		PlacedRank: notice.PlacedRank{Rank: rank, Host: host}, PID: e.ranks[rank].PID, During: e.inHand(),
	}
	if slices.ContainsFunc(e.ranks, func(f launch.RankFacts) bool { return f.Host != host }) {
		cause.Without = host
	}
	e.stopAll(exit.Failed, result.Failed, cause)
}

// inHand is what was being measured.
func (e *ending) inHand() notice.InHand {
	s := e.watch.State()
	return notice.InHand{Case: s.CaseName(), Phase: s.Phase}
}

// onEvent acts on a message of another rank.
func (e *ending) onEvent(rank int, event launch.Event) {
	switch event.Kind {
	case "signal":
		if s := syscall.Signal(event.Code); s == syscall.SIGUSR1 {
			e.state.stopAsked.Store(true)
		} else if time.Sleep(2 * signalDelay); !e.state.signalled.Load() { // that rank alone was told to end
			e.interrupted(s, &e.ranks[rank])
		}
	case "failed":
		status := result.Failed
		if event.Code == exit.Hang {
			status = result.Timeout
		}
		e.stopAll(event.Code, status, event.Cause.Fact)
	case "hang":
		e.onHang(e.watch.State())
	case eventLeave:
		e.passOn(event.Code)
	}
}
