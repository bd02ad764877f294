package preflight

import (
	"cmp"

	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/mpi"
	"busbar/rank/launch"
)

// CheckMPI reports which MPI connects the world, and its thread level.
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

// offsetsPoor is an uncertainty of the hosts' clocks, in seconds, above which delays of ranks are hard to measure.
const offsetsPoor = 100e-6

// JudgeClocks judges how well the clocks of the nodes are known against each other; cost is that of a reading. Both are
// in seconds.
func JudgeClocks(uncertainty float64, nodes int, cost float64) Row {
	const name = "clocks"
	compared := notice.ClocksCompared{Hosts: nodes, Uncertainty: units.Seconds(uncertainty)}
	switch {
	case nodes == 1:
		return Found(name, notice.OneClock{Reading: units.Nanoseconds(cost)})
	case uncertainty > offsetsPoor:
		return Found(name, notice.ClocksUncertain{ClocksCompared: compared})
	}
	return Found(name, compared)
}
