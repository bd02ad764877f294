package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/units"
)

// lateRank speaks of the rank that others wait for.
func lateRank(a advising) []Advice {
	if a.Across == nil || a.Across.Straggler == nil {
		return nil
	}
	s := a.Across.Straggler
	gain := a.comm.each(s.Cost, s.costInSteps)
	text := notice.Advice(s.Found)
	found := Advice{Topic: topicBalance, Gain: gain, Says: strings.ToUpper(text[:1]) + text[1:] + ".",
		Why: fmt.Sprintf("others wait %s a %s for it. %s", duration(gain), a.comm.per, s.Found.Causes)}
	if c := s.Found.Causes; len(c) > 0 && c[0].Cause == notice.HostBound {
		found.Source = pageTuning
	}
	return []Advice{found}
}

// unevenRanks speaks where ranks wait for each other and none of them is the one.
func unevenRanks(a advising) []Advice {
	x := a.Across
	if x == nil || x.Straggler != nil || x.Matched == 0 {
		return nil
	}
	gain := a.comm.each(x.Waiting, x.waitingInSteps)
	if gain < 0.05*a.all.part(spanOf) {
		return nil
	}
	found := Advice{Topic: topicBalance, Gain: gain,
		Says: "Even out what ranks do in a step: which of them is late changes, or cannot be told. Batches of like length (bucketing by length), steps without extra work on single ranks, and data loaded ahead help.",
		Why:  fmt.Sprintf("a rank waits %s a %s for others, and no rank is the last more often than chance may have it", duration(gain), a.comm.per)}
	if n := spread(x.Imbalance); n > 0 {
		found.Why += fmt.Sprintf("; computation differs by up to %.1f %% in a step (%s)", x.Imbalance[n-1].Spread, x.Imbalance[n-1].Name)
	}
	return []Advice{found}
}

const (
	belowBenchmark = 80      // percent of what the machine reached: less is worth looking into
	bandwidthBound = 1 << 20 // bytes from which on a collective is held against a benchmark
)

// slowLinks speaks where collectives are slower than the machine was in a benchmark, and where large ones have no benchmark to be held against.
func slowLinks(a advising) []Advice {
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
	if slow != nil && a.matters(min(gain, a.comm.part(commOf))) {
		return []Advice{{Topic: topicTopology, Gain: min(gain, a.comm.part(exposedOf)), Source: pageNCCL,
			Says: "Find out why communication is slower than on this machine in the benchmark: rank --preflight on these nodes, nvidia-smi topo -m (NV# is NVLink; PHB, NODE and SYS lead through the processor), and post log of a run with NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,ENV,TUNING. " +
				"Kernels that compute at the same time take processors and memory bandwidth from it, and that is seen here too.",
			Why: fmt.Sprintf("%s %s ran at %.0f %% of it, %s instead of %s GB/s", slow.Name, size(slow.Bytes), slow.Percent, units.Gigabytes(slow.Busbw*1e9), units.Gigabytes(slow.Reached*1e9))}}
	}
	if len(a.Against) == 0 {
		return a.unmeasured()
	}
	return nil
}

// pureOf is what a joined collective takes a rank, in milliseconds a step or recording, by its figure.
func (a advising) pureOf(j *Joined) float64 {
	calls := a.comm.calls(func(c *Collective) float64 {
		return float64(c.Calls) * only(c.Name == j.Name && c.Type == j.Type && c.Ranks == j.Ranks && c.Bytes != nil && *c.Bytes == j.Bytes)
	})
	what, err := coll.ParseCollective(j.Name)
	if err != nil || j.Busbw <= 0 {
		return 0
	}
	return calls * float64(j.Bytes) * what.BusFactor(j.Ranks) / (j.Busbw * 1e9) * 1e3
}

// unmeasured says how to learn whether a bus bandwidth is what the machine can do, for the collective that takes the most time.
func (a advising) unmeasured() []Advice {
	var most *Collective
	consider := func(c *Collective, busbw *float64) {
		if c.Bytes != nil && *c.Bytes >= bandwidthBound && busbw != nil && c.Type != "" && (most == nil || c.Sum > most.Sum) {
			most = c
		}
	}
	for _, d := range a.comm.devices {
		for i := range d.Collectives {
			consider(&d.Collectives[i], d.Collectives[i].BusbwMax)
		}
	}
	if most == nil || !a.matters(a.comm.part(exposedOf)) {
		return nil
	}
	largest := *most.Bytes
	for _, d := range a.comm.devices {
		for _, c := range d.Collectives {
			if c.Name == most.Name && c.Type == most.Type && c.Ranks == most.Ranks && c.Bytes != nil {
				largest = max(largest, *c.Bytes)
			}
		}
	}
	return []Advice{{Topic: topicTopology,
		Says: fmt.Sprintf("See whether the machine can do more: rank --backend nccl --collective %s -d %s -b 1M -e %s -f 2 --placement in with %s on it, and post timeline --results FOLDER; nvidia-smi topo -m shows whether GPUs meet over NVLink (NV#) or PCIe.",
			most.Name, most.Type, upTo(largest), units.Count(most.Ranks, "rank")),
		Why: fmt.Sprintf("%s %s reaches %s, and no benchmark says how much is possible", most.Name, size(*most.Bytes), a.reached(most))}}
}

// reached is the bus bandwidth of a kind of collective: at the pure time where ranks were matched, else the greatest of any device, as the least time has the least waiting in it.
func (a advising) reached(kind *Collective) string {
	greatest, how := 0.0, "of bus bandwidth without the waiting for others"
	consider := func(c *Collective, busbw *float64) {
		if busbw != nil && c.Name == kind.Name && c.Type == kind.Type && c.Ranks == kind.Ranks && c.Parts == kind.Parts && c.Bytes != nil && *c.Bytes == *kind.Bytes {
			greatest = max(greatest, *busbw)
		}
	}
	if a.Across != nil {
		for i := range a.Across.Matches {
			consider(&a.Across.Matches[i].Collective, a.Across.Matches[i].PureBusbw)
		}
	}
	if greatest == 0 {
		how = "of bus bandwidth at its fastest"
		for _, d := range a.comm.devices {
			for i := range d.Collectives {
				consider(&d.Collectives[i], d.Collectives[i].BusbwMax)
			}
		}
	}
	return units.Gigabytes(greatest*1e9) + " GB/s " + how
}

// upTo is the power of two that a size lies under, as a flag takes it.
func upTo(bytes int64) string {
	n := int64(1)
	for n < bytes {
		n *= 2
	}
	return coll.FormatSize(n, false)
}

// longest is the longest call of communication of any device, in milliseconds.
func (t *Timeline) longest() (ms float64, who string) {
	for i := range t.Devices {
		for _, s := range t.Devices[i].seen {
			if took := milliseconds(s.end - s.start); took > ms {
				ms, who = took, t.Devices[i].Label
			}
		}
	}
	return ms, who
}

// nearTimeOut is the time of a call, in milliseconds, from which on a time-out is thinkable.
const nearTimeOut = 30e3

// longCalls speaks where a call took so long that a watchdog may end it.
func longCalls(a advising) []Advice {
	took, who := a.longest()
	if took < nearTimeOut {
		return nil
	}
	return []Advice{{Topic: topicTimeOuts, Source: pageVars,
		Says: "Find out which rank comes so late before a time-out is raised: TORCH_NCCL_TRACE_BUFFER_SIZE=2000 with TORCH_NCCL_DUMP_ON_TIMEOUT=1 records what each rank was at, and a straggler stands in this report where all ranks were recorded. " +
			"What ends such a run is PyTorch's watchdog: init_process_group(timeout=...) raises it. There is no NCCL_TIMEOUT, and NCCL_IB_TIMEOUT is of InfiniBand's packets.",
		Why: fmt.Sprintf("a call on %s took %s", who, duration(took))}}
}

// record says what to record next time for what this could not tell. What a file's reader has said already, a note has.
func record(a advising) (found []Advice) {
	add := func(says, why, source string) {
		found = append(found, Advice{Topic: topicProfile, Says: says, Why: why, Source: source})
	}
	nsight := slices.ContainsFunc(a.Files, func(f File) bool { return f.Format == "nsight" })
	unsized := a.comm.calls(func(c *Collective) float64 { return c.Sum * only(c.Bytes == nil) })
	if sum := a.comm.calls(func(c *Collective) float64 { return c.Sum }); sum > 0 && unsized > sum/2 {
		why := fmt.Sprintf("%.0f %% of the time of collectives has no size, so that there is no bus bandwidth", 100*unsized/sum)
		said := slices.ContainsFunc(a.Notes, func(n Note) bool { return strings.Contains(n.Do, "--include-blobs") })
		if nsight && !said {
			add("Export what NCCL says of its calls: nsys export --type=sqlite --include-blobs=true --include-json=true FILE.nsys-rep (NCCL 2.16.2 or later, and --trace=cuda,nvtx when recording).", why, pageNsight)
		} else if !nsight {
			add("Record the sizes of collectives: torch.profiler with record_shapes=True, in PyTorch 2.2 or later; or NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,COLL,TUNING, and post log.", why, pageProfiler)
		}
	}
	if a.all.per != "step" {
		add("Mark steps: profiler.step() at the end of each with torch.profiler, or NVTX ranges of one name around each (torch.cuda.nvtx.range_push) and --step-pattern.", "there are no steps, so that figures are of the whole recording, with what comes before and after training", cmp.Or(map[bool]string{true: pageNsight}[nsight], pageProfiler))
	} else if few := a.all.steps(); few < 3 {
		add("Record three steps or more, after some that warm up: torch.profiler.schedule(wait=1, warmup=2, active=5).", fmt.Sprintf("there are %.0f", few), pageProfiler)
	}
	if read, world := len(a.all.devices), a.world(); len(a.comm.devices) > 0 && read < world {
		add("Record all ranks: torch.profiler on each with its rank in the file's name, or nsys profile -o name_rank%q{RANK}; and give the folder.", fmt.Sprintf("%d of %s were read, so that waiting for the others cannot be told from communication", read, units.Count(world, "rank")), pageProfiler)
	} else if read == 1 && len(a.comm.devices) == 1 {
		add("Record all ranks, and give the folder of their traces.", "one rank alone does not tell waiting for others from communication", pageProfiler)
	}
	return found
}
