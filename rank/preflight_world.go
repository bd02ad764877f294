package main

import (
	"cmp"
	"fmt"
	"math"

	"golang.org/x/sys/unix"

	"busbar/internal/advice"
	"busbar/internal/bench"
	"busbar/internal/units"
	"busbar/mpi"
)

// checkMPI says which MPI serves the world, and what it allows.
func checkMPI(i mpi.Info, l mpi.Launch, world int) row {
	const name = "MPI"
	found := fmt.Sprintf("%s (%s), thread level %s; launcher: %s", cmp.Or(i.Name, i.Library), i.LibMPIPath, i.ThreadLevel, launcherName(l))
	switch {
	case world == 1 && l.Name == "":
		return warn(name, "mpirun -np N rank --preflight, or srun -n N", "%s; one rank alone exchanges data with nobody", found)
	case i.ThreadLevel != mpi.ThreadMultiple:
		return warn(name, "an MPI with MPI_THREAD_MULTIPLE lets the watchdog end a job that hangs; with this one the launcher may have to be ended by hand", "%s", found)
	}
	return fine(name, "%s", found)
}

// checkAlikeRanks says what connecting has made sure of: ranks that differ do not come this far.
func checkAlikeRanks(ranks []rankFacts, l mpi.Launch) row {
	if n := len(ranks); l.Size > n && n > 1 {
		return warn("ranks", "all programs of one launch should be rank", "the launcher started %d processes, the world has %d ranks", l.Size, n)
	}
	return fine("ranks", "%s of one build, one MPI and one command line", units.Count(len(ranks), "rank"))
}

// checkSideChannel says which ranks reach rank 0 without MPI; rank 0 only.
func (j *job) checkSideChannel() row {
	if j.size == 1 {
		return sideChannel(nil, true, j.ranks)
	}
	if j.cfg.noSideChannel {
		return fine("side channel", "left out by BUSBAR_SIDE_CHANNEL=off: a hang is named by what ranks write in the memory of their hosts")
	}
	if j.hub == nil {
		return sideChannel(nil, false, j.ranks)
	}
	return sideChannel(j.hub.missing(), true, j.ranks)
}

func sideChannel(missing []int, open bool, ranks []rankFacts) row {
	const name = "side channel"
	const todo = advice.OpenTCP + "; without it a hang is named by what ranks write in the memory of their hosts, and a signal reaches its own rank alone"
	switch {
	case len(ranks) == 1:
		return fine(name, "one rank needs none")
	case !open:
		return warn(name, todo, "rank 0 on %s cannot listen on a TCP port", ranks[0].Host)
	case len(missing) > 0:
		return warn(name, todo, "%s of %d cannot open a TCP connection to rank 0 on %s", units.Count(len(missing), "rank"), len(ranks), ranks[0].Host).on(missing...)
	}
	return fine(name, "every rank is connected to rank 0 by TCP")
}

// clockView is what one rank knows of its clocks against rank 0's.
type clockView struct {
	Offset      float64 // CLOCK_MONOTONIC_RAW minus rank 0's, in seconds
	Uncertainty float64 // of any offset, in seconds
	Wall        int64   // the time of day minus CLOCK_MONOTONIC_RAW, in ns
}

// checkClocks compares the clocks of the hosts. Collective.
func (j *job) checkClocks(clock bench.Clock) error {
	j.watch.Phase("compare the clocks", 0)
	var machines []string
	for _, f := range j.ranks {
		machines = append(machines, f.Machine)
	}
	off, err := measureOffsets(j.world, machines, clock)
	if err != nil {
		return err
	}
	all, err := gather(j, clockView{Offset: off.own, Uncertainty: off.uncertainty, Wall: timeOfDay()})
	if err == nil && j.rank == 0 {
		nodes, _ := shape(machines)
		j.checks.add(judgeClocks(all, nodes, clock.Cost)...)
	}
	return err
}

// timeOfDay is the wall clock minus the raw one, in ns; 0 where it cannot be read.
func timeOfDay() int64 {
	var before, wall, after unix.Timespec
	for _, c := range []struct {
		id int32
		to *unix.Timespec
	}{{unix.CLOCK_MONOTONIC_RAW, &before}, {unix.CLOCK_REALTIME, &wall}, {unix.CLOCK_MONOTONIC_RAW, &after}} {
		if err := unix.ClockGettime(c.id, c.to); err != nil {
			return 0
		}
	}
	return wall.Nano() - (before.Nano()+after.Nano())/2
}

// From here on clocks deserve a word: lateness of ranks is measured in microseconds, logs are compared by the second.
const (
	offsetsPoor = 100e-6
	wallPoor    = 1.0
)

func judgeClocks(all []clockView, nodes int, cost float64) []row {
	const name = "clocks"
	if nodes == 1 {
		return []row{fine(name, "one host, one clock; a reading takes %.0f ns", cost*1e9)}
	}
	worst, least, most := 0.0, math.Inf(1), math.Inf(-1)
	for _, c := range all {
		worst = max(worst, c.Uncertainty)
		// Differences of nanoseconds first: a float64 of seconds since 1970 has a quarter of a microsecond.
		apart := float64(c.Wall-all[0].Wall)/1e9 + c.Offset
		least, most = min(least, apart), max(most, apart)
	}
	rows := []row{fine(name, "those of %d hosts are compared to %.1f us by messages", nodes, worst*1e6)}
	if worst > offsetsPoor {
		rows[0] = warn(name, "let MPI use the fast network (UCX_NET_DEVICES, OMPI_MCA_btl_tcp_if_include, FI_PROVIDER), on hosts without other work",
			"those of %d hosts are compared to %.0f us only: who was late by less cannot be told", nodes, worst*1e6)
	}
	return append(rows, judgeTime(most-least))
}

func judgeTime(apart float64) row {
	const name = "time of day"
	if apart > wallPoor {
		return warn(name, "start chrony or another NTP client on all hosts: times in files and logs do not line up", "the hosts are %.1f s apart", apart)
	}
	return fine(name, "the hosts are within %.3f s", apart)
}
