package backend

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/dl"
	"busbar/rank/exit"
)

// Open loads libraries on every rank, to be measured in these worlds. Collective.
func Open(h *Host, names []string, worlds []int) (all []Library, err error) {
	for _, name := range names {
		k := find(name)
		if k == nil {
			return nil, h.elsewhere(exit.With(exit.Usage, coll.Unknown("backend", name, Names())))
		}
		l, err := k.open(h, worlds)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// Choose turns the words of --backend into backends; auto is asked for what auto means.
func Choose(o *Options, auto func() string) ([]string, error) {
	words := o.Backends
	if len(words) == 0 {
		words = []string{"auto"}
	}
	var names []string
	for _, w := range words {
		switch {
		case o.Simulate && w == "ncclx":
			return nil, exit.Usagef("--simulate supports nccl only, not %s: leave one of them out", w)
		case w == "auto":
			w = auto()
		}
		if o.Simulate && w == "nccl" {
			w = Simulation
		}
		if slices.Contains(names, w) {
			return nil, exit.Usagef("--backend names %s twice", w)
		}
		names = append(names, w)
	}
	if o.Simulate && len(o.Backends) > 0 && !slices.Contains(names, Simulation) && !slices.Contains(words, "auto") {
		return nil, exit.Usagef("--simulate supports nccl only, and --backend %s does not name it: leave one of them "+
			"out",
			strings.Join(names, ","))
	}
	if slices.Contains(names, "nccl") && slices.Contains(names, "ncclx") {
		return nil, exit.Usagef("one launch supports one NCCL-compatible library (two would share its " +
			"environment and threads): run nccl and ncclx one after another, with the same --campaign")
	}
	if f := o.NCCLFlag(); f != "" && !slices.ContainsFunc(names, func(n string) bool { return !OnHosts(n) }) {
		return nil, exit.Usagef("%s requires NCCL, and the run measures --backend %s: leave it out, or "+
			"name the backend", f, strings.Join(names, ","))
	}
	return names, nil
}

// rehearsalFolder has the libraries of the simulation.
func rehearsalFolder() (string, error) {
	dirs := dl.Folders()
	for _, d := range dirs {
		path := filepath.Join(d, "rehearsal")
		if _, err := os.Stat(filepath.Join(path, "libcuda.so.1")); err == nil {
			return filepath.Abs(path)
		}
	}
	return "", exit.Environmentf("cannot find the simulation's libraries (rehearsal/libcuda.so.1) in %s: build them "+
		"with "+
		"make rehearsal, or use a bundle",
		strings.Join(dirs, ", "))
}
