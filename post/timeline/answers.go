package timeline

import (
	"fmt"
	"math"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// review says anew what follows from everything that is known: the answers, and what to do. Of busbar's own step there is nothing to do: it is
// the other points of its run that say what would be faster.
func (t *Timeline) review() {
	y := t.typically()
	if t.own() {
		t.Advice = []Advice{}
		t.Answers = []Answer{
			{Key: "how-long", Question: "How long is communication, compared with computation?", Says: y.howLong()},
			{Key: "overlap", Question: "Does it overlap with computation?", Says: y.hidden()},
			{Key: "balance", Question: "Do all ranks compute for as long?", Says: t.balance()},
			t.overhead(y),
		}
		return
	}
	t.Advice = t.advise()
	t.Answers = []Answer{
		{Key: "how-long", Question: "How long is AllReduce, compared with computation?", Says: y.howLong()},
		{Key: "overlap", Question: "Does the synchronisation of gradients overlap with the backward pass?", Says: y.hidden()},
		{Key: "balance", Question: "Are the GPUs balanced: do their kernels take as long?", Says: t.balance()},
		t.identified(y), t.overhead(y), t.overlapIdentified(y), t.improvement(),
		{Key: "time-outs", Question: "Which time-out can be raised?", Says: t.timeOuts()},
	}
}

const noGPU = "n/a: nothing ran on a GPU in what was read."

func (y typical) howLong() string {
	if len(y.devices) == 0 {
		return noGPU
	}
	c := y.communicating()
	if len(c.devices) == 0 {
		return fmt.Sprintf("n/a: no communication ran. Computation takes %s a %s%s.", duration(y.part(computeOf)), y.per, y.overRanks())
	}
	compute := c.part(computeOf)
	all := fmt.Sprintf("All communication takes %s and computation %s a %s%s: %s.", duration(c.part(commOf)), duration(compute), c.per, c.overRanks(), ofWhich(c.part(commOf), compute))
	if y.own {
		return all
	}
	reduced := c.calls(func(o *Collective) float64 {
		if o.Name == coll.AllReduce.String() {
			return o.Sum
		}
		return 0
	})
	if reduced > 0 {
		if c.onlyAllReduce() && duration(reduced) == duration(c.part(commOf)) { // calls at the same time take longer summed than together
			all = "It is all of the communication."
		}
		return fmt.Sprintf("AllReduce takes %s and computation %s a %s%s: %s. %s", duration(reduced), duration(compute), c.per, c.overRanks(), ofWhich(reduced, compute), all)
	}
	return "n/a for AllReduce: no kernel could be told to be one, as the trace names another operation or none. " + all
}

// onlyAllReduce says whether nothing else communicates.
func (y typical) onlyAllReduce() bool {
	return !slices.ContainsFunc(y.devices, func(d *Device) bool {
		return slices.ContainsFunc(d.Collectives, func(o Collective) bool { return o.Name != coll.AllReduce.String() })
	})
}

// ofWhich is communication in terms of computation.
func ofWhich(comm, compute float64) string {
	if compute <= 0 {
		return "nothing computes"
	}
	return fmt.Sprintf("%.1f %% of it", 100*comm/compute)
}

// overRanks says over what a figure is the median.
func (y typical) overRanks() string {
	if len(y.devices) < 2 {
		return ""
	}
	return fmt.Sprintf(" (the median of %s)", units.Count(len(y.devices), y.unit))
}

func (y typical) hidden() string {
	c := y.communicating()
	if len(c.devices) == 0 {
		return "n/a: no communication ran."
	}
	overlap := c.share(overlapOf, commOf)
	yes := "Partly"
	switch {
	case overlap < 1:
		yes = "No"
	case overlap < 10:
		yes = "Hardly"
	case overlap > 95:
		yes = "Yes"
	}
	wall := c.median(func(d *Device) float64 {
		return 100 * stats.WallClockOverlap(c.mean(d, computeOf), c.mean(d, commOf), c.mean(d, spanOf))
	})
	text := fmt.Sprintf("%s: %.1f %% of communication runs beside computation%s: overlap (interval).", yes, overlap, c.overRanks())
	sum, exposed := c.calls(func(o *Collective) float64 { return o.Sum * only(syncs(o)) }), c.calls(func(o *Collective) float64 { return o.Exposed * only(syncs(o)) })
	if sum > 0 && !y.own {
		text += fmt.Sprintf(" Of AllReduce and ReduceScatter, by which gradients come together, it is %.1f %%.", 100*(1-exposed/sum))
	}
	text += fmt.Sprintf(" Overlap (wall clock), from the same times as (computation + communication - all) / communication, is %.0f %%", wall)
	if idle := c.share(idleOf, spanOf); wall < overlap-1 {
		text += fmt.Sprintf("; it counts idle time, %.1f %% of a %s here, against overlap, and is right where the two were measured alone", idle, c.per)
	}
	if y.own {
		return text + "."
	}
	return text + ". What computes meanwhile may be the backward pass or other kernels: traces do not name it."
}

func only(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// balanced is by how much of the mean the longest kernel time of a rank may exceed it where GPUs are balanced.
const balanced = 5.0

func (t *Timeline) balance() string {
	a := t.Across
	if a == nil || len(a.Ranks) < 2 {
		return "n/a: one GPU was read. Give the traces of all ranks."
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
		return "n/a: nothing computes."
	}
	over := 100 * (most/(sum/float64(len(a.Ranks))) - 1)
	yes := "Yes"
	if over > balanced {
		yes = "No"
	}
	text := fmt.Sprintf("%s: kernels compute %s on each of %s.", yes, duration(most), units.Count(len(a.Ranks), t.Unit()))
	if over >= 0.05 {
		text = fmt.Sprintf("%s: kernels compute %s on %s, the least, and %s on %s, the most, %.1f %% over the mean of %s.", yes, duration(least), t.Devices[who[0]].Label, duration(most), t.Devices[who[1]].Label, over, units.Count(len(a.Ranks), t.Unit()))
	}
	if a.Matched > 0 {
		text += fmt.Sprintf(" In collectives a rank waits %s for others, beside %s of communication itself.", duration(a.Waiting), duration(a.Pure))
	}
	if a.Straggler != nil {
		text += fmt.Sprintf(" The others wait for %s.", t.Devices[a.Straggler.Device].Label)
	} else if a.Uneven > 0 {
		text += " No rank is the last to begin more often than chance would have it, or at a cost to others worth naming."
	}
	if n := spread(a.Imbalance); n > 0 && a.Imbalance[n-1].Spread >= 0.05 {
		worst := a.Imbalance[n-1]
		text += fmt.Sprintf(" In single steps it is up to %.1f %% (%s, %s).", worst.Spread, worst.Name, t.Devices[worst.Slowest].Label)
	}
	return text
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
	a := Answer{Key: "identify", Question: "Are NCCL's operations identified in the timeline?"}
	if len(y.devices) == 0 {
		a.Says = noGPU
		return a
	}
	calls, kinds := 0, map[string]bool{}
	unknown := 0.0
	for _, d := range y.devices {
		for i := range d.Collectives {
			calls += d.Collectives[i].Calls
			kinds[d.Collectives[i].Name] = true
		}
		share := 0.0
		for _, u := range d.Unknown {
			share += u.Share
		}
		unknown = max(unknown, share)
	}
	met := len(y.communicating().devices) > 0
	switch {
	case met:
		var names []string
		for name := range kinds {
			names = append(names, name)
		}
		slices.Sort(names)
		a.Says = fmt.Sprintf("Yes: %s on %s: %s.", units.Count(calls, "call"), units.Count(len(y.devices), y.unit), units.Some(names))
	case t.world() > 1:
		a.Says = "No: no kernel is known as communication, though there are several ranks. A name may be new: --comm-pattern adds it."
	default:
		a.Says = "n/a: no communication ran, and one rank alone has none."
		return a
	}
	if unknown > 0 {
		a.Says += fmt.Sprintf(" Kernels that may be communication too, and count as computation, have up to %.1f %% of a GPU's kernel time.", unknown)
	}
	a.Met = &met
	return a
}

// metBy says that a criterion is met by GPUs that communicate; without any it can't be told.
func (a *Answer) metBy(c typical) bool {
	met := len(c.devices) > 0
	if !met {
		a.Says = "n/a: no communication ran."
		return false
	}
	a.Met = &met
	return true
}

func (t *Timeline) overhead(y typical) Answer {
	a := Answer{Key: "overhead", Question: "How much is the overhead of communication?"}
	c := y.communicating()
	if !a.metBy(c) {
		return a
	}
	a.Says = fmt.Sprintf("%.1f %% of the time of a %s is communication that nothing hides, and %.1f %% is communication in all%s.", c.share(exposedOf, spanOf), c.per, c.share(commOf, spanOf), c.overRanks())
	if x := t.Across; x != nil && x.Pure+x.Waiting > 0 {
		a.Says += fmt.Sprintf(" %.0f %% of it is waiting for other ranks: kernels of communication run while they wait.", 100*x.Waiting/(x.Pure+x.Waiting))
	} else if len(y.devices) < 2 {
		a.Says += " How much of that is waiting for other ranks one trace alone does not tell."
	}
	return a
}

func (t *Timeline) overlapIdentified(y typical) Answer {
	a := Answer{Key: "overlap-found", Question: "Is overlap identified, or the lack of it?"}
	c := y.communicating()
	if !a.metBy(c) {
		return a
	}
	a.Says = fmt.Sprintf("Yes: %s of %s of communication a %s are hidden, %s are not.", duration(c.part(overlapOf)), duration(c.part(commOf)), c.per, duration(c.part(exposedOf)))
	if share, streams := c.sharing(); share > 50 {
		a.Says += fmt.Sprintf(" %.0f %% of it runs where most of the computing is too (%s), one after the other: no overlap is possible there.", share, streams)
	}
	return a
}

// sharing is how much of communication runs on streams that do most of the computing too, in percent, and which they are.
func (y typical) sharing() (percent float64, streams string) {
	var names []string
	percent = y.median(func(d *Device) float64 {
		sum := 0.0
		for _, s := range d.Shared {
			if s.OfCompute < 50 {
				continue
			}
			sum += s.OfComm
			if name := fmt.Sprintf("stream %d", s.ID); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		return sum
	})
	return percent, units.Some(names)
}

func (t *Timeline) improvement() Answer {
	a := Answer{Key: "improve", Question: "Is it known how to improve scaling efficiency?"}
	for _, e := range t.Scaling {
		a.Says += e.Says + " "
	}
	i := slices.IndexFunc(t.Advice, func(a Advice) bool { return a.Gain > 0 })
	switch {
	case len(t.typically().communicating().devices) == 0:
		a.Says += "n/a: no communication ran that could be improved."
		return a
	case i < 0:
		a.Says += "Nothing stands out that would gain time."
		return a
	default:
		a.Says += fmt.Sprintf("Yes: %s; the most worthwhile is on %s, and gains %s a %s at most.", counted(len(t.Advice)), t.Advice[i].Topic, duration(t.Advice[i].Gain), t.typically().per)
	}
	if len(t.Scaling) == 0 {
		a.Says += " The efficiency itself takes a run on another number of ranks."
	}
	met := true
	a.Met = &met
	return a
}

func counted(advice int) string {
	if advice == 1 {
		return "there is one thing to try"
	}
	return fmt.Sprintf("there are %d things to try", advice)
}

func (t *Timeline) timeOuts() string {
	text := "NCCL has no NCCL_TIMEOUT: what gives up is PyTorch's watchdog, after init_process_group(timeout=...), 10 minutes by default for NCCL and 30 before PyTorch 2.2; NCCL_IB_TIMEOUT is that of InfiniBand's packets."
	longest, who := t.longest()
	if longest > 0 {
		text += fmt.Sprintf(" The longest call here took %s (%s).", duration(longest), who)
	}
	if longest >= nearTimeOut {
		text += " TORCH_NCCL_ASYNC_ERROR_HANDLING and TORCH_NCCL_BLOCKING_WAIT say what happens when it gives up, and TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC is how long the watchdog itself may be stuck. Raising one does not help where a rank never comes."
	}
	return text
}
