package main

import (
	"fmt"
	"os"

	"busbar/internal/bench"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
	"busbar/rank/backend"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/machine"
	"busbar/rank/preflight"
)

// checking is a launch with --preflight.
type checking struct{ *job }

// run checks the setup of each host, then tries the ranks together, and reports on rank 0. Collective.
func (j checking) run() (int, error) {
	if j.rank == 0 {
		j.checks = preflight.NewChecklist(j.ranks, j.cfg.format, j.stdout)
		j.checks.Add(preflight.CheckMPI((*j.launched.Load()).Library(), j.started, j.world.Size()))
	}
	backends, err := j.chooseForPreflight()
	if err != nil {
		return 0, err
	}
	if j.rank == 0 {
		j.checks.SetBackends(backends)
	}
	j.watch.Phase("inspect the hosts", 0)
	mine := preflight.ReadSetup("/", os.Getenv)
	for _, b := range backends {
		if !backend.OnHosts(b) && mine.GPU == nil {
			mine.GPU = j.viewGPUs(b, mine.Fabric.Driver)
		}
	}
	all, err := launch.GatherJSON(j.world, mine)
	if err != nil {
		return 0, err
	}
	if j.rank == 0 {
		preflight.PlaceSetups(all, j.ranks)
		preflight.TakeGPUs(all, gpusToTake)
		j.checks.Add(preflight.CheckSetups(all, backend.HostScratch)...)
		j.checks.Add(preflight.CheckOutput(j.cfg.Out).On(0))
		j.checks.Add(j.checkSideChannel())
	}
	clock, err := launch.MeasureClock()
	if err != nil {
		return 0, err
	}
	if err := j.checkClocks(clock); err != nil {
		return 0, err
	}
	if err := j.tryBackends(backends, clock); err != nil {
		return 0, err
	}
	code := exit.OK
	if j.rank == 0 {
		worst, err := j.checks.Write()
		if err != nil {
			return 0, exit.With(exit.Environment, fmt.Errorf("cannot write the report: %w", err))
		}
		if worst == notice.Error {
			code = exit.Environment
		}
	}
	return j.leave(code)
}

// neverConnected prints the JSON report of --preflight if the ranks cannot connect; other formats print the error.
func (j *job) neverConnected(err error) {
	if j.cfg.format == document.JSON && j.rank == 0 {
		preflight.WriteUnconnected(j.stdout, hostName(), err)
	}
}

// checkSideChannel checks which ranks reach rank 0 without MPI. Rank 0 only.
func (j checking) checkSideChannel() preflight.Row {
	if j.world.Size() == 1 {
		return preflight.SideChannelRow(nil, true, j.ranks)
	}
	if j.cfg.noSideChannel {
		return preflight.Found("side channel", preflights.SideChannel{State: preflights.ChannelOff})
	}
	if j.server == nil {
		return preflight.SideChannelRow(nil, false, j.ranks)
	}
	return preflight.SideChannelRow(j.server.Missing(), true, j.ranks)
}

// checkClocks compares the clocks of the hosts. Collective.
func (j checking) checkClocks(clock bench.Clock) error {
	j.watch.Phase("compare the clocks", 0)
	var machines []string
	for _, f := range j.ranks {
		machines = append(machines, f.Machine)
	}
	off, err := launch.MeasureClockOffsets(j.world, machines, clock)
	if err != nil {
		return err
	}
	if j.rank == 0 {
		nodes, _ := machine.CountNodes(machines)
		j.checks.Add(preflight.JudgeClocks(off.Uncertainty, nodes, clock.Cost))
	}
	return nil
}

// gpusToTake returns the GPU ordinal of each rank.
func gpusToTake(ranks []*preflight.GPUView) []int {
	var visible []backend.VisibleGPUs
	for _, r := range ranks {
		v := backend.VisibleGPUs{Machine: r.Machine, Near: r.Near}
		for _, d := range r.Devices {
			v.UUIDs, v.NUMA = append(v.UUIDs, d.UUID), append(v.NUMA, d.NUMA)
		}
		visible = append(visible, v)
	}
	ordinals, _ := backend.AssignGPUs(visible)
	return ordinals
}

// viewGPUs looks for GPUs and the library of a backend on this rank, without starting them. Local.
func (j checking) viewGPUs(library, driver string) *preflight.GPUView {
	search := preflight.GPUSearch{
		Shared:    j.cfg.ShareGPU,
		Simulated: library == backend.Simulation,
		NCCLX:     backend.NeedsNCCLX(library),
		CPUs:      j.ranks[j.rank].CPUs,
		Driver:    driver,
	}
	paths, err := j.cfg.LibraryPaths()
	search.CUDA, search.NCCL, search.NotFound = paths.CUDA, paths.NCCL, err
	return preflight.ViewGPUs("/", search)
}
