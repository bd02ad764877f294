package result

import (
	"fmt"

	"busbar/internal/coll"
	"busbar/internal/units"
)

const markdownHead = `| backend | world | collective | type | op | placement | mode | size | time | 95 % interval | algbw GB/s | busbw GB/s | check | status | warnings |
|---|---:|---|---|---|---|---|---:|---:|---:|---:|---:|---|---|---|
`

func (row Row) markdown(b []byte) []byte {
	run, r := row.Run, row.Record
	var seconds, interval, algbw, busbw string
	if t := r.Time; t != nil {
		seconds = humanTime(t.Seconds)
		if t.Hi > 0 {
			interval = humanTime(t.Lo) + " – " + humanTime(t.Hi)
		}
		if r.HasAlgBW() {
			algbw = digits(r.AlgBW(t.Seconds)/1e9, 2)
		}
		if r.HasBusBW() {
			busbw = digits(r.BusBW(t.Seconds)/1e9, 2)
		}
	}
	status := string(r.Status)
	if r.Status != OK {
		status = reason(r)
	}
	if r.Group != nil {
		status += ", " + r.Group.String()
	}
	world := ""
	if r.World > 0 {
		world = fmt.Sprint(r.World)
	}
	cells := []string{
		run.Backend.Name, world, r.Operation(), ifAny(r.Type != 0, r.Type.String), r.Op.String(),
		ifAny(r.Placement != 0, r.Placement.String),
		ifAny(r.Mode != 0, r.Mode.String), coll.FormatSize(r.SizeBytes, true), seconds, interval, algbw, busbw, r.checked(),
		status, row.warnings(),
	}
	for _, c := range cells {
		b = append(append(append(b, "| "...), units.Markdown(c)...), ' ')
	}
	return append(b, "|\n"...)
}

// humanTime is a time with its unit, in three or more digits.
func humanTime(s float64) string {
	switch {
	case s < 1e-3:
		return digits(s*1e6, 3) + " us"
	case s < 1:
		return digits(s*1e3, 3) + " ms"
	}
	return digits(s, 3) + " s"
}
