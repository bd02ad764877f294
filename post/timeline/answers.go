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
	a := assess(t)
	all := []Answer{
		{Key: "how-long", Fact: a.all.howLong()}, {Key: "overlap", Fact: a.all.hidden()}, {Key: "balance", Fact: a.balance()},
	}
	if t.own() {
		t.Advice, t.Answers = []Advice{}, append(all, a.overhead())
		return
	}
	t.Advice = a.advise()
	t.Answers = append(all, a.identified(), a.overhead(), a.overlapIdentified(), a.improvement(),
		Answer{Key: "time-outs", Fact: a.timeouts()})
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

func (a assessment) balance() notice.Fact {
	x := a.Across
	if x == nil || len(x.Ranks) < 2 {
		return notice.NoAnswer{Reason: notice.OneGPURead}
	}
	least, most, sum := math.Inf(1), math.Inf(-1), 0.0
	var who [2]int
	for _, r := range x.Ranks {
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
	over := 100 * (most/(sum/float64(len(x.Ranks))) - 1)
	f := notice.Balance{
		Verdict: over <= balanced, Most: seconds(most), Devices: notice.Devices{N: len(x.Ranks), Unit: a.Unit()},
		NoOne: notice.NoStraggler(x.Straggler == nil && x.Uneven > 0),
	}
	if over >= 0.05 {
		f.Least, f.LeastOn, f.MostOn = new(seconds(least)), a.Devices[who[0]].Label, a.Devices[who[1]].Label
		f.Over = notice.Percent(over)
	}
	if x.Matched > 0 {
		f.Waiting, f.Pure = new(seconds(x.Waiting)), new(seconds(x.Pure))
	}
	if x.Straggler != nil {
		f.Straggler = a.Devices[x.Straggler.Device].Label
	}
	if n := spread(x.Imbalance); n > 0 && x.Imbalance[n-1].Spread >= 0.05 {
		worst := x.Imbalance[n-1]
		f.Worst, f.WorstStep, f.WorstOn = notice.Percent(worst.Spread), worst.Name, a.Devices[worst.Slowest].Label
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

func (a assessment) identified() Answer {
	found := Answer{Key: "identify"}
	if len(a.all.devices) == 0 {
		found.Fact = notice.NoAnswer{Reason: notice.NoGPUWork}
		return found
	}
	met := len(a.comm.devices) > 0
	if !met && a.world() <= 1 {
		found.Fact = notice.NoAnswer{Reason: notice.OneRankAlone}
		return found
	}
	f, kinds, unknown := notice.Identified{Verdict: notice.Verdict(met)}, map[string]bool{}, 0.0
	for _, d := range a.all.devices {
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
		f.Devices, f.Reason = notice.Devices{N: len(a.all.devices), Unit: a.all.unit}, ""
	}
	found.Fact, found.Met = f, &met
	return found
}

// metBy is an answer to a criterion that GPUs which communicate meet; without any it is unknown.
func metBy(key string, c typical, f func() notice.Fact) Answer {
	if len(c.devices) == 0 {
		return Answer{Key: key, Fact: notice.NoAnswer{Reason: notice.NoCommunication}}
	}
	met := true
	return Answer{key, &met, f()}
}

func (a assessment) overhead() Answer {
	c := a.comm
	return metBy("overhead", c, func() notice.Fact {
		f := notice.Overhead{
			Exposed: notice.Percent(
				c.share(exposedOf, spanOf),
			), Comm: notice.Percent(c.share(commOf, spanOf)), Per: c.span(),
			Median: c.over(),
		}
		if x := a.Across; x != nil && x.Pure+x.Waiting > 0 {
			f.Waiting = new(notice.Whole(100 * x.Waiting / (x.Pure + x.Waiting)))
		} else {
			f.OneRank = len(a.all.devices) < 2
		}
		return f
	})
}

func (a assessment) overlapIdentified() Answer {
	c := a.comm
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

func (a assessment) improvement() Answer {
	found := Answer{Key: "improve"}
	i := slices.IndexFunc(a.Advice, func(a Advice) bool { return a.Gain > 0 })
	switch {
	case len(a.comm.devices) == 0:
		found.Fact = notice.NoAnswer{Reason: notice.NoCommunication}
	case i < 0:
		found.Fact = notice.NoImprovement{}
	default:
		met := true
		found.Met = &met
		found.Fact = notice.Improvement{
			Things: len(a.Advice), First: adviceOf(a.Advice[i]), Gain: seconds(a.Advice[i].Gain),
			Per: a.all.span(), Scaling: len(a.Scaling) == 0,
		}
	}
	return found
}

func (a assessment) timeouts() notice.Fact {
	longest, who := a.longest()
	f := notice.Timeouts{Near: longest >= nearTimeOut}
	if longest > 0 {
		f.Longest, f.Call = seconds(longest), who
	}
	return f
}
