package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"

	"busbar/gloo"
	"busbar/internal/result"
	"busbar/mpi"
)

// glooLibrary is Gloo, and the network that this rank uses.
type glooLibrary struct {
	j         *job
	lib       *gloo.Library
	network   gloo.Choice
	algorithm gloo.Algorithm
	notes     []string
}

func (l *glooLibrary) name() string { return "gloo" }

func (l *glooLibrary) facts() result.Backend {
	i := l.lib.Info()
	name := "Gloo " + i.Version
	if l.algorithm != gloo.Ring { // another library, as far as figures go on after an interruption
		name += " " + l.algorithm.String()
	}
	return result.Backend{Name: l.name(), Library: name, Version: i.Version, Path: i.Path, BuildID: i.BuildID, Notes: l.notes}
}

func (l *glooLibrary) device() string { return "cpu (" + machineFacts("/").CPU + ")" }

func (l *glooLibrary) unfit(world int) string { return l.j.tooLarge(world) }

// openGloo loads the shim and finds the network, on every rank. Collective.
func (j *job) openGloo() (library, error) {
	j.watch.Phase("load Gloo", 0)
	l := &glooLibrary{j: j}
	if j.cfg.gloo.algorithm == "bcube" {
		l.algorithm = gloo.BCube
	}
	var err error
	if l.lib, err = gloo.Load(""); err == nil {
		l.network, err = j.glooNetwork()
	}
	if err := j.together(err); err != nil {
		return nil, err
	}
	versions, err := tellAll(j, l.lib.Info().Version)
	if err != nil {
		return nil, err
	}
	for r, v := range versions {
		if v != versions[0] {
			return nil, j.elsewhere(environmentf("rank %d on %s has Gloo %s, rank 0 on %s has %s: give all hosts the same library", r, j.ranks[r].Host, v, j.ranks[0].Host, versions[0]))
		}
	}
	return l, nil
}

// glooNetwork is the network of this rank: where its host reaches another one of the launch, if there is one.
func (j *job) glooNetwork() (gloo.Choice, error) {
	named := j.cfg.gloo.network
	other := slices.IndexFunc(j.ranks, func(r rankFacts) bool { return r.Machine != j.ranks[j.rank].Machine })
	if other >= 0 {
		// A name that leads nowhere from here is no reason to give up: there may be a default route.
		if c, err := gloo.Choose(named, j.ranks[other].Host, os.Getenv); err == nil {
			return c, nil
		}
	}
	return gloo.Choose(named, "", os.Getenv)
}

// crowded is a warning for the first host on which the two threads of each rank have less than a CPU each.
func crowded(ranks []rankFacts) []string {
	type host struct {
		name  string
		ranks int
		cpus  map[int]bool
	}
	hosts := map[string]*host{}
	var order []*host
	for _, r := range ranks {
		h := hosts[r.Machine]
		if h == nil {
			h = &host{name: r.Host, cpus: map[int]bool{}}
			hosts[r.Machine], order = h, append(order, h)
		}
		h.ranks++
		cpus, err := parseCPUs(r.CPUs)
		if err != nil {
			return nil
		}
		for _, c := range cpus {
			h.cpus[c] = true
		}
	}
	for _, h := range order {
		if n := len(h.cpus); n > 0 && 2*h.ranks > n {
			return []string{fmt.Sprintf("threads: a rank of Gloo has two, and %s has %s for %s: small messages may take milliseconds; start fewer ranks, or give each two cores (mpirun --map-by slot:PE=2 --bind-to core)",
				h.name, plural(n, "CPU"), plural(h.ranks, "rank"))}
		}
	}
	return nil
}

// glooRank is what a rank tells the others of its context.
type glooRank struct {
	Host, Why, Error string
	Address          []byte
	Device           gloo.Device
	Thread           gloo.Thread
}

// everyRank gives every rank of a communicator what each of them has to say. Collective.
func everyRank(comm *mpi.Comm, mine glooRank) ([]glooRank, error) {
	b, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	parts, err := comm.Gatherv(b, 0)
	if err != nil {
		return nil, err
	}
	all := make([]json.RawMessage, len(parts))
	for i, p := range parts {
		all[i] = p
	}
	text, err := json.Marshal(all)
	if err != nil {
		return nil, err
	}
	length := []float64{float64(len(text))}
	if err := (mpiComm{comm}).Bcast(length); err != nil {
		return nil, err
	}
	if comm.Rank() != 0 {
		text = make([]byte, int(length[0]))
	}
	if err := comm.Bcast(text, 0); err != nil {
		return nil, err
	}
	var ranks []glooRank
	err = json.Unmarshal(text, &ranks)
	return ranks, err
}
