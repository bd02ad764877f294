package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/units"
	"busbar/post/timeline"
)

// listings are the tables about timelines, in their order.
func (t *Timelines) listings() (all []listing) {
	f := t.Found
	for _, l := range []listing{
		gpuTable(f), idleTable(f), imbalanceTable(f), stepTable(f), waitingTable(f), collectiveTable(f), againstTable(f), exposedTable(f), bucketTable(f),
		streamTable(f), groupTable(f), unknownTable(f), scalingTable(f),
	} {
		if len(l.Rows) > 0 {
			l.ID = "timeline-" + strings.ReplaceAll(strings.ToLower(l.Name), " ", "-")
			all = append(all, l.trimmed())
		}
	}
	return all
}

const partsSay = "Compute: the union of all that is neither communication nor copies. Communication: the union of collectives; hidden while something computes, exposed otherwise. " +
	"Compute, exposed, copies alone and idle add up to the span."

const overlapSay = "Overlap has two definitions that must not be mixed. Hidden of communication: the share of communication during which something computed (intervals). " +
	"By the wall clock: (compute + communication − span) / communication; it holds where compute and communication were each measured alone and nothing idles. Idle time lowers it, also below 0."

func gpuTable(t *timeline.Timeline) listing {
	l := listing{Name: units.Capital(t.Unit() + "s"), Says: []string{partsSay, overlapSay}, Open: true, Heads: heads(t.Unit(), "where", "span ms>", "compute ms>", "communication ms>", "hidden ms>", "exposed ms>", "copies alone ms>", "idle ms>", "exposed of span>", "hidden of communication>", "by the wall clock>")}
	where := whereOf(t)
	for i, d := range t.Devices {
		l.Rows = append(l.Rows, []cell{word(d.Label), word(where[i]), milli(d.Span), milli(d.Compute), milli(d.Comm), milli(d.Overlap), milli(d.Exposed), milli(d.MemcpyOnly), milli(d.Idle),
			share(d.Exposed, d.Span), may(d.Efficiency, percentWords), may(d.WallClock, percentWords)})
	}
	return l
}

// whereOf says of each device where it is and what it is, as far as devices differ in that.
func whereOf(t *timeline.Timeline) []string {
	hosts, gpus := map[string]bool{}, map[string]bool{}
	for _, d := range t.Devices {
		hosts[d.Host], gpus[d.GPU] = true, true
	}
	all := make([]string, len(t.Devices))
	for i, d := range t.Devices {
		var words []string
		if len(hosts) > 1 {
			words = append(words, d.Host)
		}
		if len(gpus) > 1 {
			words = append(words, d.GPU)
		}
		all[i] = strings.Join(nonEmpty(words...), ", ")
	}
	return all
}

func percentWords(v float64) string { return fmt.Sprintf("%.2f %%", v) }

// share is the cell of a part of a whole.
func share(part, whole float64) cell {
	if whole <= 0 {
		return cell{}
	}
	return figure(percentWords(100*part/whole), 100*part/whole)
}

func idleTable(t *timeline.Timeline) listing {
	l := listing{Name: "Idle time", Says: []string{"Host-bound: the next kernel had not been launched yet. Waiting: it had been launched, and waited for an event, a stream or the device. Unknown: the file does not have its launch."},
		Heads: heads(t.Unit(), "idle ms>", "host-bound ms>", "waiting ms>", "unknown ms>", "idle of span>")}
	for _, d := range t.Devices {
		l.Rows = append(l.Rows, []cell{word(d.Label), milli(d.Idle), milli(d.HostBound), milli(d.Waiting), milli(d.Unexplained), share(d.Idle, d.Span)})
	}
	return l
}

func imbalanceTable(t *timeline.Timeline) listing {
	if t.Across == nil {
		return listing{}
	}
	l := listing{Name: "Imbalance by step", Says: []string{"Imbalance: maximum over ranks of the computation time, divided by the mean, minus 1."}, Heads: heads("step", "imbalance>", "minimum compute ms>", "maximum compute ms>", "maximum on", "waiting ms>", "longest span ms>")}
	var values []float64
	var says []string
	for _, s := range t.Across.Imbalance {
		values, says = append(values, s.Spread), append(says, s.Name+": "+percentWords(s.Spread))
		l.Rows = append(l.Rows, []cell{word(s.Name), figure(percentWords(s.Spread), s.Spread), milli(s.Least), milli(s.Most), word(labelOf(t, s.Slowest)), milli(s.Waiting), milli(s.Span)})
	}
	if n := min(len(values), mostBars); n > 1 {
		l.Bars = barsOf(fmt.Sprintf("Imbalance of %s, from 0 to %s", units.Count(n, "step"), percentWords(slices.Max(values[:n]))), values[:n], says)
	}
	return l
}

// mostBars is how many bars a small plot shows.
const mostBars = 200

func labelOf(t *timeline.Timeline, device int) string {
	if device < 0 || device >= len(t.Devices) {
		return ""
	}
	return t.Devices[device].Label
}

// stepTable are the steps of all GPUs, those with the most exposed communication first.
func stepTable(t *timeline.Timeline) listing {
	l := listing{Name: "Steps", Says: []string{"Sorted by exposed communication."}, Heads: heads(t.Unit(), "step", "starts at ms>", "span ms>", "compute ms>", "communication ms>", "hidden ms>", "exposed ms>", "copies alone ms>", "idle ms>", "hidden of communication>", "on the host ms>")}
	type one struct {
		label string
		timeline.Step
	}
	var all []one
	for _, d := range t.Devices {
		for _, s := range d.Steps {
			all = append(all, one{d.Label, s})
		}
	}
	slices.SortStableFunc(all, func(a, b one) int { return cmp.Compare(b.Exposed, a.Exposed) })
	for _, s := range all {
		host := cell{}
		if s.Host > 0 {
			host = milli(s.Host)
		}
		l.Rows = append(l.Rows, []cell{word(s.label), word(s.Name), milli(s.Start), milli(s.Span), milli(s.Compute), milli(s.Comm), milli(s.Overlap), milli(s.Exposed), milli(s.MemcpyOnly), milli(s.Idle), may(s.Efficiency, percentWords), host})
	}
	return l
}

// waitingTable is pure communication against waiting, by rank.
func waitingTable(t *timeline.Timeline) listing {
	a := t.Across
	if a == nil || a.Matched == 0 {
		return listing{}
	}
	l := listing{Name: "Waiting", Says: []string{fmt.Sprintf("%s matched on all their ranks: %s; %s unmatched. Pure communication: the minimum over ranks of a collective's time. Waiting: what it takes longer on the others, which wait for the last rank. %s", units.Count(a.Matched, "collective"), a.How, units.Count(a.Alone, "call"), computeBasis(a))},
		Heads: heads(t.Unit(), "pure ms>", "waiting ms>", "last to begin>", "compute ms>", "kernels that compute ms>"), Open: true}
	drawn := &bars{Label: "Pure communication (below) and waiting (above) by " + t.Unit()}
	for _, r := range a.Ranks {
		label := labelOf(t, r.Device)
		l.Rows = append(l.Rows, []cell{word(label), milli(r.Pure), milli(r.Waiting), number(r.Last), milli(r.Compute), milli(r.Kernels)})
		drawn.Bars = append(drawn.Bars, bar{
			fmt.Sprintf("%s: pure %s ms, waiting %s ms", label, ms(r.Pure), ms(r.Waiting)),
			[]part{{"pure", r.Pure}, {"wait", r.Waiting}},
		})
	}
	if n := len(drawn.Bars); n > 1 && n <= mostBars {
		l.Bars = drawn
	}
	return l
}

// computeBasis says what computing of ranks is of.
func computeBasis(a *timeline.Across) string {
	if a.Steps == 0 {
		return "Compute and kernels are of whole recordings, which may differ in length."
	}
	return fmt.Sprintf("Compute and kernels are of %s that all ranks have whole.", units.Count(a.Steps, "step"))
}

// collectiveTable is what collectives took: matched over ranks where they were, else of each GPU.
func collectiveTable(t *timeline.Timeline) listing {
	if a := t.Across; a != nil && len(a.Matches) > 0 {
		l := listing{Name: "Collectives", Says: []string{"Over ranks. Pure: minimum over ranks, median over calls. busbw is that of the pure time; its share is of a benchmark of this machine, where one was given."}, Open: true,
			Heads: heads("collective", "communicator", "ranks>", "size>", "type", "calls>", "median ms>", "pure ms>", "waiting ms>", "exposed ms>", "busbw GB/s>", "of the benchmark>")}
		for _, m := range a.Matches {
			l.Rows = append(l.Rows, []cell{word(m.Name), word(m.Group), some(m.Ranks), sizeCell(m.Bytes), word(m.Type), number(m.Calls), milli(m.Median), milli(m.Pure), milli(m.Waiting), milli(m.Exposed), may(m.PureBusbw, bandwidthWords), ofBenchmark(t, m.Collective)})
		}
		return l
	}
	says := "Times include waiting for other ranks. busbw is that of the median time, the maximum that of the minimum time."
	if t.NonBlocking() {
		says = "A collective lasts from the call that begins it to the call that detects its end, beside others; so it has no busbw."
	}
	l := listing{Name: "Collectives", Says: []string{"Of each " + t.Unit() + ". " + says}, Open: true,
		Heads: heads(t.Unit(), "collective", "communicator", "ranks>", "size>", "type", "calls>", "sum ms>", "median ms>", "minimum ms>", "exposed ms>", "busbw GB/s>", "maximum GB/s>", "of the benchmark>")}
	for _, d := range t.Devices {
		for _, c := range d.Collectives {
			l.Rows = append(l.Rows, []cell{word(d.Label), word(c.Name), word(c.Group), some(c.Ranks), sizeCell(c.Bytes), word(c.Type), number(c.Calls), milli(c.Sum), milli(c.Median), milli(c.Least), milli(c.Exposed), may(c.Busbw, bandwidthWords), may(c.BusbwMax, bandwidthWords), ofBenchmark(t, c)})
		}
	}
	return l
}

func bandwidthWords(v float64) string { return units.Gigabytes(v * 1e9) }

// some is a count of which 0 is not known.
func some(n int) cell {
	if n == 0 {
		return cell{}
	}
	return number(n)
}

func sizeCell(bytes *int64) cell {
	if bytes == nil {
		return cell{}
	}
	return figure(sizeOf(*bytes), float64(*bytes))
}

// ofBenchmark is how much of a benchmark a collective reached; of several the least, which is the best that the machine did.
func ofBenchmark(t *timeline.Timeline, c timeline.Collective) cell {
	var least *float64
	for _, j := range t.Against {
		if c.Bytes != nil && j.Name == c.Name && j.Bytes == *c.Bytes && j.Type == c.Type && j.Ranks == c.Ranks && (least == nil || j.Percent < *least) {
			least = &j.Percent
		}
	}
	return may(least, percentWords)
}

func againstTable(t *timeline.Timeline) listing {
	l := listing{Name: "Against the benchmark", Heads: heads("collective", "size>", "type", "ranks>", "busbw GB/s>", "benchmark GB/s>", "reached>", "run", "contender", "in words~"), Open: true}
	for _, j := range t.Against {
		l.Rows = append(l.Rows, []cell{word(j.Name), figure(sizeOf(j.Bytes), float64(j.Bytes)), word(j.Type), number(j.Ranks), figure(bandwidthWords(j.Busbw), j.Busbw), figure(bandwidthWords(j.Reached), j.Reached), figure(percentWords(j.Percent), j.Percent), word(j.Run), word(j.Who), word(j.Text())})
	}
	return l
}

func exposedTable(t *timeline.Timeline) listing {
	l := listing{Name: "Longest exposed calls", Heads: heads(t.Unit(), "call", "communicator", "step", "stream>", "starts at ms>", "took ms>", "exposed ms>", "after~", "before~")}
	type one struct {
		label string
		timeline.Exposed
	}
	var all []one
	for _, d := range t.Devices {
		for _, e := range d.Top {
			all = append(all, one{d.Label, e})
		}
	}
	slices.SortStableFunc(all, func(a, b one) int { return cmp.Compare(b.Exposed.Exposed, a.Exposed.Exposed) })
	for _, e := range all {
		l.Rows = append(l.Rows, []cell{word(e.label), word(callWords(e.Name, e.Bytes)), word(e.Group), word(e.Step), number(e.Stream), milli(e.Start), milli(e.Took), milli(e.Exposed.Exposed), word(e.After), word(e.Before)})
	}
	return l
}

func bucketTable(t *timeline.Timeline) listing {
	l := listing{Name: "Gradient buckets", Says: []string{"All-reduces at the same place of every step, as DistributedDataParallel issues them; medians over steps."}, Heads: heads(t.Unit(), "bucket>", "size>", "type", "communicator", "steps>", "median ms>", "exposed ms>")}
	for _, d := range t.Devices {
		for _, b := range d.Buckets {
			l.Rows = append(l.Rows, []cell{word(d.Label), number(b.Number), figure(sizeOf(b.Bytes), float64(b.Bytes)), word(b.Type), word(b.Group), number(b.Steps), milli(b.Median), milli(b.Exposed)})
		}
	}
	return l
}

func streamTable(t *timeline.Timeline) listing {
	l := listing{Name: "Streams", Says: []string{"Unions of what ran on each stream."}, Heads: heads(t.Unit(), "stream>", "compute ms>", "communication ms>", "exposed ms>", "copies ms>", "kernels>", "communication beside compute>")}
	for _, d := range t.Devices {
		for _, s := range d.Streams {
			shared := cell{}
			for _, one := range d.Shared {
				if one.ID == s.ID {
					shared = figure(percentWords(one.OfComm), one.OfComm)
				}
			}
			l.Rows = append(l.Rows, []cell{word(d.Label), number(s.ID), milli(s.Compute), milli(s.Comm), milli(s.Exposed), milli(s.Memcpy), number(s.Kernels), shared})
		}
	}
	return l
}

func groupTable(t *timeline.Timeline) listing {
	l := listing{Name: "Communicators", Heads: heads(t.Unit(), "communicator", "about~", "ranks>", "calls>", "communication ms>", "hidden ms>", "exposed ms>")}
	for _, d := range t.Devices {
		for _, g := range d.Groups {
			l.Rows = append(l.Rows, []cell{word(d.Label), word(cmp.Or(g.Name, "not named")), word(g.About), some(g.Size), number(g.Calls), milli(g.Comm), milli(g.Overlap), milli(g.Exposed)})
		}
	}
	return l
}

func unknownTable(t *timeline.Timeline) listing {
	l := listing{Name: "Kernels that may be communication", Says: []string{"They count as computation. --comm-pattern counts kernels of a name as communication."}, Heads: heads(t.Unit(), "kernel~", "calls>", "sum ms>", "of all kernels>", "why~")}
	for _, d := range t.Devices {
		for _, u := range d.Unknown {
			l.Rows = append(l.Rows, []cell{word(d.Label), word(u.Name), number(u.Calls), milli(u.Sum), figure(percentWords(u.Share), u.Share), word("“" + u.Word + "” in its name")})
		}
	}
	return l
}

func scalingTable(t *timeline.Timeline) listing {
	l := listing{Name: "Scaling", Heads: heads("kind", "ranks>", "than>", "step ms>", "than ms>", "efficiency>", "in words~"), Open: true}
	for _, e := range t.Scaling {
		l.Rows = append(l.Rows, []cell{word(e.Kind), number(e.Ranks), number(e.Than), milli(e.Step), milli(e.ThanStep), figure(percentWords(e.Percent), e.Percent), word(e.Text())})
	}
	return l
}
