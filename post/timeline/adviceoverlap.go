package timeline

import (
	"cmp"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/stats"
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
	return Advice{topicOverlap, gain, notice.SharedStreams{Streams: streamsOf(a.Devices), Share: units.Share(share / 100),
		Exposed: seconds(exposed), Per: a.comm.per}}
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
	return Advice{topicOverlap, exposed, notice.LittleCompute{Compute: seconds(compute), Comm: seconds(comm),
		Waiting: waiting, Per: a.comm.per}}
}

// ofBuckets are DDP's buckets on the device with the median exposure; nil where there are none.
func (a assessment) ofBuckets() []Bucket {
	var with [][]Bucket
	for _, d := range a.comm.devices {
		if len(d.Buckets) > 0 {
			with = append(with, d.Buckets)
		}
	}
	if with == nil {
		return nil
	}
	slices.SortStableFunc(with, func(x, y []Bucket) int { return cmp.Compare(bucketsExposed(x), bucketsExposed(y)) })
	return with[len(with)/2]
}

func bucketsExposed(all []Bucket) (ms float64) {
	for _, b := range all {
		ms += b.Exposed
	}
	return ms
}

// buckets is for DDP's gradient buckets: one that holds all gradients, a last one that is too large, and many that are
// too small.
func (a assessment) buckets() Advice {
	all := a.ofBuckets()
	if len(all) == 0 {
		return Advice{}
	}
	const mib = 1 << 20
	last, exposed := all[len(all)-1], bucketsExposed(all)
	var bytes int64
	var sizes []float64
	for _, b := range all {
		bytes += b.Bytes
		sizes = append(sizes, float64(b.Bytes))
	}
	median := int64(stats.Median(sizes))
	var fact notice.Fact
	gain := last.Exposed
	switch large := last.Bytes >= 2*mib; {
	case large && len(all) == 1:
		fact = notice.OneBucket{Bucket: units.RoughBytes(last.Bytes), Exposed: seconds(last.Exposed),
			Cap: max(1, last.Bytes/4/mib)}
	case large && last.Exposed >= exposed/2:
		fact = notice.LastBucket{Exposed: seconds(exposed), Last: seconds(last.Exposed),
			Bucket: units.RoughBytes(last.Bytes), Median: units.RoughBytes(median), Cap: max(1, median/2/mib)}
	case len(all) >= 8 && median < mib:
		gain = exposed
		fact = notice.SmallBuckets{Buckets: len(all), Median: units.RoughBytes(median), Total: units.RoughBytes(bytes),
			Exposed: seconds(exposed)}
	}
	if !a.matters(gain) {
		return Advice{}
	}
	return Advice{topicOverlap, gain, fact}
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
	return Advice{topicOverlap, exposed / 2, notice.WideGradients{Time: seconds(took.sum), Exposed: seconds(exposed),
		Waiting: waiting, Per: a.comm.per}}
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
	return Advice{topicOverlap, min(exposed, a.comm.part(notHidingOf)), notice.ExposedCollective{Collective: name,
		Exposed: seconds(exposed), Total: seconds(a.comm.part(exposedOf)), Per: a.comm.per, Waiting: waiting}}
}

// hasCause reports whether advice has the cause of exposed communication. Too little to compute is no cause of its own.
func (a Advice) hasCause() bool {
	if _, is := a.Fact.(notice.LittleCompute); is {
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
	var slow *Joined
	gain := 0.0
	for i := range a.Against {
		j := &a.Against[i]
		if j.Bytes < bandwidthBound || j.Percent >= belowBenchmark {
			continue
		}
		gain += (1 - j.Percent/100) * a.pureOf(j)
		if slow == nil || j.Percent < slow.Percent {
			slow = j
		}
	}
	if slow == nil || !a.matters(min(gain, a.comm.part(commOf))) {
		return Advice{}
	}
	return Advice{topicTopology, min(gain, a.comm.part(exposedOf)), notice.BelowBenchmark{
		Collective: slow.Name, Size: units.RoughBytes(slow.Bytes), Share: units.Share(slow.Percent / 100),
		BusBW: units.Bandwidth(slow.Busbw * 1e9), Benchmark: units.Bandwidth(slow.Reached * 1e9)}}
}

// pureOf is what a joined collective takes a rank, in milliseconds a step or recording, by its bus bandwidth.
func (a assessment) pureOf(j *Joined) float64 {
	what, err := coll.ParseCollective(j.Name)
	if err != nil || j.Busbw <= 0 {
		return 0
	}
	took := a.comm.calls(func(c *Collective) bool {
		return c.Name == j.Name && c.Type == j.Type && c.Ranks == j.Ranks && c.Bytes != nil && *c.Bytes == j.Bytes
	})
	return took.calls * float64(j.Bytes) * what.BusFactor(j.Ranks) / (j.Busbw * 1e9) * 1e3
}
