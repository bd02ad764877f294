package timeline

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/units"
)

// Minimum sizes of an all-reduce of gradients; smaller ones are losses, norms or counters.
const (
	minBucket      = 4 << 10
	minBucketShare = 1024 // share of the largest of its communicator
)

// Names of groups of other kinds of parallelism, and of those that reduce gradients too.
var (
	otherParallel = regexp.MustCompile(
		`(?i)tensor|pipeline|expert|context|sequence|model|(?:^|[^a-z])(?:tp|pp|ep|cp|mp)(?:[^a-z]|$)`)
	dataParallel = regexp.MustCompile(`(?i)data|ddp|(?:^|[^a-z])dp(?:[^a-z]|$)`)
)

// buckets finds the gradient buckets of DDP: all-reduces of floating-point numbers in one communicator, whose sizes
// repeat in the same order every step. Three or more of equal size are more likely activations of tensor parallelism.
// A communicator that gathers and scatters more than it reduces belongs to sharded training.
func (d *Device) buckets() {
	candidates := make([][]*seen, len(d.Groups))
	sharded := make([]int64, len(d.Groups)) // bytes
	for c := range units.Each(d.seen) {
		row := d.rowOf(c)
		switch bytes := d.bytesOf(c); row.Name {
		case coll.AllGather.String(), coll.ReduceScatter.String():
			sharded[c.group] += bytes
		case coll.AllReduce.String():
			if bytes >= minBucket && (row.Type == "" || strings.Contains(row.Type, "float")) {
				candidates[c.group] = append(candidates[c.group], c)
			}
		}
	}
	for g, calls := range candidates {
		calls, reduced := d.withoutSmall(calls)
		about := d.Groups[g].About
		if sharded[g] > reduced || otherParallel.MatchString(about) && !dataParallel.MatchString(about) {
			continue
		}
		for n, place := range d.places(calls) {
			row := d.rowOf(place[0])
			d.Buckets = append(d.Buckets, Bucket{Number: n + 1, Bytes: *row.Bytes, Type: row.Type, Group: row.Group,
				Steps:   len(place),
				Median:  medianOf(place, func(c *seen) float64 { return milliseconds(c.end - c.start) }),
				Exposed: medianOf(place, func(c *seen) float64 { return milliseconds(c.exposed) })})
		}
	}
}

// bytesOf returns the size of a call; 0 if unknown.
func (d *Device) bytesOf(c *seen) int64 {
	if bytes := d.rowOf(c).Bytes; bytes != nil {
		return *bytes
	}
	return 0
}

// withoutSmall removes calls much smaller than the largest, and returns the remaining bytes.
func (d *Device) withoutSmall(calls []*seen) (kept []*seen, bytes int64) {
	var largest int64
	for _, c := range calls {
		largest = max(largest, d.bytesOf(c))
	}
	for _, c := range calls {
		if size := d.bytesOf(c); size >= largest/minBucketShare {
			kept = append(kept, c)
			bytes += size
		}
	}
	return kept, bytes
}

// places returns the calls at each place of the most common sequence of rows in a step, if it repeats. Sequences vary:
// DDP reorders its buckets after the first step, and steps that accumulate gradients reduce nothing.
func (d *Device) places(calls []*seen) (places [][]*seen) {
	steps := make([][]*seen, len(d.Steps))
	rows := make([]string, len(d.Steps))
	for _, c := range calls {
		if c.step >= 0 {
			steps[c.step] = append(steps[c.step], c)
			rows[c.step] += fmt.Sprint(c.collective, " ")
		}
	}
	times, most := map[string]int{}, ""
	for _, k := range rows {
		if times[k]++; k != "" && (times[k] > times[most] || times[k] == times[most] && k < most || most == "") {
			most = k
		}
	}
	for n, step := range steps {
		if rows[n] != most || times[most] < 2 || ofOneRow(step) {
			continue
		}
		if places == nil {
			places = make([][]*seen, len(step))
		}
		for i, c := range step {
			places[i] = append(places[i], c)
		}
	}
	return places
}

func ofOneRow(step []*seen) bool {
	return len(step) > 2 && !slices.ContainsFunc(step, func(c *seen) bool { return c.collective != step[0].collective })
}
