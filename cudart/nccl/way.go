package nccl

import (
	"path/filepath"
	"slices"
	"strings"
)

// ProfilerVariable is NCCL's (2.23 and newer) variable for a plugin of its profiler interface.
const ProfilerVariable = "NCCL_PROFILER_PLUGIN"

// profilerPathMax is the longest path of a plugin, in bytes: NCCL copies it into a buffer of 255 and opens the
// truncated path.
const profilerPathMax = 254

// profilerLibrary is the plugin's file.
const profilerLibrary = "busbar-nccl-profiler.so"

func profilerCandidates(folders []string) []string {
	var all []string
	for _, f := range folders {
		all = append(all, filepath.Join(f, profilerLibrary))
	}
	return all
}

// channelsUsed is the version of the interface from which on NCCL reports how many channels an operation uses; earlier
// versions report how many it may use.
const channelsUsed = 4

// Profilable reports whether the library may be given a plugin for NCCL's profiler interface. Libraries that build on
// NCCL may have changed its structures under the same names.
func (i Info) Profilable() bool { return i.Name == NameNCCL || i.Name == NameRehearsal }

// Way is how NCCL carries an operation out, in its own words. What goes from rank to rank (send and receive, and what
// is made of them) has channels only; CE is what copy engines do without a kernel.
type Way struct {
	Algorithm string // RING, TREE, NVLS, …; several, joined by +, where the operation was done in parts
	Protocol  string // LL, LL128, SIMPLE
	Channels  int    // 0: not reported
	AtMost    bool   // maximum number of channels
}

// Known reports whether any part is known.
func (w Way) Known() bool { return w.Algorithm != "" || w.Protocol != "" || w.Channels > 0 }

// add adds an operation that NCCL reported.
func (w *Way) add(algorithm, protocol string, channels int) {
	w.Algorithm = join(w.Algorithm, algorithm)
	w.Protocol = join(w.Protocol, protocol)
	w.Channels = max(w.Channels, channels)
}

// join adds a word that is not there yet. Unknown is NCCL's for having none.
func join(words, word string) string {
	switch {
	case word == "" || word == "Unknown":
		return words
	case words == "":
		return word
	case slices.Contains(strings.Split(words, "+"), word):
		return words
	}
	return words + "+" + word
}
