package backend

import (
	"os"
	"slices"

	"busbar/gloo"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/rank/launch"
)

// glooLibrary is Gloo, and the network that this rank uses.
type glooLibrary struct {
	h       *Host
	lib     *gloo.Library
	network gloo.Choice
	threads []string // by rank of the world in hand: the CPUs of Gloo's threads
	notes   []string
}

func (l *glooLibrary) Name() string { return "gloo" }

func (l *glooLibrary) Facts() result.Backend {
	i := l.lib.Info()
	return result.Backend{Name: l.Name(), Library: "Gloo " + i.Version, Version: i.Version, Path: i.Path,
		BuildID: i.BuildID, Notes: l.notes}
}

// Warnings implements Warner. Of a pattern the threads of one group are known.
func (l *glooLibrary) Warnings(world []int) []notice.Fact {
	if len(l.threads) != len(world) {
		return nil
	}
	ranks := make([]launch.RankFacts, len(world))
	for i, r := range world {
		ranks[i] = l.h.Ranks[r]
	}
	return crowded(ranks, l.threads)
}

func (l *glooLibrary) Device() string { return l.h.device() }

func (l *glooLibrary) Unfit(world int) string { return l.h.tooLarge(world) }

// openGloo loads the shim and finds the network, on every rank. Collective.
func openGloo(h *Host, _ []int) (Library, error) {
	h.Watch.Phase("load Gloo", 0)
	l := &glooLibrary{h: h}
	var err error
	if l.lib, err = gloo.Load(""); err == nil {
		err = l.choose()
	}
	if err := h.together(err); err != nil {
		return nil, err
	}
	versions, err := launch.AllGatherJSON(h.Group, l.lib.Info().Version)
	if err != nil {
		return nil, err
	}
	for r, v := range versions {
		if v != versions[0] {
			return nil, h.elsewhere(exit.Environmentf(
				"rank %d on %s has Gloo %s, rank 0 on %s has %s: give all hosts the same library",
				r, h.Ranks[r].Host, v, h.Ranks[0].Host, versions[0]))
		}
	}
	return l, nil
}

// choose finds the network and tries it, so that an unusable one is an error before any file is written.
func (l *glooLibrary) choose() (err error) {
	if l.network, err = l.h.glooNetwork(); err != nil {
		return err
	}
	c, err := l.lib.NewContext(gloo.Options{Size: 1, Interface: l.network.Interface, Address: l.network.Address})
	if err == nil {
		c.Close()
	}
	return err
}

// glooNetwork is the network of this rank: where its host reaches another one of the launch, if there is one.
func (h *Host) glooNetwork() (gloo.Choice, error) {
	named := h.Options.Gloo.Network
	other := slices.IndexFunc(h.Ranks, func(r launch.RankFacts) bool { return r.Machine != h.Ranks[h.Rank].Machine })
	if other >= 0 {
		// A name that leads nowhere from here is no reason to give up: there may be a default route.
		if c, err := gloo.Choose(named, h.Ranks[other].Host, os.Getenv); err == nil {
			return c, nil
		}
	}
	return gloo.Choose(named, "", os.Getenv)
}

// glooRank is what a rank sends the others about its context.
type glooRank struct {
	Host, Why, Error string
	Follows          bool // the error: a connection broke, most likely since another rank gave up
	Address          []byte
	Device           gloo.Device
	Thread           string // the CPUs of Gloo's
}
