package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/rank/exit"
	"busbar/rank/launch"
)

// setup is what one rank sees of where it runs.
type setup struct {
	Limits limits
	Node   node
	Fabric fabric
	GPU    *gpuView // nil where no backend on GPUs is asked for

	who launch.RankFacts // on rank 0
}

func readSetup(root string, env func(string) string) setup {
	return setup{Limits: readLimits(root), Node: readNode(root), Fabric: readFabric(root, env)}
}

// preflight checks the set-up without measuring, what is on each host first and what the ranks do together last, and
// reports on rank 0. Collective.
func (j *job) preflight() (int, error) {
	if j.rank == 0 {
		hosts, _ := whereabouts(nil, j.ranks)
		j.checks = &checklist{title: fmt.Sprintf("Preflight of %s on %s", units.Count(j.size, "rank"), units.Count(len(hosts), "host")),
			format: j.cfg.format, out: j.stdout, ranks: j.ranks}
		j.checks.add(checkMPI(j.lib.Info(), j.launch, j.size), checkAlikeRanks(j.ranks, j.launch))
	}
	backends, err := j.chooseForPreflight()
	if err != nil {
		return 0, err
	}
	if j.rank == 0 {
		j.checks.title += ": " + cmp.Or(strings.Join(backends, ", "), "no backend")
	}
	j.watch.Phase("look at the hosts", 0)
	mine := readSetup("/", os.Getenv)
	for _, b := range backends {
		if !onHosts(b) && mine.GPU == nil {
			mine.GPU = j.viewGPUs(b, mine.Fabric.pcie.Driver)
		}
	}
	all, err := gather(j, mine)
	if err != nil {
		return 0, err
	}
	if j.rank == 0 {
		for i := range all {
			all[i].who = j.ranks[i]
		}
		takeGPUs(all)
		j.checks.add(checkSetups(all)...)
		j.checks.add(checkOutput(j.cfg.out).on(0))
		j.checks.add(j.checkSideChannel())
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
		worst, err := j.checks.write()
		if err != nil {
			return 0, exit.With(exit.Environment, fmt.Errorf("the report cannot be written: %w", err))
		}
		if worst == notice.Error {
			code = exit.Environment
		}
	}
	return j.part(code)
}

// neverConnected is the report of --preflight --format json where the ranks cannot be connected; otherwise the error
// has all of it.
func (j *job) neverConnected(err error) {
	if j.cfg.format != document.JSON || j.rank != 0 {
		return
	}
	c := &checklist{format: document.JSON, out: j.stdout, ranks: []launch.RankFacts{{Host: hostName()}}}
	c.add(found("MPI", notice.MPIUnusable{Failed: exit.FailureOf(err).Parts}))
	_, _ = c.write() // the exit code has it too
}

// checkSetups looks at the hosts one by one, check by check, and at what they have in common; rank 0 only.
func checkSetups(all []setup) []row {
	hosts := groupBy(all, func(r launch.RankFacts) string { return r.Host })
	// Containers of one machine are hosts of their own, and share its processors and its memory.
	machines := groupBy(all, func(r launch.RankFacts) string { return r.Machine })
	rows := []row{checkAlikeHosts(hosts)}
	for _, c := range []struct {
		of    [][]setup
		check func([]setup) []row
	}{
		{machines, checkCPUs}, {hosts, byRank(checkGovernor)}, {machines, checkBalancing}, {machines, checkLoad}, {machines, checkHugePages},
		{machines, checkMemory}, {hosts, checkShared}, {hosts, byRank(checkLocked)}, {hosts, byRank(filesFor(len(all)))},
		{hosts, checkRDMA}, {machines, checkIOMMU}, {machines, checkACS}, {hosts, checkGPUs}, {machines, checkOwners},
	} {
		for _, group := range c.of {
			for _, r := range c.check(group) {
				if r.ranks == nil {
					for _, s := range group {
						r.ranks = append(r.ranks, s.who.Rank)
					}
				}
				rows = append(rows, r)
			}
		}
	}
	return append(rows, checkLibraries(all)...)
}

func groupBy(all []setup, key func(launch.RankFacts) string) (groups [][]setup) {
	at := map[string]int{}
	for _, s := range all {
		i, known := at[key(s.who)]
		if !known {
			i = len(groups)
			at[key(s.who)], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}

// byRank makes a check of one rank one of a host's ranks.
func byRank(check func(setup) row) func([]setup) []row {
	return func(host []setup) (rows []row) {
		for _, s := range host {
			rows = append(rows, check(s).on(s.who.Rank))
		}
		return rows
	}
}

// checkPreflight refuses what goes with --preflight only, or not with it.
func (c *config) checkPreflight() error {
	if c.json {
		c.format = document.JSON
	}
	switch {
	case c.format != "" && !c.preflight:
		return exit.Usagef("--format and --json are the form of --preflight's report; results are JSON lines in --out anyway")
	case c.preflight && c.list:
		return exit.Usagef("--preflight and --list are two questions; ask one at a time")
	}
	return nil
}
