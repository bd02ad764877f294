package analysis

import (
	"fmt"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/units"
)

// manyWarned is the share of the points of a group from which on what they warn of is a warning of the whole.
const manyWarned = 0.25

// warnedPoints are the points whose records warn of bimodal times or drift.
func warnedPoints(curves []*Curve, _ Options) (found []Finding) {
	for _, group := range byWorld(judged(curves)) {
		found = append(found, warnedOf(group, Bimodal)...)
		found = append(found, warnedOf(group, Drifting)...)
	}
	return found
}

// warnedOf returns the finding on a group; nil if there is none.
func warnedOf(group []*Curve, kind WarningOf) []Finding {
	points, warned := 0, 0
	var where []string
	most, mostIn := (*Curve)(nil), 0
	from, to := int64(0), int64(0)
	for _, c := range group {
		in, low, high := 0, int64(0), int64(0)
		for i := range c.Points {
			points++
			if p := &c.Points[i]; 2*int(p.Warned[kind]) > p.Records {
				if in == 0 {
					low = p.SizeBytes
				}
				in, high = in+1, p.SizeBytes
			}
		}
		if in > mostIn {
			most, mostIn, from, to = c, in, low, high
		}
		if warned += in; in > 0 {
			where = append(where, fmt.Sprintf("%s, %s (%s)", c.operation(), sizes(low, high), units.Count(in, "point")))
		}
	}
	share := float64(warned) / float64(max(points, 1))
	if warned < 2 && points > 1 || warned == 0 {
		return nil
	}
	severity := notice.Info
	if share >= manyWarned {
		severity = notice.Warning
	}
	w := notice.WarnedPoints{Points: warned, Of: points, Where: where, Example: notice.Kept{Fact: most.examples[kind]}}
	fact := notice.Fact(notice.DriftingPoints{WarnedPoints: w})
	if kind == Bimodal {
		fact = notice.BimodalPoints{WarnedPoints: w}
	}
	f := most.finding(fact, severity, share, from, to)
	f.At, f.ofGroup = notice.Location{Subject: group[0].group()}, true
	return []Finding{f}
}

// operation is the operation of a curve in a few words: "all_reduce in-place, latency mode".
func (c *Curve) operation() string {
	words := c.Collective.String()
	if c.Groups.Divided() {
		words += " " + c.Groups.String()
	}
	if c.Imbalance != "" {
		words += " " + string(c.Imbalance)
	}
	if c.Placement == coll.InPlace {
		words += " in-place"
	}
	return words + ", " + c.Mode.String() + " mode"
}
