package result

import (
	"maps"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// tuning are prefixes of the names of variables that change the speed of a library.
var tuning = []string{"NCCL_", "UCX_", "FI_", "GLOO_", "MPICH_", "MPIR_CVAR_", "OMPI_MCA_btl", "OMPI_MCA_pml",
	"OMPI_MCA_mtl", "OMPI_MCA_coll"}

// harmless are variables with such names that do not.
var harmless = []string{"NCCL_DEBUG", "NCCL_COMM_ID", "UCX_ERROR_SIGNALS", "UCX_DEBUG_SIGNO"}

// noteDifferences notes where runs that count as launches of one thing had other settings in their environment: that is
// what variants are for.
func (d *Dataset) noteDifferences() {
	for _, alike := range units.GroupBy(d.Runs(), (*Run).Key) {
		for _, f := range differences(alike) {
			n := notice.New(f)
			n.At.Subject = alike[0].Backend.Name
			if !slices.ContainsFunc(d.notes, n.Equal) { // of each world it would be the same
				d.notes = append(d.notes, n)
			}
		}
	}
}

// differences are the variables that were not the same in all runs.
func differences(runs []*Run) (found []notice.Fact) {
	names := map[string]bool{}
	for _, run := range runs {
		for name := range run.Environment {
			begins := func(word string) bool { return strings.HasPrefix(name, word) }
			names[name] = slices.ContainsFunc(tuning, begins) && !slices.ContainsFunc(harmless, begins)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if !names[name] {
			continue
		}
		values := map[string]bool{}
		for _, run := range runs {
			value, set := run.Environment[name]
			if !set {
				value = "unset"
			}
			values[value] = true
		}
		if len(values) > 1 {
			found = append(found, notice.LaunchesDiffer{Variable: name, Values: slices.Sorted(maps.Keys(values))})
		}
	}
	return found
}
