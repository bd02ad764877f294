package preflight

import (
	"cmp"
	"math"

	"golang.org/x/sys/unix"

	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/mpi"
	"busbar/rank/launch"
)

// CheckMPI says which MPI serves the world, and what it allows.
func CheckMPI(l launch.Library, s launch.Started, world int) Row {
	const name = "MPI"
	i := l.Facts
	used := notice.MPIInUse{Library: cmp.Or(l.Name, i.Library), Path: i.Path, ThreadLevel: i.ThreadLevel,
		Launcher: s.Name()}
	switch {
	case world == 1 && s.Launcher == "":
		return Found(name, notice.OneRankLaunch{MPIInUse: used})
	case i.ThreadLevel != mpi.ThreadMultiple.String():
		return Found(name, notice.ThreadLevel{MPIInUse: used})
	}
	return Found(name, used)
}

// CheckAlikeRanks says what connecting has made sure of: ranks that differ do not come this far.
func CheckAlikeRanks(ranks []launch.RankFacts, s launch.Started) Row {
	if n := len(ranks); s.Size > n && n > 1 {
		return Found("ranks", notice.OtherPrograms{Started: s.Size, Ranks: n})
	}
	return Found("ranks", notice.RanksAlike{Ranks: len(ranks)})
}

// SideChannelRow states which ranks are missing on the side channel; open: rank 0 listens.
func SideChannelRow(missing []int, open bool, ranks []launch.RankFacts) Row {
	const name = "side channel"
	switch {
	case len(ranks) == 1:
		return Found(name, notice.SideChannel{State: notice.ChannelUnneeded})
	case !open:
		return Found(name, notice.SideChannelClosed{Host: ranks[0].Host})
	case len(missing) > 0:
		return Found(name, notice.SideChannelIncomplete{Ranks: len(missing), Of: len(ranks),
			Host: ranks[0].Host}).On(missing...)
	}
	return Found(name, notice.SideChannel{State: notice.ChannelOpen})
}

// ClockView is what one rank knows of its clocks against rank 0's.
type ClockView struct {
	Offset      float64 // CLOCK_MONOTONIC_RAW minus rank 0's, in seconds
	Uncertainty float64 // of any offset, in seconds
	Wall        int64   // the time of day minus CLOCK_MONOTONIC_RAW, in ns
}

// TimeOfDay is the wall clock minus the raw one, in ns; 0 where it cannot be read.
func TimeOfDay() int64 {
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

// JudgeClocks judges the clocks of all ranks on so many nodes; cost is that of a reading, in seconds.
func JudgeClocks(all []ClockView, nodes int, cost float64) []Row {
	const name = "clocks"
	if nodes == 1 {
		return []Row{Found(name, notice.OneClock{Reading: units.Nanoseconds(cost)})}
	}
	worst, least, most := 0.0, math.Inf(1), math.Inf(-1)
	for _, c := range all {
		worst = max(worst, c.Uncertainty)
		// Differences of nanoseconds first: a float64 of seconds since 1970 has a quarter of a microsecond.
		apart := float64(c.Wall-all[0].Wall)/1e9 + c.Offset
		least, most = min(least, apart), max(most, apart)
	}
	compared := notice.ClocksCompared{Hosts: nodes, Uncertainty: units.Seconds(worst)}
	r := Found(name, compared)
	if worst > offsetsPoor {
		r = Found(name, notice.ClocksUncertain{ClocksCompared: compared})
	}
	return []Row{r, judgeTime(most - least)}
}

func judgeTime(apart float64) Row {
	const name = "time of day"
	day := notice.TimeOfDay{Apart: notice.WallSeconds(apart)}
	if apart > wallPoor {
		return Found(name, notice.TimeOfDayDiffers{TimeOfDay: day})
	}
	return Found(name, day)
}
