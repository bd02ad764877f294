package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// visible is what a rank sees of the GPUs of its machine.
type visible struct {
	Machine string
	UUIDs   []string // by ordinal
	NUMA    []int    // by ordinal; -1: not known
	Near    []int    // NUMA nodes of the CPUs that the rank may use
}

// assignGPUs gives each rank an ordinal among the GPUs that it sees, such that no GPU serves two ranks of a machine if
// that can be had, whichever way the launcher shows them: all to every rank, one to each, or sets that overlap. A rank
// gets a GPU near its CPUs where there is a choice, else that of its place among the ranks of its machine. shared[r]
// says that rank r is not alone on its GPU; the error names a rank that has none.
func assignGPUs(ranks []visible) (ordinal []int, shared []bool, err error) {
	ordinal, shared = make([]int, len(ranks)), make([]bool, len(ranks))
	taken := map[string]int{} // machine and UUID: the rank that has it
	key := func(r, k int) string { return ranks[r].Machine + " " + ranks[r].UUIDs[k] }
	place := map[string]int{}
	wishes := make([][]int, len(ranks))
	for r, v := range ranks {
		if len(v.UUIDs) == 0 {
			return nil, nil, fmt.Errorf("rank %d sees no GPU", r)
		}
		wishes[r] = v.wishes(place[v.Machine])
		place[v.Machine]++
		ordinal[r] = -1
	}
	// Maximum matching by augmenting paths: a rank may take a GPU whose rank can have another one.
	var find func(r int, tried map[string]bool) bool
	find = func(r int, tried map[string]bool) bool {
		for _, k := range wishes[r] {
			g := key(r, k)
			if tried[g] {
				continue
			}
			tried[g] = true
			if owner, busy := taken[g]; !busy || find(owner, tried) {
				taken[g], ordinal[r] = r, k
				return true
			}
		}
		return false
	}
	for r := range ranks {
		if !find(r, map[string]bool{}) {
			ordinal[r] = wishes[r][0]
			shared[r] = true
		}
	}
	users := map[string]int{}
	for r := range ranks {
		users[key(r, ordinal[r])]++
	}
	for r := range ranks {
		shared[r] = users[key(r, ordinal[r])] > 1
	}
	return ordinal, shared, nil
}

// wishes are the ordinals in the order in which the rank at that place of its machine would like them.
func (v visible) wishes(place int) []int {
	n := len(v.UUIDs)
	order := make([]int, n)
	for i := range order {
		order[i] = (place + i) % n
	}
	near := func(k int) int {
		if k < len(v.NUMA) && v.NUMA[k] >= 0 && len(v.Near) == 1 && v.NUMA[k] != v.Near[0] {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(near(a), near(b)) })
	return order
}

// sharedGPUs says which ranks sit on one GPU, for the error that refuses them.
func sharedGPUs(ranks []gpuFacts, facts []rankFacts) string {
	by := map[string][]int{}
	var order []string
	for r, g := range ranks {
		k := facts[r].Machine + " " + g.UUID
		if len(by[k]) == 0 {
			order = append(order, k)
		}
		by[k] = append(by[k], r)
	}
	var parts []string
	for _, k := range order {
		if rs := by[k]; len(rs) > 1 {
			text := make([]string, len(rs))
			for i, r := range rs {
				text[i] = fmt.Sprint(r)
			}
			g := ranks[rs[0]]
			parts = append(parts, fmt.Sprintf("ranks %s on %s share one GPU (%s, %s, %s)", strings.Join(text, ", "), facts[rs[0]].Host, g.Name, g.PCI, g.UUID))
		}
	}
	return strings.Join(parts, "; ")
}
