package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/dl"
	"busbar/rank/exit"
)

// rehearsal is the backend's name where the CUDA driver and NCCL are simulated.
const rehearsal = "nccl-rehearsal"

// openLibraries loads what the plan measures, on every rank. Collective.
func (j *job) openLibraries(p *plan) error {
	for _, name := range p.backends {
		if name == "mpi" {
			j.libraries = append(j.libraries, mpiLibrary{j})
			continue
		}
		if name == "gloo" {
			l, err := j.openGloo()
			if err != nil {
				return err
			}
			j.libraries = append(j.libraries, l)
			continue
		}
		l, err := j.openNCCL(name, p.worlds)
		if err != nil {
			return err
		}
		j.libraries = append(j.libraries, l)
	}
	return nil
}

// together compares the outcome of a step that every rank took by itself: an error on any rank is an error on all, and
// rank 0 has the words, those of the lowest rank that has any.
func (j *job) together(err error) error {
	var mine []byte
	if err != nil {
		var e error
		if mine, e = json.Marshal(exit.FailureOf(err)); e != nil {
			return e
		}
	}
	all, e := j.world.Gatherv(mine, 0)
	if e != nil {
		return e
	}
	_, e = j.onRoot(func() ([]byte, error) {
		for r, b := range all {
			if len(b) == 0 {
				continue
			}
			same := 0
			for _, other := range all {
				if string(other) == string(b) {
					same++
				}
			}
			var f exit.Failure
			if err := json.Unmarshal(b, &f); err != nil {
				return nil, err
			}
			if same == len(all) {
				return nil, exit.With(exit.Environment, &f)
			}
			where := fmt.Sprintf("rank %d on %s%s", r, j.ranks[r].Host, others(same-1))
			return nil, exit.With(exit.Environment, f.On(where))
		}
		return nil, nil
	})
	return e
}

func others(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (and %d more)", n)
}

// gather brings every rank's value to rank 0, in the order of the ranks. Collective.
func gather[T any](j *job, mine T) ([]T, error) {
	b, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	parts, err := j.world.Gatherv(b, 0)
	if err != nil {
		return nil, err
	}
	all := make([]T, len(parts))
	for i, b := range parts {
		if err := json.Unmarshal(b, &all[i]); err != nil {
			return nil, fmt.Errorf("what rank %d says of itself: %w", i, err)
		}
	}
	return all, nil
}

// tellAll gives every rank what each of them has to say. Collective.
func tellAll[T any](j *job, mine T) ([]T, error) {
	all, err := gather(j, mine)
	return share(j, func() ([]T, error) { return all, err })
}

// chooseBackends turns the words of --backend into backends; auto is asked for what auto means.
func chooseBackends(cfg *config, auto func() string) ([]string, error) {
	words := cfg.backends
	if len(words) == 0 {
		words = []string{"auto"}
	}
	var names []string
	for _, w := range words {
		switch {
		case cfg.rehearse && w == "ncclx":
			return nil, exit.Usagef("--simulate supports nccl only, not %s: leave one of them out", w)
		case w == "auto":
			w = auto()
		}
		if cfg.rehearse && w == "nccl" {
			w = rehearsal
		}
		if slices.Contains(names, w) {
			return nil, exit.Usagef("--backend names %s twice", w)
		}
		names = append(names, w)
	}
	if cfg.rehearse && len(cfg.backends) > 0 && !slices.Contains(names, rehearsal) && !slices.Contains(words, "auto") {
		return nil, exit.Usagef("--simulate supports nccl only, and --backend %s does not name it: leave one of them out",
			strings.Join(names, ","))
	}
	if slices.Contains(names, "nccl") && slices.Contains(names, "ncclx") {
		return nil, exit.Usagef("one launch holds one library of NCCL's kind (two would share its environment and threads): " +
			"start nccl and ncclx one after another, with one --campaign")
	}
	if f := cfg.ncclFlag(); f != "" && !slices.ContainsFunc(names, func(n string) bool { return !onHosts(n) }) {
		return nil, exit.Usagef("%s belongs to NCCL, and --backend %s is measured: leave it out, or name the backend", f,
			strings.Join(names, ","))
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
	return "", exit.Environmentf("cannot find the simulation's libraries (rehearsal/libcuda.so.1) in %s: build them with "+
		"make rehearsal, or use a bundle",
		strings.Join(dirs, ", "))
}
