package timeline

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice/profiles"
	"busbar/internal/units"
)

// sameStream covers communication that shares a stream with computation. Only other computation can hide it.
func (a assessment) sameStream() Advice {
	share := a.comm.sharing()
	exposed := a.comm.part(exposedOf)
	gain := min(exposed, a.comm.part(notHidingOf))
	if share < 50 || !a.matters(gain) {
		return Advice{}
	}
	return advice(topicOverlap, gain, profiles.SharedStreams{Streams: streamsOf(a.Devices),
		Share: units.Share(share / 100), Exposed: seconds(exposed), Per: a.comm.per})
}

// sharing returns the percentage of communication on streams that also do most of the computing.
func (y typical) sharing() float64 {
	return y.median(func(d *Device) (sum float64) {
		for _, s := range d.Shared {
			if s.OfCompute >= 50 {
				sum += s.OfComm
			}
		}
		return sum
	})
}

// littleCompute covers less computation than communication, which makes full overlap impossible.
func (a assessment) littleCompute() Advice {
	compute, exposed := a.comm.part(computeOf), a.comm.part(exposedOf)
	pure, waiting := a.pure()
	comm := a.comm.part(commOf) * pure
	if compute >= comm || !a.matters(exposed) {
		return Advice{}
	}
	return advice(topicOverlap, exposed, profiles.LittleCompute{Compute: seconds(compute), Comm: seconds(comm),
		Waiting: waiting, Per: a.comm.per})
}

// lastBucket covers the last or only DDP gradient bucket if it is too large to hide. It uses the device with the
// median exposure.
func (a assessment) lastBucket() Advice {
	inBuckets := func(d *Device) (ms float64) {
		for _, b := range d.Buckets {
			ms += b.Exposed
		}
		return ms
	}
	with := units.Where(a.comm.devices, func(d *Device) bool { return len(d.Buckets) > 0 })
	if len(with) == 0 {
		return Advice{}
	}
	units.SortBy(with, inBuckets)
	middle := with[len(with)/2]
	all, exposed := middle.Buckets, inBuckets(middle)
	const mib = 1 << 20
	last := all[len(all)-1]
	if last.Bytes < 2*mib || last.Exposed < exposed/2 || !a.matters(last.Exposed) {
		return Advice{}
	}
	median := int64(medianOf(all, func(b Bucket) float64 { return float64(b.Bytes) }))
	return advice(
		topicOverlap,
		last.Exposed,
		profiles.LastBucket{Exposed: seconds(exposed), Last: seconds(last.Exposed),
			Bucket: units.RoughBytes(last.Bytes), Median: units.RoughBytes(median), Cap: max(1, median/2/mib)},
	)
}

// wideGradients covers exposed 32-bit gradients. Halving them gains at most half of that.
func (a assessment) wideGradients() Advice {
	wide := func(c *Collective) bool {
		return syncs(c) && c.Type == coll.Float32.String() && c.Bytes != nil && *c.Bytes >= 1<<20
	}
	took := a.comm.calls(wide)
	pure, waiting := a.pure()
	exposed := took.exposed * pure
	if !a.matters(exposed / 2) {
		return Advice{}
	}
	return advice(topicOverlap, exposed/2, profiles.WideGradients{Time: seconds(took.sum), Exposed: seconds(exposed),
		Waiting: waiting, Per: a.comm.per})
}

// exposedMost names the operation with the most exposed time, unless earlier advice explains half of it. Only
// computation that hides nothing yet can hide it.
func (a assessment) exposedMost(found []Advice) Advice {
	name, exposed := a.mostExposed()
	explained := func(f Advice) bool { return f.Gain >= exposed/2 && f.hasCause() }
	if !a.loses(exposedOf) || exposed <= 0 || slices.ContainsFunc(found, explained) {
		return Advice{}
	}
	_, waiting := a.pure()
	return advice(topicOverlap, min(exposed, a.comm.part(notHidingOf)), profiles.ExposedCollective{Collective: name,
		Exposed: seconds(exposed), Total: seconds(a.comm.part(exposedOf)), Per: a.comm.per, Waiting: waiting})
}

// hasCause reports whether advice explains exposed communication. Too little computation does not count as a cause.
func (a Advice) hasCause() bool {
	if _, is := a.Found.Fact.(profiles.LittleCompute); is {
		return false
	}
	return a.Topic == topicOverlap || a.Topic == topicBalance || a.Topic == topicTopology
}

// mostExposed returns the operation with the most exposed time, in milliseconds per step or recording.
func (a assessment) mostExposed() (name string, exposed float64) {
	var names []string
	for _, d := range a.comm.devices {
		for i := range d.Collectives {
			names = units.AddOnce(names, d.Collectives[i].Name)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		if of := a.comm.calls(func(c *Collective) bool { return c.Name == n }); of.exposed > exposed {
			name, exposed = n, of.exposed
		}
	}
	return name, exposed
}

const (
	belowBenchmark = 80      // percent of the benchmark's bandwidth; lower is reported
	bandwidthBound = 1 << 20 // minimum bytes for the comparison with a benchmark
)

// belowBenchmark covers collectives that are slower than in a benchmark.
func (a assessment) belowBenchmark() Advice {
	var slow *profiles.AgainstBenchmark
	gain := 0.0
	for j := range units.Each(a.Against) {
		if j.Size < bandwidthBound || j.Percent >= belowBenchmark {
			continue
		}
		gain += (1 - float64(j.Percent)/100) * a.pureOf(j)
		if slow == nil || j.Percent < slow.Percent {
			slow = j
		}
	}
	if slow == nil || !a.matters(min(gain, a.comm.part(commOf))) {
		return Advice{}
	}
	return advice(topicTopology, min(gain, a.comm.part(exposedOf)), profiles.BelowBenchmark{Collective: slow.Collective,
		Size: slow.Size, Share: units.Share(slow.Percent / 100), BusBW: slow.Busbw, Benchmark: slow.Reached})
}

// pureOf returns a joined collective's time per rank, in milliseconds per step or recording, from its bus bandwidth.
func (a assessment) pureOf(j *profiles.AgainstBenchmark) float64 {
	what, err := coll.ParseCollective(j.Collective)
	if err != nil || j.Busbw <= 0 {
		return 0
	}
	took := a.comm.calls(func(c *Collective) bool {
		return c.Name == j.Collective && c.Type == j.Type && c.Ranks == j.Ranks && c.Bytes != nil &&
			*c.Bytes == int64(j.Size)
	})
	return took.calls * float64(j.Size) * what.BusFactor(j.Ranks) / float64(j.Busbw) * 1e3
}
