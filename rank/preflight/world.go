package preflight

import (
	"cmp"

	"busbar/internal/notice/preflights"
	"busbar/internal/units"
	"busbar/mpi"
	"busbar/rank/launch"
)

// CheckMPI reports the MPI library of the world, and its limits.
func CheckMPI(l launch.Library, s launch.Started, world int) Row {
	const name = "MPI"
	i := l.Facts
	used := preflights.MPIInUse{Library: cmp.Or(l.Name, i.Library), Path: i.Path, ThreadLevel: i.ThreadLevel,
		Launcher: s.Name()}
	switch {
	case i.Path == "":
		return Found(name, preflights.TCPInUse{Launcher: s.Name()})
	case world == 1 && s.Launcher == "":
		return Found(name, preflights.OneRankLaunch{MPIInUse: used})
	case i.ThreadLevel != mpi.ThreadMultiple.String():
		return Found(name, preflights.ThreadLevel{MPIInUse: used})
	}
	return Found(name, used)
}

// SideChannelRow reports which ranks lack a side channel; open: rank 0 listens.
func SideChannelRow(missing []int, open bool, ranks []launch.RankFacts) Row {
	const name = "side channel"
	switch {
	case len(ranks) == 1:
		return Found(name, preflights.SideChannel{State: preflights.ChannelUnneeded})
	case !open:
		return Found(name, preflights.SideChannelClosed{Host: ranks[0].Host})
	case len(missing) > 0:
		return Found(name, preflights.SideChannelIncomplete{Ranks: len(missing), Of: len(ranks),
			Host: ranks[0].Host}).On(missing...)
	}
	return Found(name, preflights.SideChannel{State: preflights.ChannelOpen})
}

// offsetsPoor is the uncertainty of clock offsets, in seconds, above which delays of ranks are hard to measure.
const offsetsPoor = 100e-6

// JudgeClocks judges the uncertainty of the clock offsets between nodes; cost is that of a reading. Both are in
// seconds.
func JudgeClocks(uncertainty float64, nodes int, cost float64) Row {
	const name = "clocks"
	compared := preflights.ClocksCompared{Hosts: nodes, Uncertainty: units.Seconds(uncertainty)}
	switch {
	case nodes == 1:
		return Found(name, preflights.OneClock{Reading: units.Nanoseconds(cost)})
	case uncertainty > offsetsPoor:
		return Found(name, preflights.ClocksUncertain{ClocksCompared: compared})
	}
	return Found(name, compared)
}
