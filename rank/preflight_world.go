package main

import (
	"cmp"
	"math"

	"golang.org/x/sys/unix"

	"busbar/internal/bench"
	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/mpi"
	"busbar/rank/launch"
)

// checkMPI says which MPI serves the world, and what it allows.
func checkMPI(i mpi.Info, l mpi.Launch, world int) row {
	const name = "MPI"
	used := notice.MPIInUse{Library: cmp.Or(i.Name, i.Library), Path: i.LibMPIPath, ThreadLevel: i.ThreadLevel.String(),
		Launcher: launcherName(l)}
	switch {
	case world == 1 && l.Name == "":
		return found(name, notice.OneRankLaunch{MPIInUse: used})
	case i.ThreadLevel != mpi.ThreadMultiple:
		return found(name, notice.ThreadLevel{MPIInUse: used})
	}
	return found(name, used)
}

// checkAlikeRanks says what connecting has made sure of: ranks that differ do not come this far.
func checkAlikeRanks(ranks []launch.RankFacts, l mpi.Launch) row {
	if n := len(ranks); l.Size > n && n > 1 {
		return found("ranks", notice.OtherPrograms{Started: l.Size, Ranks: n})
	}
	return found("ranks", notice.RanksAlike{Ranks: len(ranks)})
}

// checkSideChannel says which ranks reach rank 0 without MPI; rank 0 only.
func (j *job) checkSideChannel() row {
	if j.size == 1 {
		return sideChannel(nil, true, j.ranks)
	}
	if j.cfg.noSideChannel {
		return found("side channel", notice.SideChannel{State: notice.ChannelOff})
	}
	if j.hub == nil {
		return sideChannel(nil, false, j.ranks)
	}
	return sideChannel(j.hub.Missing(), true, j.ranks)
}

func sideChannel(missing []int, open bool, ranks []launch.RankFacts) row {
	const name = "side channel"
	switch {
	case len(ranks) == 1:
		return found(name, notice.SideChannel{State: notice.ChannelUnneeded})
	case !open:
		return found(name, notice.SideChannelClosed{Host: ranks[0].Host})
	case len(missing) > 0:
		return found(name, notice.SideChannelIncomplete{Ranks: len(missing), Of: len(ranks),
			Host: ranks[0].Host}).on(missing...)
	}
	return found(name, notice.SideChannel{State: notice.ChannelOpen})
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
	off, err := launch.MeasureClockOffsets(j.world, machines, clock)
	if err != nil {
		return err
	}
	all, err := gather(j, clockView{Offset: off.Own, Uncertainty: off.Uncertainty, Wall: timeOfDay()})
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
		return []row{found(name, notice.OneClock{Reading: units.Nanoseconds(cost)})}
	}
	worst, least, most := 0.0, math.Inf(1), math.Inf(-1)
	for _, c := range all {
		worst = max(worst, c.Uncertainty)
		// Differences of nanoseconds first: a float64 of seconds since 1970 has a quarter of a microsecond.
		apart := float64(c.Wall-all[0].Wall)/1e9 + c.Offset
		least, most = min(least, apart), max(most, apart)
	}
	compared := notice.ClocksCompared{Hosts: nodes, Uncertainty: units.Seconds(worst)}
	r := found(name, compared)
	if worst > offsetsPoor {
		r = found(name, notice.ClocksUncertain{ClocksCompared: compared})
	}
	return []row{r, judgeTime(most - least)}
}

func judgeTime(apart float64) row {
	const name = "time of day"
	day := notice.TimeOfDay{Apart: notice.WallSeconds(apart)}
	if apart > wallPoor {
		return found(name, notice.TimeOfDayDiffers{TimeOfDay: day})
	}
	return found(name, day)
}
