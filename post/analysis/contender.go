package analysis

import (
	"cmp"
	"slices"

	"busbar/internal/result"
)

// Contender is what is compared with others: a backend with its library on one kind of device, and the variant and the
// settings of it.
type Contender struct {
	Backend, Library, Variant, Settings, Device string
	Rehearsed                                   bool
}

// ContenderOf is what a run measured.
func ContenderOf(r *result.Run) Contender {
	return Contender{r.Backend.Name, r.Backend.Title(), r.Variant, r.Method.Settings().String(), r.Device, r.Rehearse}
}

// CompareContenders puts backends together, and of one first what has no variant and no settings.
func CompareContenders(a, b Contender) int {
	return cmp.Or(cmp.Compare(a.Backend, b.Backend), cmp.Compare(a.Library, b.Library),
		cmp.Compare(a.Variant, b.Variant),
		cmp.Compare(a.Settings, b.Settings), cmp.Compare(a.Device, b.Device))
}

// Names tells contenders apart in as few words as it takes.
func Names(contenders []Contender) map[Contender]string {
	name := map[Contender]string{}
	for _, c := range contenders {
		name[c] = c.Backend
	}
	for _, more := range []func(Contender) string{
		func(c Contender) string { return c.Variant }, func(
			c Contender,
		) string {
			return c.Settings
		}, func(c Contender) string { return c.Library },
		func(c Contender) string { return c.Device },
	} {
		for _, same := range alike(contenders, name) {
			for _, c := range same {
				if words := more(c); words != "" &&
					slices.ContainsFunc(same, func(d Contender) bool { return more(d) != words }) {
					name[c] += " (" + words + ")"
				}
			}
		}
	}
	return name
}

// alike are the groups of contenders that have one name.
func alike(contenders []Contender, name map[Contender]string) map[string][]Contender {
	groups := map[string][]Contender{}
	for _, c := range contenders {
		groups[name[c]] = append(groups[name[c]], c)
	}
	for n, group := range groups {
		if len(group) == 1 {
			delete(groups, n)
		}
	}
	return groups
}
