package timeline

import (
	"cmp"
	"regexp"
	"slices"

	"busbar/internal/units"
	"busbar/post/trace"
)

// smell matches words typical of communication and rare in names of computation: such kernels are listed.
var smell = regexp.MustCompile(
	`(?i)all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|(?:^|_)a2a(?:_|$)|nccl|rccl|` +
		`nvlink|nvls|shmem|symm_?mem|symmetric_?mem|multimem|userbuf|lamport|` +
		`cross_?device|(?:one|two)_?shot|remote|(?:^|[_:])(?:comm|ipc|p2p|peer|rdma|ib|ep)(?:[_:]|$)|` +
		`send_?recv|communicat`)

// unclassified returns the kernel names that may be communication but count as computation.
func (s *study) unclassified() (list []Unclassified) {
	sums, calls := make([]int64, len(s.Names)), make([]int, len(s.Names))
	var all int64
	for i := range s.Activities {
		if a := &s.Activities[i]; a.Kind == trace.Kernel {
			all += a.End - a.Start
			if s.classes[i] == computing {
				sums[a.Name] += a.End - a.Start
				calls[a.Name]++
			}
		}
	}
	for i, n := range calls {
		if n == 0 || s.names[i].comm || s.names[i].within {
			continue
		}
		f := functionOf(s.Names[i])
		word := cmp.Or(smell.FindString(f.name), smell.FindString(f.scope))
		if word == "" {
			continue
		}
		name := f.String() // a function has many names, by its types
		u := units.Entry(&list, func(o Unclassified) bool { return o.Name == name },
			Unclassified{Name: name, Word: word})
		u.Calls += n
		u.Sum += milliseconds(sums[i])
		u.Share += share(sums[i], all)
	}
	slices.SortFunc(list, func(a, b Unclassified) int {
		return cmp.Or(cmp.Compare(b.Sum, a.Sum), cmp.Compare(a.Name, b.Name))
	})
	return list
}
