package backend

import (
	"errors"
	"fmt"
	"slices"

	"busbar/cudart"
	"busbar/cudart/nccl"
	"busbar/rank/launch"
)

// sight is what one rank finds when auto looks for GPUs.
type sight struct {
	Seen   VisibleGPUs
	Noted  bool // worth a note: this host shows signs of a GPU
	Broken bool // a driver is present or expected, and does not work
}

// Auto is what auto means on this launch: NCCL where some world has a GPU for each rank, and the library, else
// MPI. In a simulation only the number of GPUs counts: opening the simulated libraries reports other errors.
// Collective.
func Auto(h *Host, worlds []int) string {
	h.Watch.Phase("find the GPUs", 0)
	paths, err := h.Options.LibraryPaths()
	var devices []cudart.Device
	if err == nil {
		devices, err = new(ncclGPUs).loadDriver(paths)
	}
	var cuda *cudart.Error
	mine := sight{Seen: h.sees(devices, err),
		// The user named a library.
		Noted:  err == nil || h.Options.Simulate || h.Options.NCCL != "" || h.Options.CUDA != "",
		Broken: err != nil && !(errors.As(err, &cuda) && cuda.IsNoDevice())}
	all, err := launch.AllGatherJSON(h.Group, mine)
	if err != nil {
		return h.withoutGPUs() // the next step has the same error
	}
	if h.Options.Simulate && slices.ContainsFunc(all, func(s sight) bool { return s.Broken }) {
		return "nccl"
	}
	why, g := autoReason(all, h.Ranks, worlds, h.Options.ShareGPU)
	lacks := ""
	if h.Rank < g.takers && !h.Options.Simulate {
		if _, err := nccl.Load(nccl.Options{Path: paths.NCCL}); err != nil {
			lacks = err.Error()
		}
	}
	texts, err := launch.AllGatherJSON(h.Group, lacks)
	if err != nil {
		return h.withoutGPUs()
	}
	for r, text := range texts {
		if text != "" && why == "" {
			why = fmt.Sprintf("rank %d on %s: %s", r, h.Ranks[r].Host, text)
		}
	}
	if why == "" {
		return "nccl"
	}
	if h.Rank == 0 && slices.ContainsFunc(all, func(s sight) bool { return s.Noted }) {
		fmt.Fprintf(h.Stderr, "rank: NCCL is not measured, but %s: %s\n", h.withoutGPUs(), why)
	}
	return h.withoutGPUs()
}

// withoutGPUs is the backend where not every rank has a GPU.
func (h *Host) withoutGPUs() string {
	if h.MPI == nil {
		return "gloo"
	}
	return "mpi"
}

// autoReason is why no world has a GPU for each rank; "" if one has.
func autoReason(all []sight, facts []launch.RankFacts, worlds []int, share bool) (string, gpuWorlds) {
	var seen []VisibleGPUs
	for _, s := range all {
		seen = append(seen, s.Seen)
	}
	g := fitWorlds(seen, facts, worlds, share)
	if g.takers > 0 {
		return "", g
	}
	for r, v := range seen {
		if v.None != nil {
			return fmt.Sprintf("rank %d on %s: %s", r, facts[r].Host, v.None), g
		}
	}
	least := len(all)
	for _, n := range worlds {
		least = min(least, n)
	}
	return fmt.Sprintf("there are more ranks than GPUs on %s: a world of %d %s "+
		"(--backend nccl --allow-shared-gpu lets them share)", facts[g.served].Host, least, g.unfit(least)), g
}
