package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"busbar/internal/units"
)

// setup is what one rank sees of where it runs.
type setup struct {
	Limits limits
	Node   node
	Fabric fabric
	GPU    *gpuView // nil where no backend on GPUs is asked for

	who rankFacts // on rank 0
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
			asJSON: j.cfg.json, out: j.stdout, ranks: j.ranks}
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
	clock, err := measureClock()
	if err != nil {
		return 0, err
	}
	if err := j.checkClocks(clock); err != nil {
		return 0, err
	}
	if err := j.tryBackends(backends, clock); err != nil {
		return 0, err
	}
	code := exitOK
	if j.rank == 0 {
		worst, err := j.checks.write()
		if err != nil {
			return 0, &codeError{exitEnvironment, fmt.Errorf("the report cannot be written: %w", err)}
		}
		if worst == problem {
			code = exitEnvironment
		}
	}
	return j.part(code)
}

// neverConnected is the report of --preflight --json where there is no world to look at; without --json the error alone
// says it all.
func (j *job) neverConnected(err error) {
	if !j.cfg.json || j.rank != 0 {
		return
	}
	found, advice := splitAdvice(err.Error(), "mend this first; nothing else could be checked")
	c := &checklist{asJSON: true, out: j.stdout, ranks: []rankFacts{{Host: hostName()}}}
	c.add(bad("MPI", advice, "%s", found))
	_, _ = c.write() // the exit code says the same
}

// splitAdvice takes what to do from the end of a message of ours: what follows the last semicolon of a line, the places
// that were tried, or the first of several lines. otherwise is the advice where the message has none.
func splitAdvice(text, otherwise string) (found, advice string) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) == 1 {
		if at := strings.LastIndexByte(text, ';'); at >= 0 {
			return strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:])
		}
		return text, otherwise
	}
	end := 1
	for i, line := range lines {
		if line == "tried:" {
			for end = i + 1; end < len(lines) && strings.HasPrefix(lines[end], "  "); end++ {
			}
		}
	}
	if end == len(lines) {
		return text, otherwise
	}
	return strings.Join(lines[:end], "\n"), strings.Join(lines[end:], "\n")
}

// checkSetups looks at the hosts one by one, check by check, and at what they have in common; rank 0 only.
func checkSetups(all []setup) []row {
	hosts := groupBy(all, func(r rankFacts) string { return r.Host })
	// Containers of one machine are hosts of their own, and share its processors and its memory.
	machines := groupBy(all, func(r rankFacts) string { return r.Machine })
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

func groupBy(all []setup, key func(rankFacts) string) (groups [][]setup) {
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
	switch {
	case c.json && !c.preflight:
		return usagef("--json is the form of --preflight's report; results are JSON lines in --out anyway")
	case c.preflight && c.list:
		return usagef("--preflight and --list are two questions; ask one at a time")
	}
	return nil
}
