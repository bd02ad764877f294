package timeline

import (
	"cmp"
	"maps"
	"slices"
)

// operator is the time of the kernels or copies of one name.
type operator struct {
	name   string
	copies bool
	sum    int64   // ns, in steps and outside
	steps  []int64 // ns, by index in Device.Steps
}

// mostOperators is how many names are kept: those with most time. A device has some hundred at most.
const mostOperators = 200

// sumOperators returns the times of kernels that compute, and of copies, by name.
func (s *study) sumOperators() []operator {
	type key struct {
		name   string
		copies bool
	}
	found, ofName := map[key]*operator{}, make([][2]*operator, len(s.Names))
	for i := range s.Activities {
		a := &s.Activities[i]
		if s.classes[i] == communicating {
			continue
		}
		o := &ofName[a.Name][s.classes[i]/copying]
		if *o == nil {
			k := key{s.Names[a.Name], s.classes[i] == copying}
			if !k.copies {
				k.name = cmp.Or(s.names[a.Name].name, k.name)
			}
			if found[k] == nil {
				found[k] = &operator{name: k.name, copies: k.copies, steps: make([]int64, len(s.host))}
			}
			*o = found[k]
		}
		(*o).sum += a.End - a.Start
		if n := s.stepOf[i]; n >= 0 {
			(*o).steps[n] += a.End - a.Start
		}
	}
	all := slices.SortedFunc(maps.Values(found), func(a, b *operator) int {
		return cmp.Or(cmp.Compare(b.sum, a.sum), cmp.Compare(a.name, b.name))
	})
	kept := make([]operator, min(len(all), mostOperators))
	for i := range kept {
		kept[i] = *all[i]
	}
	return kept
}
