package timeline

import (
	"cmp"
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/stats"
)

// review makes anew what follows from everything that is known: the answers, and what to do. Of busbar's own step there
// is nothing to do: the other points of its run show what would be faster.
func (t *Timeline) review() {
	a := assess(t)
	t.Answers, t.Advice = nil, nil
	for _, answer := range []struct {
		key  string
		fact notice.Fact
	}{{"how-long", a.howLong()}, {"overlap", a.hidden()}, {"balance", a.balance()}} {
		t.Answers = append(t.Answers, Answer{answer.key, profiles.Questions[answer.key], notice.New(answer.fact)})
	}
	if !t.own() {
		t.Advice = a.advise()
	}
}

// over is over how many devices a value is the median; nothing where there is one.
func (y typical) over() profiles.Median {
	if len(y.devices) < 2 {
		return profiles.Median{}
	}
	return profiles.Median{N: len(y.devices), Unit: y.unit}
}

func (a assessment) howLong() notice.Fact {
	if len(a.all.devices) == 0 {
		return profiles.NoAnswer{Reason: profiles.NoGPUWork}
	}
	c := a.comm
	if len(c.devices) == 0 {
		return profiles.ComputationAlone{Compute: seconds(a.all.part(computeOf)), Per: a.all.per, Median: a.all.over()}
	}
	comm, compute := c.part(commOf), c.part(computeOf)
	f := profiles.CommunicationTime{Comm: seconds(comm), Compute: seconds(compute), Share: ofComputation(comm, compute),
		Per: c.per, Median: c.over()}
	if c.own {
		return f
	}
	reduced := c.calls(func(o *Collective) bool { return o.Name == coll.AllReduce.String() }).sum
	f.AllReduce = profiles.AllReduceShare{
		Time:   seconds(reduced),
		Share:  ofComputation(reduced, compute),
		Absent: reduced == 0,
	}
	return f
}

// ofComputation is communication in percent of computation.
func ofComputation(comm, compute float64) profiles.OfComputation {
	if compute <= 0 {
		return profiles.OfComputation(math.Inf(1))
	}
	return profiles.OfComputation(100 * comm / compute)
}

func (a assessment) hidden() notice.Fact {
	c := a.comm
	if len(c.devices) == 0 {
		return profiles.NoAnswer{Reason: profiles.NoCommunication}
	}
	overlap := c.share(overlapOf, commOf)
	f := profiles.Overlap{
		Verdict:  profiles.PartlyOverlap,
		Percent:  profiles.Percent(overlap),
		Median:   c.over(),
		Per:      c.per,
		Training: profiles.Training(!c.own),
	}
	switch {
	case overlap < 1:
		f.Verdict = profiles.NoOverlap
	case overlap < 10:
		f.Verdict = profiles.HardlyOverlap
	case overlap > 95:
		f.Verdict = profiles.FullOverlap
	}
	wall := c.median(func(d *Device) float64 {
		return 100 * stats.WallClockOverlap(c.mean(d, computeOf), c.mean(d, commOf), c.mean(d, spanOf))
	})
	if gradients := c.calls(syncs); gradients.sum > 0 && !c.own {
		f.Gradients = new(profiles.Percent(100 * (1 - gradients.exposed/gradients.sum)))
	}
	f.Wall = profiles.Whole(wall)
	if wall < overlap-1 {
		f.Idle = profiles.Percent(c.share(idleOf, spanOf))
	}
	return f
}

// balanced is by how much of the mean the longest kernel time of a rank may exceed it where GPUs are balanced.
const balanced = 5.0

func (a assessment) balance() notice.Fact {
	x := a.Across
	if x == nil || len(x.Ranks) < 2 {
		return profiles.NoAnswer{Reason: profiles.OneGPURead}
	}
	compute := func(a, b RankShare) int { return cmp.Compare(a.Compute, b.Compute) }
	least, most, sum := slices.MinFunc(x.Ranks, compute), slices.MaxFunc(x.Ranks, compute), 0.0
	for _, r := range x.Ranks {
		sum += r.Compute
	}
	if sum <= 0 {
		return profiles.NoAnswer{Reason: profiles.NothingComputes}
	}
	over := 100 * (most.Compute/(sum/float64(len(x.Ranks))) - 1)
	f := profiles.Balance{
		Verdict: over <= balanced, Most: seconds(most.Compute),
		Devices: profiles.Devices{N: len(x.Ranks), Unit: a.Unit()},
		NoOne:   profiles.NoStraggler(x.Straggler == nil && x.Uneven > 0),
	}
	if over >= 0.05 {
		f.Least, f.LeastOn = new(seconds(least.Compute)), a.Devices[least.Device].Label
		f.MostOn, f.Over = a.Devices[most.Device].Label, profiles.Percent(over)
	}
	if x.Matched > 0 {
		f.Waiting, f.Pure = new(seconds(x.Waiting)), new(seconds(x.Pure))
	}
	if x.Straggler != nil {
		f.Straggler = a.Devices[x.Straggler.Device].Label
	}
	return f
}
