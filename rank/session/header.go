package session

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

// rankLines returns the lines of a world's ranks in its file.
func (s *session) rankLines() []result.Rank {
	lines := make([]result.Rank, s.world.Size)
	for r, f := range s.facts() {
		lines[r] = result.Rank{Kind: result.KindRank, Rank: s.world.Name(r), Host: f.Host, LocalRank: f.LocalRank,
			PID: f.PID, CPUs: f.CPUs, Device: "cpu"}
		if l, ok := s.lib.(backend.Accelerator); ok {
			l.DescribeRank(s.world.Names[r], &lines[r])
		}
	}
	return lines
}

// runHeader returns the first line of the results file of a session.
func (s *session) runHeader() result.Run {
	r, lib := s.run, s.lib
	p := r.Plan
	environment, slurm := machine.Environment(os.Environ())
	nodes, perNode := s.nodes()
	host := machine.Facts("/")
	run := result.Run{Kind: result.KindRun, Schema: result.Schema, ID: result.NewID(), Launch: p.Launch,
		Campaign: p.Campaign, Block: p.Options.Block, Variant: p.Options.Variant, Start: time.Now().UTC(),
		Tool: r.Program.Tool, Build: launch.BuildIdentity(), Command: r.Program.Command, MPI: r.Program.MPI,
		Backend: lib.Facts(), Rehearse: backend.Simulates(lib), Device: lib.Device(),
		World: s.world.Size, Nodes: nodes, RanksPerNode: perNode, Pattern: p.Pattern.Facts(),
		Sweep:  result.Sweep{Name: p.SweepName(), Source: p.Sweep.Source, Origins: p.Sweep.Origins()},
		Method: s.methodFacts(), Machine: host, Environment: environment, Slurm: slurm,
		Topology: machine.Topology("/"), Hardware: s.hardware("/"), Setup: backend.SetupOf(s.backend)}
	if l, ok := lib.(backend.Describer); ok {
		l.Describe(&run.Method, p.Sweep.Iterations)
	}
	if l, ok := lib.(backend.Accelerator); ok {
		run.Topology = strings.TrimSpace(run.Topology + "\n" + l.Links())
	}
	if len(s.sessions) > 1 {
		for _, o := range s.sessions {
			run.Interleaved = append(run.Interleaved, o.lib.Name())
		}
	}
	if len(p.Worlds) > 1 {
		run.Worlds = p.Worlds
	}
	run.Warnings.Add(machine.Oversubscribed(s.places())...)
	if l, ok := lib.(backend.Warner); ok && len(run.Warnings) == 0 {
		run.Warnings.Add(l.Warnings(s.world.Names)...)
	}
	if load := host.Load1; machine.Busy(load, machine.OnlineCPUs("/")) {
		run.Warnings.Add(notice.HostLoad{Host: host.Host, Load: load})
	}
	return run
}

// methodFacts returns the measuring method for the file.
func (s *session) methodFacts() result.Method {
	p, o := s.run.Plan.Sweep, s.run.Plan.Options
	layout := o.Layout(p, s.cases, 0)
	return result.Method{Clock: launch.ClockName, ClockResolution: s.clock.Resolution, ClockCost: s.clock.Cost,
		EmptyIteration: s.clock.Empty, ClockOffsets: s.clock.Uncertainty, Precision: p.Precision,
		Budget: p.Budget.Seconds(), Iterations: p.Iterations, Warmup: p.Warmup, Aggregate: p.Aggregate,
		CheckRounds: p.Check, Average: o.Average.String(), Rotate: layout.Rotate, Packed: layout.Packed > 0,
		Cycle: o.Cycles, Deadline: o.Deadline.Seconds()}
}

// hardware returns the line rates of the world's links; nil if all are unknown.
func (s *session) hardware(root string) *result.Hardware {
	h := result.Hardware{Ports: machine.PortRates(root)}
	if l, ok := s.lib.(backend.Accelerator); ok {
		for r, member := range s.world.Names {
			if link := l.Link(member); link != nil && (h.PCIe == nil || bandwidth(link) < bandwidth(h.PCIe)) {
				slowest := *link
				slowest.Rank = s.world.Name(r)
				h.PCIe = &slowest
			}
		}
	}
	if h.Ports == nil && h.PCIe == nil {
		return nil
	}
	return &h
}

// bandwidth returns the rate of a link, in an arbitrary unit.
func bandwidth(l *result.PCIe) float64 { return l.Speed * float64(l.Width) }
