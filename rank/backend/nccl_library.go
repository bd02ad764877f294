package backend

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"busbar/cudart"
	"busbar/cudart/nccl"
	"busbar/internal/result"
	"busbar/rank/exit"
	"busbar/rank/launch"
)

// ncclLibrary is NCCL, or a library with its functions, on this rank's GPU.
type ncclLibrary struct {
	ncclGPUs
	file   string // the backend's name in files
	wanted nccl.Options
	nccl   *nccl.Library
	config nccl.Config
	notes  []string
	paths  *nccl.Profiler // the plugin to which NCCL reports its paths; nil without --algorithms

	stale atomic.Pointer[string] // NCCL's last error, about something in the past; the watchdog reads it too
}

func (l *ncclLibrary) Name() string { return l.file }

func (l *ncclLibrary) Facts() result.Backend {
	i := l.nccl.Info()
	return result.Backend{Name: l.file, Library: i.Name + " " + i.Version, Version: i.Version, Path: i.Path,
		BuildID: i.BuildID, Notes: l.notes, Parameters: l.nccl.Parameters()}
}

// Simulated implements Accelerator.
func (l *ncclLibrary) Simulated() bool { return l.file == Simulation }

// openNCCL loads the driver, gives each rank that is in a world with enough GPUs one of them, loads the library there,
// and compares what the ranks have. Collective.
func openNCCL(h *Host, name string, worlds []int) (Library, error) {
	l := &ncclLibrary{ncclGPUs: ncclGPUs{h: h}, file: name, config: h.Options.GPU.Config}
	h.Watch.Phase("load CUDA and NCCL", 0)
	var devices []cudart.Device
	paths, err := h.Options.LibraryPaths()
	if err := h.together(err); err != nil {
		return nil, err
	}
	l.wanted = nccl.Options{Path: paths.NCCL, NCCLX: name == "ncclx"}
	begun := time.Now()
	devices, err = l.loadDriver(paths)
	l.loading = time.Since(begun)
	h.Watch.Phase("assign the GPUs", 0)
	if err := l.takeGPU(devices, err, worlds); err != nil {
		return nil, err
	}
	if err := h.together(l.openProfiler()); err != nil {
		return nil, err
	}
	h.Watch.Phase("load NCCL", 0)
	err = nil
	if l.takes() {
		err = l.loadNCCL()
	}
	if err := h.together(err); err != nil {
		return nil, err
	}
	l.notes = append(l.notes, l.config.String(),
		"buffers by "+cmp.Or(h.Options.GPU.Alloc, "driver"))
	if r := h.Options.GPU.Register; r != "" && r != "none" {
		text := "buffers registered as " + r
		if r == "window" {
			text += " (NCCL does not report whether its kernels are symmetric)"
		}
		l.notes = append(l.notes, text)
	}
	return l, l.compare()
}

// loadNCCL opens the library on a rank that has a GPU, and checks that it supports what the flags need.
func (l *ncclLibrary) loadNCCL() (err error) {
	h := l.h
	if l.nccl, err = nccl.Load(l.wanted); err != nil {
		return err
	}
	tell := l.nccl.Phase
	if !l.nccl.Info().Rehearsed {
		tell = nil
	}
	h.Watch.Listen(l.lastWords, tell)
	if err := l.dropProfiler(); err != nil {
		return err
	}
	if h.Options.GPU.Alloc == "nccl" && slices.Contains(l.nccl.Info().Missing, "ncclMemAlloc") {
		return fmt.Errorf("--alloc nccl: %s %s has no ncclMemAlloc (NCCL has it since 2.19): leave --alloc out, or "+
			"use a "+
			"newer library", l.nccl.Info().Name, l.nccl.Info().Version)
	}
	if why := l.nccl.Info().Unserved(l.ranks[h.Rank].Major, l.ranks[h.Rank].Minor); why != "" {
		return fmt.Errorf("%s: %s", l.ranks[h.Rank].Name, why)
	}
	return l.slicesHindered()
}

// LibraryPaths are the files or folders that the command line names; with --simulate those of the simulation.
type LibraryPaths struct{ CUDA, NCCL string }

// LibraryPaths returns where the driver and NCCL are looked for.
func (o *Options) LibraryPaths() (LibraryPaths, error) {
	p := LibraryPaths{o.CUDA, o.NCCL}
	if !o.Simulate {
		return p, nil
	}
	dir, err := rehearsalFolder()
	if err != nil {
		return p, err
	}
	return LibraryPaths{cmp.Or(p.CUDA, dir), cmp.Or(p.NCCL, dir)}, nil
}

// ownLibrary is the library of one rank.
type ownLibrary struct {
	Version   string // "NCCL 2.27.7"
	Path      string
	Rehearsed bool
}

// compare refuses ranks with different libraries: the result would be the speed of neither.
func (l *ncclLibrary) compare() error {
	h := l.h
	var mine ownLibrary
	if l.takes() {
		i := l.nccl.Info()
		mine = ownLibrary{i.Name + " " + i.Version, i.Path, i.Rehearsed}
	}
	all, err := launch.AllGatherJSON(h.Group, mine)
	if err != nil {
		return err
	}
	for r, v := range all[:l.worlds.takers] {
		l.ranks[r].NCCL = v.Version
		switch {
		case v.Version != all[0].Version:
			return h.elsewhere(exit.Environmentf("rank %d on %s has %s, rank 0 on %s has %s: give all hosts the same "+
				"library "+
				"(--nccl PATH)",
				r, h.Ranks[r].Host, v.Version, h.Ranks[0].Host, all[0].Version))
		case v.Rehearsed && !l.Simulated():
			return h.elsewhere(exit.Environmentf("%s is the simulation, not NCCL: set --simulate, which marks its "+
				"results",
				v.Path))
		case l.Simulated() && !v.Rehearsed:
			return h.elsewhere(exit.Environmentf("--simulate requires the simulation's libraries, and %s is %s", v.Path,
				v.Version))
		}
		if d := l.ranks[r].Driver; d != l.ranks[0].Driver {
			l.notes = append(l.notes, fmt.Sprintf("drivers differ: rank %d on %s has %s, rank 0 has %s", r,
				h.Ranks[r].Host, d,
				l.ranks[0].Driver))
		}
	}
	if l.Simulated() {
		l.notes = append(l.notes, "simulated GPU and NCCL: no value is about hardware")
	}
	return nil
}

// Describe implements Describer.
func (l *ncclLibrary) Describe(m *result.Method, iterations int) {
	o := l.h.Options.GPU
	m.Graph, m.Alloc = l.Graph(iterations), cmp.Or(o.Alloc, "driver")
	if o.Register != "none" {
		m.Register = o.Register
	}
	if l.config != (nccl.Config{}) {
		m.Config = l.config.String()
	}
	m.Shared = slices.ContainsFunc(l.ranks, func(g gpuFacts) bool { return g.Shared })
}

// old reports whether NCCL's last error is about something in the past.
func (l *ncclLibrary) old(words string) bool {
	stale := l.stale.Load()
	return stale != nil && *stale == words
}

// lastWords is NCCL's last error, unless it is about something in the past.
func (l *ncclLibrary) lastWords() string {
	if s := l.nccl.LastError(); !l.old(s) {
		return s
	}
	return ""
}

// NCCLOptions are the flags that belong to NCCL.
type NCCLOptions struct {
	nccl.Config        // of communicators
	Graph       int    // launches of a CUDA graph; 0: none
	Alloc       string // driver or nccl; empty is driver
	Register    string // none, buffer or window; empty is none
	Path        bool   // ask which way NCCL takes
}

// NCCLFlag is the first flag on the command line that requires NCCL, or "".
func (o *Options) NCCLFlag() string {
	g := o.GPU
	for _, f := range []struct {
		given bool
		flag  string
	}{
		{o.Like != "", "--like " + o.Like}, {o.Profile, "--profile-range"}, {g.Path, "--algorithms"},
		{g.Graph > 0, "--cudagraph"}, {g.Alloc == "nccl", "--alloc"},
		{g.Register != "" && g.Register != "none", "--register"}, {g.CTAPolicy > 0, "--cta-policy"},
		{g.MinCTAs > 0, "--min-ctas"}, {g.MaxCTAs > 0, "--max-ctas"}, {o.ShareGPU, "--allow-shared-gpu"},
	} {
		if f.given {
			return f.flag
		}
	}
	return ""
}

// GraphOperations is the number of operations in a CUDA graph without -n.
const GraphOperations = 20
