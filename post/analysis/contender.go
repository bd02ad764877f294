package analysis

import (
	"cmp"
	"maps"
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

// Names returns short unique names.
func Names(contenders []Contender) map[Contender]string {
	name := map[Contender]string{}
	for _, c := range contenders {
		name[c] = c.Backend
	}
	for _, more := range []func(Contender) string{ofVariant, ofSettings, ofLibrary, ofDevice} {
		before := maps.Clone(name)
		for _, c := range contenders {
			if words := more(c); words != "" && slices.ContainsFunc(contenders, func(d Contender) bool {
				return before[d] == before[c] && more(d) != words
			}) {
				name[c] = before[c] + " (" + words + ")"
			}
		}
	}
	return name
}

func ofVariant(c Contender) string  { return c.Variant }
func ofSettings(c Contender) string { return c.Settings }
func ofLibrary(c Contender) string  { return c.Library }
func ofDevice(c Contender) string   { return c.Device }

// Parts are what distinguishes contenders, the first parts first.
var Parts = []func(Contender) string{
	func(c Contender) string { return c.Backend }, ofVariant, ofLibrary, ofSettings, ofDevice,
}
