package timeline

import (
	"cmp"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice/profiles"
	"busbar/internal/units"
)

// sameStream is for communication that shares a stream with computation. What is not hidden can be hidden only behind
// what computes.
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

// sharing is how much of communication runs on streams that do most of the computing too, in percent.
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

// littleCompute is for less computation than communication: then it cannot all be hidden.
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

// lastBucket is for the last one of DDP's gradient buckets, or the only one, if it is too large to be hidden. It is
// that of the device with the median exposure.
func (a assessment) lastBucket() Advice {
	inBuckets := func(d *Device) (ms float64) {
		for _, b := range d.Buckets {
			ms += b.Exposed
		}
		return ms
	}
	without := func(d *Device) bool { return len(d.Buckets) == 0 }
	with := slices.DeleteFunc(slices.Clone(a.comm.devices), without)
	if len(with) == 0 {
		return Advice{}
	}
	slices.SortStableFunc(with, func(x, y *Device) int { return cmp.Compare(inBuckets(x), inBuckets(y)) })
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

// wideGradients is for 32-bit gradients that are not hidden. Halving them gains half of that at most.
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

// exposedMost names the operation that is exposed for the longest, unless advice that was found already has the cause
// of half of it. It can be hidden only behind what computes and hides nothing yet.
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

// hasCause reports whether advice has the cause of exposed communication. Too little to compute is no cause of its own.
func (a Advice) hasCause() bool {
	if _, is := a.Found.Fact.(profiles.LittleCompute); is {
		return false
	}
	return a.Topic == topicOverlap || a.Topic == topicBalance || a.Topic == topicTopology
}

// mostExposed is the operation with the most exposed time, in milliseconds of a step or a recording.
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
	belowBenchmark = 80      // percent of what the machine reached: less is worth a look
	bandwidthBound = 1 << 20 // bytes from which on a collective is compared with a benchmark
)

// belowBenchmark is for collectives that are slower than the machine was in a benchmark.
func (a assessment) belowBenchmark() Advice {
	var slow *profiles.AgainstBenchmark
	gain := 0.0
	for i := range a.Against {
		j := &a.Against[i]
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

// pureOf is what a joined collective takes a rank, in milliseconds a step or recording, by its bus bandwidth.
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
