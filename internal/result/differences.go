package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tuning are the beginnings of names of variables that make figures of a library other ones.
var tuning = []string{"NCCL_", "UCX_", "FI_", "GLOO_", "MPICH_", "MPIR_CVAR_", "OMPI_MCA_btl", "OMPI_MCA_pml", "OMPI_MCA_mtl", "OMPI_MCA_coll"}

// harmless are variables with such names that do not.
var harmless = []string{"NCCL_DEBUG", "NCCL_COMM_ID", "UCX_ERROR_SIGNALS", "UCX_DEBUG_SIGNO"}

// noteDifferences tells where runs that count as launches of one thing had other settings in their environment: that is
// what variants are for.
func (d *Dataset) noteDifferences() {
	var order []RunKey
	alike := map[RunKey][]*Run{}
	for _, run := range d.Runs() {
		k := run.Key()
		if alike[k] == nil {
			order = append(order, k)
		}
		alike[k] = append(alike[k], run)
	}
	said := map[Problem]bool{} // of each world it would be the same
	for _, k := range order {
		for _, text := range differences(alike[k]) {
			if p := (Problem{Path: "runs of " + k.Backend, Text: text}); !said[p] {
				said[p] = true
				d.notes = append(d.notes, p)
			}
		}
	}
}

// differences are the variables that were not the same in all runs, in words.
func differences(runs []*Run) (texts []string) {
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
			texts = append(texts, fmt.Sprintf("launches of one thing differ in %s (%s) and are put together all the same; --variant NAME at the next run keeps them apart",
				name, strings.Join(slices.Sorted(maps.Keys(values)), ", ")))
		}
	}
	return texts
}
