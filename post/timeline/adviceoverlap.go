package timeline

import (
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// sameStream speaks where communication shares a stream with computation. What is not hidden can be hidden only behind
// what computes.
func sameStream(a assessment) []Advice {
	share, _ := a.comm.sharing()
	gain := min(a.comm.part(exposedOf), a.comm.part(func(p *Parts) float64 { return p.Compute - p.Overlap }))
	if share < 50 || !a.matters(gain) {
		return nil
	}
	return []Advice{{topicOverlap, gain, notice.SharedStreams{Streams: streamsOf(a.Devices), Share: units.Share(share / 100),
		Exposed: seconds(a.comm.part(exposedOf)), Per: a.comm.span()}}}
}

// tooSmall speaks where there is less to compute than to communicate: then it cannot all be hidden.
func tooSmall(a assessment) []Advice {
	compute, exposed := a.comm.part(computeOf), a.comm.part(exposedOf)
	pure, waiting := a.pure()
	comm := a.comm.part(commOf) * pure
	if compute >= comm || !a.matters(exposed) {
		return nil
	}
	return []Advice{
		{
			topicOverlap,
			exposed,
			notice.LittleCompute{Compute: seconds(compute), Comm: seconds(comm), Waiting: waiting, Per: a.comm.span()},
		},
	}
}

// ofBuckets is what the middle rank shows of DDP's buckets, with the number of steps each is in at most; nil where
// there are none.
func (a assessment) ofBuckets() []Bucket {
	var with []*Device
	for _, d := range a.comm.devices {
		if len(d.Buckets) > 0 {
			with = append(with, d)
		}
	}
	if with == nil {
		return nil
	}
	slices.SortStableFunc(with, func(x, y *Device) int {
		return int(min(1, max(-1, 1e6*(bucketsExposed(x.Buckets)-bucketsExposed(y.Buckets)))))
	})
	return with[len(with)/2].Buckets
}

func bucketsExposed(all []Bucket) (ms float64) {
	for _, b := range all {
		ms += b.Exposed
	}
	return ms
}

// buckets speaks of DDP's gradient buckets: one that holds all gradients, a last one that is too large, and many that
// are too small.
func buckets(a assessment) []Advice {
	all := a.ofBuckets()
	if len(all) == 0 {
		return nil
	}
	const mib = 1 << 20
	last, total := all[len(all)-1], bucketsExposed(all)
	var bytes int64
	var sizes []float64
	for _, b := range all {
		bytes += b.Bytes
		sizes = append(sizes, float64(b.Bytes))
	}
	middle := int64(stats.Median(sizes))
	switch {
	case len(all) == 1 && last.Bytes >= 2*mib && a.matters(last.Exposed):
		return []Advice{
			{
				topicOverlap,
				last.Exposed,
				notice.OneBucket{
					Bucket:  units.RoughBytes(last.Bytes),
					Exposed: seconds(last.Exposed),
					Cap:     max(1, last.Bytes/4/mib),
				},
			},
		}
	case len(all) > 1 && last.Exposed >= total/2 && last.Bytes >= 2*mib && a.matters(last.Exposed):
		return []Advice{
			{
				topicOverlap,
				last.Exposed,
				notice.LastBucket{
					Exposed: seconds(total),
					Last:    seconds(last.Exposed),
					Bucket:  units.RoughBytes(last.Bytes),
					Median:  units.RoughBytes(middle),
					Cap:     max(1, middle/2/mib),
				},
			},
		}
	case len(all) >= 8 && middle < mib && a.matters(total):
		return []Advice{
			{
				topicOverlap,
				total,
				notice.SmallBuckets{
					Buckets: len(all),
					Median:  units.RoughBytes(middle),
					Total:   units.RoughBytes(bytes),
					Exposed: seconds(total),
				},
			},
		}
	}
	return nil
}

// smallCalls speaks where much time goes into many small collectives that are no buckets.
func smallCalls(a assessment) []Advice {
	const small = 64 << 10
	exposed := a.comm.calls(func(c *Collective) float64 { return c.Exposed * only(c.Bytes != nil && *c.Bytes < small) })
	calls := a.comm.calls(
		func(c *Collective) float64 { return float64(c.Calls) * only(c.Bytes != nil && *c.Bytes < small) },
	)
	pure, waiting := a.pure()
	exposed *= pure
	if calls < 10 || !a.matters(exposed) {
		return nil
	}
	return []Advice{
		{
			topicOverlap,
			exposed,
			notice.SmallCollectives{
				Calls:   int(math.Round(calls)),
				Exposed: seconds(exposed),
				Waiting: waiting,
				Per:     a.comm.span(),
			},
		},
	}
}

// volume speaks where 32-bit gradients are what is not hidden. Halving them gains half of that at most.
func volume(a assessment) []Advice {
	wide := func(c *Collective) float64 {
		return only(syncs(c) && c.Type == coll.Float32.String() && c.Bytes != nil && *c.Bytes >= 1<<20)
	}
	exposed := a.comm.calls(func(c *Collective) float64 { return c.Exposed * wide(c) })
	sum := a.comm.calls(func(c *Collective) float64 { return c.Sum * wide(c) })
	pure, waiting := a.pure()
	exposed *= pure
	if gain := exposed / 2; a.matters(gain) {
		return []Advice{
			{
				topicOverlap,
				gain,
				notice.WideGradients{
					Time:    seconds(sum),
					Exposed: seconds(exposed),
					Waiting: waiting,
					Per:     a.comm.span(),
				},
			},
		}
	}
	return nil
}
