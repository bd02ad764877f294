package main

import (
	"encoding/json"
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

// connect makes the world: library, MPI_Init, the ranks' facts compared, the side channel.
func (j *job) connect() error {
	connected, err := launch.ConnectMPI(mpi.Options{Choice: j.cfg.mpi}, func(phase string) { j.watch.Phase(phase, 0) })
	if err != nil {
		return err
	}
	j.connected, j.lib = connected, connected.Library
	j.abortable.Store(&j.connected)
	world := connected.World()
	if err := launch.CheckLaunch(world.Size(), j.launch, j.lib.Info().Library); err != nil {
		if j.launch.Rank > 0 {
			err = exit.ErrElsewhere
		}
		j.world, j.size = world, 1
		if err != exit.ErrElsewhere {
			err = exit.With(exit.Environment, err)
		}
		return err
	}
	j.world, j.rank, j.size = world, world.Rank(), world.Size()
	j.watch.Phase("compare the ranks", 0)
	if err := j.compareRanks(); err != nil {
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

// compareRanks gathers the ranks' facts and refuses what would make every figure meaningless.
func (j *job) compareRanks() error {
	cpus, _ := machine.Affinity("/")
	mine, err := json.Marshal(launch.RankFacts{Rank: j.rank, Host: hostName(), Machine: launch.BootID("/"), LocalRank: j.launch.LocalRank, PID: os.Getpid(), CPUs: cpus, Quota: machine.CPUQuota("/"),
		Build: launch.BuildIdentity(), MPI: j.lib.Info().LibraryFull, Command: fmt.Sprintf("%q", j.args)})
	if err != nil {
		return err
	}
	all, err := j.world.Gatherv(mine, 0)
	if err != nil {
		return err
	}
	j.ranks, err = launch.Share(j.world, func() ([]launch.RankFacts, error) {
		facts := make([]launch.RankFacts, len(all))
		local := map[string]int{}
		for i, b := range all {
			if err := json.Unmarshal(b, &facts[i]); err != nil {
				return nil, exit.Environmentf("rank %d speaks another language: start the same rank binary on all hosts (%v)", i, err)
			}
			if facts[i].LocalRank < 0 {
				facts[i].LocalRank = local[facts[i].Host]
			}
			local[facts[i].Host]++
		}
		launch.TellHostsApart(facts)
		if err := launch.CheckRanks(facts); err != nil {
			return nil, exit.With(exit.Environment, err)
		}
		return facts, nil
	})
	return err
}

// openSideChannel connects every rank to rank 0 by TCP, for when MPI hangs. Nothing moves on it while measuring.
func (j *job) openSideChannel() error {
	j.watch.Phase("open the side channel", 0)
	info, err := launch.Share(j.world, func() (string, error) {
		if j.size == 1 || j.cfg.noSideChannel {
			return "", nil
		}
		h, info, err := launch.ListenControl(j.size)
		if err != nil {
			fmt.Fprintf(j.stderr, "rank: no side channel (%v): a hang will be named by what ranks write in the memory of their hosts\n", err)
			return "", nil
		}
		h.OnGone, h.OnEvent, h.Self = j.onGone, j.onEvent, j.watch.State
		j.hub = h
		return info, nil
	})
	if err != nil || info == "" || j.rank == 0 {
		return err
	}
	// A rank that cannot connect goes on without; rank 0 says so once for all of them.
	if j.spoke, err = launch.DialControl(info, j.rank, hostName(), j.watch.State); err == nil {
		j.spoke.Listen(j.onHubEvent, j.onHubGone)
	}
	return nil
}

// eventAbort is rank 0's word that the job ends now.
const eventAbort = "abort"

// onHubEvent is told what rank 0 has to say.
func (j *job) onHubEvent(e launch.Event) {
	switch e.Kind {
	case eventAbort:
		j.aborting.Store(true)
		time.Sleep(timeout.Abort) // MPI_Abort comes first where it comes at all
		os.Exit(exit.OK)
	case eventLeave:
		j.interrupts.Interrupt(e.Code)
	}
}

// onHubGone is told by the side channel that rank 0's process is gone. One rank says it and ends the job where the
// launcher does not; the files are whole but for their end.
func (j *job) onHubGone(err error) {
	time.Sleep(timeout.Abort / 2) // a launcher that ends the job itself comes first
	if j.parting.Load() {
		return
	}
	if j.rank == 1 {
		fmt.Fprintf(j.stderr, "rank: rank 0 on %s is gone (%v) %s; what it had written is kept, --resume continues it\n",
			j.ranks[0].Host, err, j.inHand())
	}
	j.die(exit.Failed)
}

// warnOfFirewall says on rank 0, after all ranks have tried, which of them have no side channel.
func (j *job) warnOfFirewall() error {
	if err := j.world.Barrier(); err != nil || j.hub == nil {
		return err
	}
	if ranks := j.hub.Missing(); len(ranks) > 0 {
		fmt.Fprintf(j.stderr, "rank: %s of %d, the first rank %d on %s, cannot open a TCP connection to rank 0 on %s (a firewall?): a hang or a signal there is known to MPI alone\n",
			units.Count(len(ranks), "rank"), j.size, ranks[0], j.ranks[ranks[0]].Host, hostName())
	}
	return nil
}

// onGone is told by the side channel that a rank's process is gone.
func (j *job) onGone(rank int) {
	// A job that is told to end loses its ranks one by one; the signal's own handler speaks first then.
	time.Sleep(quarrel / 2)
	if j.parting.Load() {
		return
	}
	host := j.ranks[rank].Host
	cause := notice.RankGone{
		PlacedRank: notice.PlacedRank{Rank: rank, Host: host}, PID: j.ranks[rank].PID, During: j.inHand(),
	}
	if slices.ContainsFunc(j.ranks, func(f launch.RankFacts) bool { return f.Host != host }) {
		cause.Without = host
	}
	j.stopAll(exit.Failed, result.Failed, cause)
}

// inHand is what was being measured.
func (j *job) inHand() notice.InHand {
	s := j.watch.State()
	return notice.InHand{Case: s.CaseName(), Phase: s.Phase}
}

// onEvent is told by the side channel what another rank has to say.
func (j *job) onEvent(rank int, e launch.Event) {
	switch e.Kind {
	case "signal":
		if s := syscall.Signal(e.Code); s == syscall.SIGUSR1 {
			j.askedToStop.Store(true)
		} else if time.Sleep(2 * quarrel); !j.signalled.Load() { // not the whole job was told to end, but that rank
			j.interrupted(s, &j.ranks[rank])
		}
	case "failed":
		status := result.Failed
		if e.Code == exit.Hang {
			status = result.Timeout
		}
		j.stopAll(e.Code, status, e.Cause.Fact)
	case "hang":
		j.onHang(j.watch.State())
	case eventLeave:
		j.passOn(e.Code)
	}
}
