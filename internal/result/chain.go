package result

import (
	"slices"
)

// related groups the files that have records of one run, or of runs that continue each other. Files alone are left out.
func related(files []*source) [][]*source {
	group := make([]int, len(files)) // index of a file in the same group, or its own
	root := func(i int) int {
		for group[i] != i {
			i = group[i]
		}
		return i
	}
	first := map[string]int{} // by run
	for i, s := range files {
		group[i] = i
		if j, ok := first[s.run.ID]; ok {
			group[i] = root(j)
		} else {
			first[s.run.ID] = i
		}
	}
	for i, s := range files {
		for _, id := range s.run.Resumes {
			if j, ok := first[id]; ok {
				group[root(j)] = root(i)
			}
		}
	}
	members := map[int][]*source{}
	for i, s := range files {
		members[root(i)] = append(members[root(i)], s)
	}
	var groups [][]*source
	for i := range files {
		if m := members[i]; len(m) > 1 {
			groups = append(groups, m)
		}
	}
	return groups
}

// ancestors are, for each run, the runs among files that it continues, also by way of others.
func ancestors(files []*source) map[string]map[string]bool {
	parents := map[string][]string{}
	for _, s := range files {
		parents[s.run.ID] = s.run.Resumes
	}
	all := map[string]map[string]bool{}
	for id := range parents {
		seen := map[string]bool{}
		open := slices.Clone(parents[id])
		for len(open) > 0 {
			p := open[len(open)-1]
			open = open[:len(open)-1]
			if !seen[p] && p != id {
				seen[p] = true
				open = append(open, parents[p]...)
			}
		}
		all[id] = seen
	}
	return all
}
