package main

import (
	"os"
	"strings"
	"time"

	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/backend"
	"busbar/rank/launch"
	"busbar/rank/machine"
)

// rankLines are the lines of a world's ranks in its file.
func (s *session) rankLines() []result.Rank {
	lines := make([]result.Rank, s.world.Size)
	for r, f := range s.facts() {
		lines[r] = result.Rank{Kind: result.KindRank, Rank: s.world.Name(r), Host: f.Host, LocalRank: f.LocalRank, PID: f.PID, CPUs: f.CPUs, Device: "cpu"}
		if l, ok := s.lib.(backend.Accelerator); ok {
			l.DescribeRank(s.members[r], &lines[r])
		}
	}
	return lines
}

// header fills the first line of a results file: of a world in session, or of one that does not fit the launch (nil).
func (j *job) header(p *plan, lib backend.Library, s *session) result.Run {
	info := j.lib.Info()
	if s == nil {
		s = &session{subworld: &subworld{}}
	}
	environment, slurm := machine.Environment(os.Environ())
	nodes, perNode := shape(s.machines)
	host, lay := machine.Facts("/"), j.cfg.layout(p.sweep, s.cases, 0)
	run := result.Run{Kind: result.KindRun, Schema: result.Schema, ID: result.NewID(), Launch: p.launch, Campaign: p.campaign, Block: j.cfg.block,
		Start: time.Now().UTC(), Tool: "busbar " + toolVersion(), Build: launch.BuildIdentity(), Command: append([]string{"rank"}, j.args...),
		Backend: lib.Facts(), Rehearse: backend.Simulates(lib), Variant: j.cfg.variant,
		MPI: result.MPI{Family: info.Family, Library: info.Library, Standard: info.Standard, Path: info.LibMPIPath, Shim: info.ShimPath,
			ThreadLevel: info.ThreadLevel.String(), LargeCounts: info.LargeCounts, Launcher: launch.LauncherName(j.launch)},
		World: s.world.Size, Nodes: nodes, RanksPerNode: perNode, Device: lib.Device(), Pattern: p.pattern.facts(),
		Sweep: result.Sweep{Name: sweepName(p.sweep), Source: p.sweep.Source, Origins: p.sweep.Origins()},
		Method: result.Method{Clock: launch.ClockName, ClockResolution: s.clock.Resolution, ClockCost: s.clock.Cost, EmptyIteration: s.clock.Empty,
			ClockOffsets: s.clock.Uncertainty,
			Precision:    p.sweep.Precision, Budget: p.sweep.Budget.Seconds(), Iterations: p.sweep.Iterations, Warmup: p.sweep.Warmup,
			Aggregate: p.sweep.Aggregate, CheckRounds: p.sweep.Check, Average: j.cfg.average.String(), Rotate: lay.Rotate, Packed: lay.Packed > 0,
			Cycle: j.cfg.cycles, Deadline: j.cfg.deadline.Seconds()},
		Machine: host, Environment: environment, Slurm: slurm, Topology: machine.Topology("/"), Hardware: hardware("/", s)}
	if l, ok := lib.(backend.Describer); ok {
		l.Describe(&run.Method, p.sweep.Iterations)
	}
	if l, ok := lib.(backend.Accelerator); ok && s.comm != nil {
		run.Topology = strings.TrimSpace(run.Topology + "\n" + l.Links())
	}
	if len(p.worlds) > 1 {
		run.Worlds = p.worlds
	}
	var places []machine.Place
	for r, f := range s.facts() {
		places = append(places, machine.Place{Rank: s.members[r], Host: f.Host, CPUs: f.CPUs, Quota: f.Quota})
	}
	run.Warnings.Add(machine.Oversubscribed(places)...)
	if l, ok := lib.(backend.Warner); ok && len(run.Warnings) == 0 {
		run.Warnings.Add(l.Warnings(s.members)...)
	}
	if load := host.Load1; load > 0.25*float64(host.Cores) {
		run.Warnings.Add(notice.HostLoad{Host: host.Host, Load: load})
	}
	return run
}
