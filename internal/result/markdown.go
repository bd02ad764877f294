package result

import (
	"fmt"

	"busbar/internal/coll"
	"busbar/internal/units"
)

const markdownHead = "| backend | world | collective | type | op | placement | mode | size | time " +
	"| 95 % interval | algbw GB/s | busbw GB/s | check | status | warnings |\n" +
	"|---|---:|---|---|---|---|---|---:|---:|---:|---:|---:|---|---|---|\n"

func (r Row) markdown(b []byte) []byte {
	run, record := r.Run, r.Record
	var seconds, interval, algbw, busbw string
	if t := record.Time; t != nil {
		seconds = humanTime(t.Seconds)
		if t.Hi > 0 {
			interval = humanTime(t.Lo) + " – " + humanTime(t.Hi)
		}
		if record.HasAlgBW() {
			algbw = digits(record.AlgBW(t.Seconds)/1e9, 2)
		}
		if record.HasBusBW() {
			busbw = digits(record.BusBW(t.Seconds)/1e9, 2)
		}
	}
	status := string(record.Status)
	if record.Status != OK {
		status = reason(record)
	}
	if record.Group != nil {
		status += ", " + record.Group.String()
	}
	world := ""
	if record.World > 0 {
		world = fmt.Sprint(record.World)
	}
	cells := []string{
		run.Backend.Name, world, record.Operation(), ifAny(record.Type != 0, record.Type.String), record.Op.String(),
		ifAny(record.Placement != 0, record.Placement.String),
		ifAny(
			record.Mode != 0,
			record.Mode.String,
		), coll.FormatSize(record.SizeBytes, true), seconds, interval, algbw, busbw, record.checked(),
		status, r.warnings(),
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
