package timeline

import (
	"busbar/internal/coll"
	"busbar/internal/units"
)

// operator is the time of the kernels that compute, or the copies, of one name.
type operator struct {
	Name   string
	Copies bool
	Steps  []int64 `json:"-"` // ns outside steps, then by index in Device.Steps
}

// mostOperators is how many names are kept: those with most time. A device has some hundred at most.
const mostOperators = 200

// sumOperators returns the times of kernels that compute, and of copies, by name.
func (s *study) sumOperators() (all []operator) {
	var of units.Numbers[int64]
	for i := range s.Activities {
		a, copies := &s.Activities[i], s.classes[i] == copying
		if s.classes[i] == communicating {
			continue
		}
		n, added := of.Of(int64(a.Name)<<2 | int64(s.classes[i]))
		if added {
			all = append(all, operator{s.Names[a.Name], copies, make([]int64, len(s.host)+1)})
		}
		all[n].Steps[s.stepOf[i]+1] += a.End - a.Start
	}
	units.SortBy(all, func(o operator) int64 { return -coll.Total(o.Steps) })
	return all[:min(len(all), mostOperators)]
}
