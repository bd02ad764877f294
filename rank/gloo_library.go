package main

import (
	"encoding/json"
	"os"
	"slices"

	"busbar/gloo"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/rank/launch"
	"busbar/rank/machine"
)

// glooLibrary is Gloo, and the network that this rank uses.
type glooLibrary struct {
	j         *job
	lib       *gloo.Library
	network   gloo.Choice
	algorithm gloo.Algorithm
	threads   []string // by rank of the world in hand: the CPUs of Gloo's threads
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

// describe implements describer: where the user has had a say in it.
func (l *glooLibrary) describe(m *result.Method, _ int) {
	if word := l.j.cfg.gloo.cpus; word != "" {
		m.Config = "Gloo's thread on CPUs: " + word
	}
}

// warnings implements warner. Of a pattern the threads of one group are known.
func (l *glooLibrary) warnings(world []launch.RankFacts) []notice.Fact {
	if len(l.threads) != len(world) {
		return nil
	}
	return crowded(world, l.threads)
}

func (l *glooLibrary) device() string { return "cpu (" + machine.Facts("/").CPU + ")" }

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
		err = l.choose()
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
			return nil, j.elsewhere(exit.Environmentf("rank %d on %s has Gloo %s, rank 0 on %s has %s: give all hosts the same library", r, j.ranks[r].Host, v, j.ranks[0].Host, versions[0]))
		}
	}
	return l, nil
}

// choose finds the network and tries it, so that one that is of no use is known before there are files.
func (l *glooLibrary) choose() (err error) {
	if err := notGranted(l.j.cfg.gloo.cpus, grantedCPUs()); err != nil {
		return err
	}
	if l.network, err = l.j.glooNetwork(); err != nil {
		return err
	}
	c, err := l.lib.NewContext(gloo.Options{Size: 1, Interface: l.network.Interface, Address: l.network.Address})
	if err == nil {
		c.Close()
	}
	return err
}

// glooNetwork is the network of this rank: where its host reaches another one of the launch, if there is one.
func (j *job) glooNetwork() (gloo.Choice, error) {
	named := j.cfg.gloo.network
	other := slices.IndexFunc(j.ranks, func(r launch.RankFacts) bool { return r.Machine != j.ranks[j.rank].Machine })
	if other >= 0 {
		// A name that leads nowhere from here is no reason to give up: there may be a default route.
		if c, err := gloo.Choose(named, j.ranks[other].Host, os.Getenv); err == nil {
			return c, nil
		}
	}
	return gloo.Choose(named, "", os.Getenv)
}

// glooRank is what a rank tells the others of its context.
type glooRank struct {
	Host, Why, Error string
	Follows          bool // the error: a connection broke, most likely since another rank gave up
	Address          []byte
	Device           gloo.Device
	Thread           gloo.Thread
	Placed           string // why the thread is where it is
}

// everyRank gives every rank of a communicator what each of them has to say. Collective.
func everyRank(comm launch.Comm, mine glooRank) ([]glooRank, error) {
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
	if err := launch.Decisions(comm).Bcast(length); err != nil {
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
