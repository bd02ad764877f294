package result

import "slices"

// related groups the files that have records of one run, or of runs that continue each other. Files alone are left out.
func related(files []*source) [][]*source {
	group := make([]int, len(files)) // index of a file in the same group, or its own
	root := func(i int) int {
		for group[i] != i {
			group[i] = group[group[i]] // shortens the way of those that come next
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

// ancestry says, for each run of a group, which others it continues, also by way of others. A run that was resumed ten
// thousand times has fifty million such pairs, so that a pair is one bit.
type ancestry struct {
	number map[string]int // of a run, by its ID
	before []set          // numbers of the runs that a run continues
}

func ancestors(files []*source) *ancestry {
	a := &ancestry{number: map[string]int{}}
	var parents [][]string
	for _, s := range files {
		i, there := a.number[s.run.ID]
		if !there {
			i = len(parents)
			a.number[s.run.ID], parents = i, append(parents, nil)
		}
		parents[i] = s.run.Resumes
	}
	a.before = make([]set, len(parents))
	known := 0 // runs before it are done: older ones mostly, which is where parents are
	for ; known < len(parents); known++ {
		a.before[known] = a.above(known, parents, known)
	}
	return a
}

// above are the numbers of all runs that run i continues. Those of the runs before number known are there already.
func (a *ancestry) above(i int, parents [][]string, known int) (seen set) {
	open := slices.Clone(parents[i])
	for len(open) > 0 {
		p, here := a.number[open[len(open)-1]]
		open = open[:len(open)-1]
		switch {
		case !here || p == i || seen.has(p):
		case p < known:
			seen.add(p)
			seen.join(a.before[p])
		default:
			seen.add(p)
			open = append(open, parents[p]...)
		}
	}
	seen.remove(i) // runs that continue each other are before one another, and none before itself
	return seen
}

// continues says whether run id continues the other.
func (a *ancestry) continues(id, other string) bool {
	i, there := a.number[id]
	j, alsoThere := a.number[other]
	return there && alsoThere && a.before[i].has(j)
}
