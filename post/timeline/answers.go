package timeline

import (
	"maps"
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/stats"
)

// review makes anew what follows from everything that is known: the answers, and what to do. Of busbar's own step there is
// nothing to do: the other points of its run show what would be faster.
func (t *Timeline) review() {
	y := t.typically()
	if t.own() {
		t.Advice = []Advice{}
		t.Answers = []Answer{
			{
				Key:  "how-long",
				Fact: y.howLong(),
			}, {Key: "overlap", Fact: y.hidden()}, {Key: "balance", Fact: t.balance()},
			t.overhead(y),
		}
		return
	}
	t.Advice = t.advise()
	t.Answers = []Answer{
		{Key: "how-long", Fact: y.howLong()}, {Key: "overlap", Fact: y.hidden()}, {Key: "balance", Fact: t.balance()},
		t.identified(y), t.overhead(y), t.overlapIdentified(y), t.improvement(), {Key: "time-outs", Fact: t.timeouts()},
	}
}

// over is over how many devices a value is the median; nothing where there is one.
func (y typical) over() notice.Median {
	if len(y.devices) < 2 {
		return notice.Median{}
	}
	return notice.Median{N: len(y.devices), Unit: y.unit}
}

func (y typical) howLong() notice.Fact {
	if len(y.devices) == 0 {
		return notice.NoAnswer{Reason: notice.NoGPUWork}
	}
	c := y.communicating()
	if len(c.devices) == 0 {
		return notice.ComputationAlone{Compute: seconds(y.part(computeOf)), Per: y.span(), Median: y.over()}
	}
	compute := c.part(computeOf)
	f := notice.CommunicationTime{
		Comm: seconds(
			c.part(commOf),
		), Compute: seconds(compute), Share: ofComputation(c.part(commOf), compute), Per: c.span(),
		Median: c.over(),
	}
	if y.own {
		return f
	}
	reduced := c.calls(func(o *Collective) float64 {
		if o.Name == coll.AllReduce.String() {
			return o.Sum
		}
		return 0
	})
	f.AllReduce = notice.AllReduceShare{
		Time:   seconds(reduced),
		Share:  ofComputation(reduced, compute),
		Absent: reduced == 0,
	}
	// Calls at the same time take longer summed than together.
	f.AllReduce.All = reduced > 0 && c.onlyAllReduce() && reduced-c.part(commOf) < 1e-3*reduced
	return f
}

// onlyAllReduce reports whether nothing else communicates.
func (y typical) onlyAllReduce() bool {
	return !slices.ContainsFunc(y.devices, func(d *Device) bool {
		return slices.ContainsFunc(d.Collectives, func(o Collective) bool { return o.Name != coll.AllReduce.String() })
	})
}

// ofComputation is communication in percent of computation.
func ofComputation(comm, compute float64) notice.OfComputation {
	if compute <= 0 {
		return notice.OfComputation(math.Inf(1))
	}
	return notice.OfComputation(100 * comm / compute)
}

func (y typical) hidden() notice.Fact {
	c := y.communicating()
	if len(c.devices) == 0 {
		return notice.NoAnswer{Reason: notice.NoCommunication}
	}
	overlap := c.share(overlapOf, commOf)
	f := notice.Overlap{
		Verdict: notice.PartlyOverlap, Percent: notice.Percent(overlap), Median: c.over(), Per: c.span(), Training: notice.Training(!y.own),
	}
	switch {
	case overlap < 1:
		f.Verdict = notice.NoOverlap
	case overlap < 10:
		f.Verdict = notice.HardlyOverlap
	case overlap > 95:
		f.Verdict = notice.FullOverlap
	}
	wall := c.median(func(d *Device) float64 {
		return 100 * stats.WallClockOverlap(c.mean(d, computeOf), c.mean(d, commOf), c.mean(d, spanOf))
	})
	sum := c.calls(func(o *Collective) float64 { return o.Sum * only(syncs(o)) })
	exposed := c.calls(func(o *Collective) float64 { return o.Exposed * only(syncs(o)) })
	if sum > 0 && !y.own {
		gradients := notice.Percent(100 * (1 - exposed/sum))
		f.Gradients = &gradients
	}
	f.Wall = notice.Whole(wall)
	if idle := c.share(idleOf, spanOf); wall < overlap-1 {
		f.Idle = notice.Percent(idle)
	}
	return f
}

func only(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// balanced is by how much of the mean the longest kernel time of a rank may exceed it where GPUs are balanced.
const balanced = 5.0

func (t *Timeline) balance() notice.Fact {
	a := t.Across
	if a == nil || len(a.Ranks) < 2 {
		return notice.NoAnswer{Reason: notice.OneGPURead}
	}
	least, most, sum := math.Inf(1), math.Inf(-1), 0.0
	var who [2]int
	for _, r := range a.Ranks {
		sum += r.Compute
		if r.Compute < least {
			least, who[0] = r.Compute, r.Device
		}
		if r.Compute > most {
			most, who[1] = r.Compute, r.Device
		}
	}
	if sum <= 0 {
		return notice.NoAnswer{Reason: notice.NothingComputes}
	}
	over := 100 * (most/(sum/float64(len(a.Ranks))) - 1)
	f := notice.Balance{
		Verdict: over <= balanced, Most: seconds(most), Devices: notice.Devices{N: len(a.Ranks), Unit: t.Unit()},
		NoOne: notice.NoStraggler(a.Straggler == nil && a.Uneven > 0),
	}
	if over >= 0.05 {
		f.Least, f.LeastOn, f.MostOn = new(seconds(least)), t.Devices[who[0]].Label, t.Devices[who[1]].Label
		f.Over = notice.Percent(over)
	}
	if a.Matched > 0 {
		f.Waiting, f.Pure = new(seconds(a.Waiting)), new(seconds(a.Pure))
	}
	if a.Straggler != nil {
		f.Straggler = t.Devices[a.Straggler.Device].Label
	}
	if n := spread(a.Imbalance); n > 0 && a.Imbalance[n-1].Spread >= 0.05 {
		worst := a.Imbalance[n-1]
		f.Worst, f.WorstStep, f.WorstOn = notice.Percent(worst.Spread), worst.Name, t.Devices[worst.Slowest].Label
	}
	return f
}

// spread is one more than the place of the step that differs most between ranks; 0 where there is none.
func spread(steps []StepSpread) (n int) {
	for i := range steps {
		if n == 0 || steps[i].Spread > steps[n-1].Spread {
			n = i + 1
		}
	}
	return n
}

func (t *Timeline) identified(y typical) Answer {
	a := Answer{Key: "identify"}
	if len(y.devices) == 0 {
		a.Fact = notice.NoAnswer{Reason: notice.NoGPUWork}
		return a
	}
	met := len(y.communicating().devices) > 0
	if !met && t.world() <= 1 {
		a.Fact = notice.NoAnswer{Reason: notice.OneRankAlone}
		return a
	}
	f, kinds, unknown := notice.Identified{Verdict: notice.Verdict(met)}, map[string]bool{}, 0.0
	for _, d := range y.devices {
		for i := range d.Collectives {
			f.Calls += d.Collectives[i].Calls
			kinds[d.Collectives[i].Name] = true
		}
		share := 0.0
		for _, u := range d.Unknown {
			share += u.Share
		}
		unknown = max(unknown, share)
	}
	f.Unknown = notice.Percent(unknown)
	f.Kinds = slices.Sorted(maps.Keys(kinds))
	if f.Reason = notice.NoKnownKernel; met {
		f.Devices, f.Reason = notice.Devices{N: len(y.devices), Unit: y.unit}, ""
	}
	a.Fact, a.Met = f, &met
	return a
}

// metBy is an answer to a criterion that GPUs which communicate meet; without any it is unknown.
func metBy(key string, c typical, f func() notice.Fact) Answer {
	if len(c.devices) == 0 {
		return Answer{Key: key, Fact: notice.NoAnswer{Reason: notice.NoCommunication}}
	}
	met := true
	return Answer{key, &met, f()}
}

func (t *Timeline) overhead(y typical) Answer {
	c := y.communicating()
	return metBy("overhead", c, func() notice.Fact {
		f := notice.Overhead{
			Exposed: notice.Percent(
				c.share(exposedOf, spanOf),
			), Comm: notice.Percent(c.share(commOf, spanOf)), Per: c.span(),
			Median: c.over(),
		}
		if x := t.Across; x != nil && x.Pure+x.Waiting > 0 {
			f.Waiting = new(notice.Whole(100 * x.Waiting / (x.Pure + x.Waiting)))
		} else {
			f.OneRank = len(y.devices) < 2
		}
		return f
	})
}

func (t *Timeline) overlapIdentified(y typical) Answer {
	c := y.communicating()
	return metBy("overlap-found", c, func() notice.Fact {
		f := notice.OverlapFound{
			Hidden: seconds(
				c.part(overlapOf),
			), Comm: seconds(c.part(commOf)), Exposed: seconds(c.part(exposedOf)), Per: c.span(),
		}
		if share, streams := c.sharing(); share > 50 {
			f.Shared, f.Streams = notice.Whole(share), streams
		}
		return f
	})
}

// sharing is how much of communication runs on streams that do most of the computing too, in percent, and which they are.
func (y typical) sharing() (percent float64, streams notice.StreamIDs) {
	percent = y.median(func(d *Device) float64 {
		sum := 0.0
		for _, s := range d.Shared {
			if s.OfCompute >= 50 {
				sum += s.OfComm
				streams = append(streams, s.ID)
			}
		}
		return sum
	})
	slices.Sort(streams)
	return percent, slices.Compact(streams)
}

func (t *Timeline) improvement() Answer {
	a := Answer{Key: "improve"}
	i := slices.IndexFunc(t.Advice, func(a Advice) bool { return a.Gain > 0 })
	switch {
	case len(t.typically().communicating().devices) == 0:
		a.Fact = notice.NoAnswer{Reason: notice.NoCommunication}
	case i < 0:
		a.Fact = notice.NoImprovement{}
	default:
		met := true
		a.Met = &met
		a.Fact = notice.Improvement{
			Things: len(t.Advice), First: adviceOf(t.Advice[i]), Gain: seconds(t.Advice[i].Gain),
			Per: t.typically().span(), Scaling: len(t.Scaling) == 0,
		}
	}
	return a
}

func (t *Timeline) timeouts() notice.Fact {
	longest, who := t.longest()
	f := notice.Timeouts{Near: longest >= nearTimeOut}
	if longest > 0 {
		f.Longest, f.Call = seconds(longest), who
	}
	return f
}
