package main

import (
	"cmp"
	"context"
	"errors"
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

// connecting is the expected time of loading and initializing MPI. Ten times that is their limit if --deadline is
// shorter, since they depend on the launcher and on the number of ranks.
const connecting = 3 * time.Second

// connect sets up MPI, compares the facts of the ranks, and opens shared memory and side channel.
func (j *job) connect() error {
	l, err := j.bootstrap()
	if err != nil {
		return err
	}
	j.world = l.World()
	j.launched.Store(&l)
	if err := launch.CheckLaunch(j.world.Size(), j.started, l.Library().Facts.Library); err != nil {
		if j.started.Rank > 0 { // each rank has its own world
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

// bootstrap connects the ranks by MPI or by TCP. A program that was started alone and finds no MPI needs none.
func (j *job) bootstrap() (launch.Launch, error) {
	way := j.cfg.bootstrap
	if way == launch.BootstrapAuto && j.cfg.mpi != "auto" {
		way = launch.BootstrapMPI
	}
	meeting, err := way.Choose(os.Getenv)
	if err != nil {
		return nil, err
	}
	if meeting != nil {
		return j.connectTCP(meeting)
	}
	l, err := launch.ConnectMPI(mpi.Options{Choice: j.cfg.mpi}, func(phase string) { j.watch.Phase(phase, connecting) })
	if err != nil && j.started.Launcher == "" && way == launch.BootstrapAuto {
		return j.connectTCP(launch.Alone())
	}
	return l, err
}

// connectTCP connects the ranks of a meeting.
func (j *job) connectTCP(m *launch.Meeting) (launch.Launch, error) {
	j.watch.Rest("wait for the ranks")
	var secret []byte
	if path := os.Getenv("BUSBAR_SECRET_FILE"); path != "" {
		var err error
		if secret, err = os.ReadFile(path); err != nil || len(secret) == 0 {
			return nil, exit.Environmentf("BUSBAR_SECRET_FILE must be a file with a secret: %w",
				cmp.Or(err, errors.New(path+" is empty")))
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout.Meet)
	defer cancel()
	return launch.ConnectTCP(ctx, m, secret, launch.BuildIdentity(), j.stderr)
}

// facts returns the facts of this rank.
func (j *job) facts() launch.RankFacts {
	cpus, _ := machine.Affinity("/")
	return launch.RankFacts{Rank: j.rank, Host: hostName(), Machine: launch.BootID("/"), LocalRank: j.started.LocalRank,
		PID: os.Getpid(), CPUs: cpus, Quota: machine.CPUQuota("/"), Build: launch.BuildIdentity(),
		MPI: (*j.launched.Load()).Library().Version, Command: fmt.Sprintf("%q", j.args)}
}

// openSideChannel connects every rank to rank 0 by TCP, for hangs of MPI. It is idle during measurements.
func (j *job) openSideChannel() error {
	j.watch.Phase("open the side channel", 0)
	info, err := launch.Share(j.world, func() (string, error) {
		if j.world.Size() == 1 || j.cfg.noSideChannel {
			return "", nil
		}
		h, info, err := launch.ListenControl(j.world.Size(),
			launch.Handlers{State: j.watch.State, Event: j.onEvent, Gone: j.onGone})
		if err != nil {
			fmt.Fprintf(j.stderr, "rank: no side channel (%v): each host reports only hangs of its own "+
				"ranks\n", err)
			return "", nil
		}
		j.server = h
		return info, nil
	})
	if err != nil || info == "" || j.rank == 0 {
		return err
	}
	// A rank without a connection continues; rank 0 reports all of them once.
	j.client, _ = launch.DialControl(info, j.rank, hostName(),
		launch.Handlers{State: j.watch.State, Event: j.onRank0Event, Gone: j.onRank0Gone})
	return nil
}

// eventAbort is the message of rank 0 that the launch ends now.
const eventAbort = "abort"

// onRank0Event handles a message of rank 0.
func (e *ending) onRank0Event(_ int, event launch.Event) {
	switch event.Kind {
	case eventAbort:
		e.state.aborting.Store(true)
		time.Sleep(timeout.Abort) // MPI_Abort comes first if it works
		os.Exit(exit.OK)
	case eventLeave:
		e.interrupts.Interrupt(event.Code)
	}
}

// onRank0Gone runs when the process of rank 0 has exited. Rank 1 reports it. The files lack only their end.
func (e *ending) onRank0Gone(_ int, err error) {
	time.Sleep(timeout.Abort / 2) // a launcher that ends the job comes first
	if e.state.parting.Load() {
		return
	}
	if e.rank == 1 {
		fmt.Fprintf(e.stderr, "rank: rank 0 on %s exited (%v) %s; its results are kept; "+
			"--resume continues the run\n", e.ranks[0].Host, err, e.inHand())
	}
	e.die(exit.Failed)
}

// warnOfFirewall reports on rank 0 which ranks have no side channel, after all have tried.
func (j *job) warnOfFirewall() error {
	j.watch.Phase("connect the ranks to rank 0", 0) // from here on the watchdog may use the side channel
	if err := j.world.Barrier(); err != nil || j.server == nil {
		return err
	}
	if ranks := j.server.Missing(); len(ranks) > 0 {
		fmt.Fprintf(j.stderr, "rank: %s of %d (first: rank %d on %s) cannot open a TCP connection to rank 0 on %s; "+
			"check the firewall. Rank 0 does not detect signals to them, and only their host reports a hang\n",
			units.Count(len(ranks), "rank"), j.world.Size(), ranks[0], j.ranks[ranks[0]].Host, hostName())
	}
	return nil
}

// onGone runs when the process of a rank has exited.
func (e *ending) onGone(rank int, _ error) {
	// After a signal to the launch, its ranks exit one by one; the signal handler must run first.
	time.Sleep(signalDelay / 2)
	if e.state.parting.Load() {
		return
	}
	host := e.ranks[rank].Host
	s := e.watch.State() // of rank 0, whose group need not be that rank's
	cause := notice.RankGone{PlacedRank: notice.PlacedRank{Rank: rank, Host: host}, PID: e.ranks[rank].PID,
		During: notice.InHand{Case: s.Case, Phase: s.Phase}}
	if slices.ContainsFunc(e.ranks, func(f launch.RankFacts) bool { return f.Host != host }) {
		cause.Without = host
	}
	e.stopAll(exit.Failed, result.Failed, cause)
}

// inHand returns the current case and phase.
func (e *ending) inHand() notice.InHand {
	s := e.watch.State()
	return notice.InHand{Case: s.CaseName(), Phase: s.Phase}
}

// onEvent handles a message of another rank.
func (e *ending) onEvent(rank int, event launch.Event) {
	switch event.Kind {
	case "signal":
		if s := syscall.Signal(event.Code); s == syscall.SIGUSR1 {
			e.state.stopAsked.Store(true)
		} else if time.Sleep(2 * signalDelay); !e.state.signalled.Load() { // only that rank got the signal
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
