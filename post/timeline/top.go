package timeline

import (
	"cmp"

	"busbar/internal/units"
)

// topExposed sets the longest exposed collectives.
func (s *study) topExposed(out *Device) {
	order := make([]*seen, 0, len(out.seen))
	for i := range out.seen {
		if out.seen[i].exposed > 0 {
			order = append(order, &out.seen[i])
		}
	}
	units.SortBy(order, func(s *seen) int64 { return -s.exposed })
	for _, c := range order[:min(cmp.Or(s.options.Top, DefaultTop), len(order))] {
		row := out.rowOf(c)
		e := Exposed{Name: row.Name, Group: row.Group, Bytes: row.Bytes, Stream: int(c.stream),
			Start: milliseconds(c.start), Took: milliseconds(c.end - c.start), Exposed: milliseconds(c.exposed)}
		if c.step >= 0 {
			e.Step = s.host[c.step].Name
		}
		out.Top = append(out.Top, e)
	}
}
