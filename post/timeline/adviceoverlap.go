package timeline

import (
	"fmt"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/stats"
)

// sameStream speaks where communication shares a stream with computation. What is not hidden can be hidden only behind what computes.
func sameStream(a advising) []Advice {
	share, streams := a.comm.sharing()
	gain := min(a.comm.part(exposedOf), a.comm.part(func(p *Parts) float64 { return p.Compute - p.Overlap }))
	if share < 50 || !a.matters(gain) {
		return nil
	}
	return []Advice{{Topic: topicOverlap, Gain: gain, Source: "pytorch/pytorch#150398",
		Says: "Let communication run on a stream of its own. DDP and FSDP do that; a collective that is called with async_op=False runs on the current stream in newer PyTorch: call it with async_op=True, and wait() for it just before its result is used.",
		Why:  fmt.Sprintf("%.0f %% of communication runs on %s, where most of the computing is too, and %s a %s are not hidden", share, streams, duration(a.comm.part(exposedOf)), a.comm.per)}}
}

// tooSmall speaks where there is less to compute than to communicate: then it cannot all be hidden.
func tooSmall(a advising) []Advice {
	compute, exposed := a.comm.part(computeOf), a.comm.part(exposedOf)
	pure, aside := a.pure()
	comm := a.comm.part(commOf) * pure
	if compute >= comm || !a.matters(exposed) {
		return nil
	}
	return []Advice{{Topic: topicOverlap, Gain: exposed, Source: pageDDP,
		Says: "Give each step more to compute for what it communicates: a larger batch for each GPU, or gradients of several batches brought together at once (no_sync() of DDP). A model this small hides no more, whatever the settings.",
		Why:  fmt.Sprintf("a %s computes %s and communicates %s, %s: more than it can hide", a.comm.per, duration(compute), duration(comm), aside)}}
}

// ofBuckets is what the middle rank shows of DDP's buckets, with the number of steps each is in at most; nil where there are none.
func (a advising) ofBuckets() []Bucket {
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

// buckets speaks of DDP's gradient buckets: one that holds all gradients, a last one that is too large, and many that are too small.
func buckets(a advising) []Advice {
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
		return []Advice{{Topic: topicOverlap, Gain: last.Exposed, Source: pageDDP,
			Says: fmt.Sprintf("Make DDP's buckets smaller: bucket_cap_mb=%d instead of %s or more. A bucket goes when its last gradient is there, so that one bucket begins only when the backward pass is over.", max(1, last.Bytes/4/mib), size(last.Bytes)),
			Why:  fmt.Sprintf("all gradients, %s, are one bucket, of which %s a step are not hidden", size(last.Bytes), duration(last.Exposed))}}
	case len(all) > 1 && last.Exposed >= total/2 && last.Bytes >= 2*mib && a.matters(last.Exposed):
		return []Advice{{Topic: topicOverlap, Gain: last.Exposed, Source: pageDDPNotes,
			Says: fmt.Sprintf("Make DDP's buckets smaller, so that less is left for the last: bucket_cap_mb=%d, where %s stand for 25 by default. Nothing of the backward pass is left to hide the last bucket behind.", max(1, middle/2/mib), size(middle)),
			Why:  fmt.Sprintf("of %s a step that buckets are not hidden, %s are of the last, of %s", duration(total), duration(last.Exposed), size(last.Bytes))}}
	case len(all) >= 8 && middle < mib && a.matters(total):
		return []Advice{{Topic: topicOverlap, Gain: total, Source: pageDDP,
			Says: "Make DDP's buckets larger (bucket_cap_mb is 25 by default): under a mebibyte a collective takes the time of its latency, whatever it moves.",
			Why:  fmt.Sprintf("%d buckets of %s in the middle make up %s, and %s a step are not hidden", len(all), size(middle), size(bytes), duration(total))}}
	}
	return nil
}

// smallCalls speaks where much time goes into many small collectives that are no buckets.
func smallCalls(a advising) []Advice {
	const small = 64 << 10
	exposed := a.comm.calls(func(c *Collective) float64 { return c.Exposed * only(c.Bytes != nil && *c.Bytes < small) })
	calls := a.comm.calls(func(c *Collective) float64 { return float64(c.Calls) * only(c.Bytes != nil && *c.Bytes < small) })
	pure, aside := a.pure()
	exposed *= pure
	if calls < 10 || !a.matters(exposed) {
		return nil
	}
	return []Advice{{Topic: topicOverlap, Gain: exposed,
		Says: "Bring small collectives together: one of all values instead of one for each, and what only logging wants every so many steps. Their time is latency.",
		Why:  fmt.Sprintf("%.0f collectives under 64 KiB a %s take %s that nothing hides, %s", calls, a.comm.per, duration(exposed), aside)}}
}

// volume speaks where 32-bit gradients are what is not hidden. Halving them gains half of that at most.
func volume(a advising) []Advice {
	wide := func(c *Collective) float64 {
		return only(syncs(c) && c.Type == coll.Float32.String() && c.Bytes != nil && *c.Bytes >= 1<<20)
	}
	exposed := a.comm.calls(func(c *Collective) float64 { return c.Exposed * wide(c) })
	sum := a.comm.calls(func(c *Collective) float64 { return c.Sum * wide(c) })
	pure, aside := a.pure()
	exposed *= pure
	if gain := exposed / 2; a.matters(gain) {
		return []Advice{{Topic: topicOverlap, Gain: gain, Source: pageHooks,
			Says: "Move half the bytes: gradients in bfloat16 or float16 (DDP: register_comm_hook with bf16_compress_hook or fp16_compress_hook; FSDP: MixedPrecision(reduce_dtype=...)). It changes how gradients are rounded: look at the loss.",
			Why:  fmt.Sprintf("float32 gradients of a MiB and more take %s a %s, of which %s are not hidden, %s", duration(sum), a.comm.per, duration(exposed), aside)}}
	}
	return nil
}

// hostBound speaks where GPUs wait for their hosts to launch something.
func hostBound(a advising) []Advice {
	idle := a.all.part(hostBoundOf)
	if idle < 0.1*a.all.part(spanOf) {
		return nil
	}
	return []Advice{{Topic: topicOverlap, Gain: idle, Source: pageTuning,
		Says: "Keep the GPU supplied: take what makes the host wait for it out of the step (.item(), .cpu(), print of a loss, torch.cuda.synchronize()), load data ahead (num_workers, pin_memory, non_blocking=True), and launch less (torch.compile, CUDA graphs).",
		Why:  fmt.Sprintf("for %s of a %s of %s the GPU is idle because its host has launched nothing yet", duration(idle), a.all.per, duration(a.all.part(spanOf)))}}
}
