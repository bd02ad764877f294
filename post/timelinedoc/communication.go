package timelinedoc

import (
	"fmt"
	"slices"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// waiting is how many collectives were matched, and what they show.
func (s *timelineDocument) waiting(a *timeline.Across) {
	basis := "compute and kernels are of whole recordings."
	if a.Steps > 0 {
		basis = fmt.Sprintf("compute and kernels are of %s that all ranks have whole.", units.Count(a.Steps, "step"))
	}
	if a.Matched == 0 {
		why := "No collective was matched over ranks"
		if s.NonBlocking() {
			why = "Operations are non-blocking"
		}
		s.say("%s, so that waiting is not separable from communication. %s", why, basis)
		return
	}
	text := fmt.Sprintf("%s found on every rank that was read (%s)", wasWere(a.Matched, "collective"), a.How)
	if a.Alone > 0 {
		text += fmt.Sprintf("; %s not", wasWere(a.Alone, "call"))
	}
	s.say("%s. Of their time, %.3f ms per rank are pure communication (the minimum over ranks), and %.3f ms, the "+
		"mean over ranks, are waiting for a rank that began later. %s", text, a.Pure, a.Waiting, basis)
	if found, is := s.WaitingFact().(profiles.Straggler); is {
		var details document.List
		for _, why := range notice.Details(found) {
			details = append(details, s.label(a.Straggler.Device)+": "+why)
		}
		s.put(details)
	}
}

// mostCollectives is how many kinds of calls a table has.
const mostCollectives = 16

// collectives is the table of calls: matched over ranks where that is known, else those of the device with the most.
func (s *timelineDocument) collectives() {
	if s.Across != nil && len(s.Across.Matches) > 0 {
		var groups []timeline.Group
		for _, d := range s.Devices {
			groups = append(groups, d.Groups...)
		}
		s.title("Communication over ranks, in ms:")
		s.calls(
			s.Across.Matches,
			groups,
			"pure is the minimum over ranks of each call, wait the mean of the rest, both "+
				"medians over calls. busbw is in GB/s, at pure without waiting.",
			"pure>",
			"wait>",
			"exposed>",
			"busbw>",
			"at pure>",
		)
		return
	}
	i := slices.IndexFunc(s.Devices, func(d timeline.Device) bool { return len(d.Collectives) > 0 })
	if i < 0 {
		return
	}
	most, of := &s.Devices[i], ""
	for i := range s.Devices {
		if s.Devices[i].Comm > most.Comm {
			most = &s.Devices[i]
		}
	}
	if len(s.Devices) > 1 {
		of = " of " + most.Label + ", which has most of it"
	}
	var rows []timeline.Matched
	for _, c := range most.Collectives {
		rows = append(rows, timeline.Matched{Collective: c, Pure: c.Min, PureBusbw: c.BusbwMax})
	}
	text := "busbw is in GB/s, at the median time, which includes waiting for other ranks; at best is at the " +
		"minimum time."
	if s.NonBlocking() {
		text = "A collective lasts from the call that begins it to the call that detects its end, beside others; so " +
			"it has no busbw."
	}
	s.title("Communication" + of + ", in ms:")
	s.calls(rows, most.Groups, text, "min>", "exposed>", "busbw>", "at best>")
}

// calls is a table of kinds of calls.
func (s *timelineDocument) calls(of []timeline.Matched, groups []timeline.Group, text string, heads ...string) {
	all := slices.Clone(of)
	units.SortBy(all, func(m timeline.Matched) float64 { return -m.Sum })
	shown := all[:min(len(all), mostCollectives)]
	var rows [][]string
	for _, c := range shown {
		cells := []string{callWords(c.Collective, groups), sizeWords(c.Bytes), fmt.Sprint(c.Calls), three(c.Sum),
			three(c.Median), three(c.Pure)}
		if heads[1] == "wait>" {
			cells = append(cells, three(c.Waiting))
		}
		rows = append(rows, append(cells, three(c.Exposed), gbps(c.Busbw), gbps(c.PureBusbw)))
	}
	s.table(rows, append([]string{"operation~", "size>", "calls>", "sum>", "median>"}, heads...)...)
	if len(all) > len(shown) {
		s.say("These are the %d of %d kinds of calls that take longest; the JSON has all.", len(shown), len(all))
	}
	if i := slices.IndexFunc(all, func(c timeline.Matched) bool { return c.Ranks > 0 }); i >= 0 {
		text = fmt.Sprintf("x%d is over %s. %s", all[i].Ranks, units.Count(all[i].Ranks, "rank"), text)
	}
	unknown := func(c timeline.Matched) bool { return c.Busbw == nil }
	if slices.ContainsFunc(shown, unknown) && !s.NonBlocking() {
		text += ` "-": the file does not have the size, the ranks or the operation.`
	}
	s.say("%s", text)
}

// callWords is what a call is called: with its communicator where there are several, and with its ranks.
func callWords(c timeline.Collective, groups []timeline.Group) string {
	words := strings.TrimSpace(c.Name + " " + c.Type)
	if c.Ranks > 0 {
		words += fmt.Sprintf(" x%d", c.Ranks)
	}
	if c.Group != "" && slices.ContainsFunc(groups, func(g timeline.Group) bool { return g.Name != c.Group }) {
		words += " in " + c.Group
	}
	return words
}

func three(v float64) string { return fmt.Sprintf("%.3f", v) }

func gbps(v *float64) string {
	if v == nil {
		return "-"
	}
	return units.Gigabytes(*v * 1e9)
}

// sizeWords writes a size that may be unknown, exact where that is short.
func sizeWords(bytes *int64) string {
	if bytes == nil || *bytes < 0 {
		return "-"
	}
	exact := coll.FormatSize(*bytes, true)
	if len(exact) <= len("1023 KiB") {
		return exact
	}
	v, names := float64(*bytes), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for v >= 1024 && len(names) > 1 {
		v, names = v/1024, names[1:]
	}
	return fmt.Sprintf("%.2f %s", v, names[0])
}

// buckets are the gradient buckets of DDP, of the first device that has some.
func (s *timelineDocument) buckets() {
	i := slices.IndexFunc(s.Devices, func(d timeline.Device) bool { return len(d.Buckets) > 0 })
	if i < 0 {
		return
	}
	d, of := &s.Devices[i], ""
	if len(s.Devices) > 1 {
		of = " of " + d.Label
	}
	s.title("Gradient buckets of a step" + of + ", in ms, medians over steps:")
	var rows [][]string
	whole := int64(0)
	for _, b := range d.Buckets {
		rows = append(
			rows,
			[]string{fmt.Sprint(b.Number), sizeWords(&b.Bytes), b.Type, fmt.Sprint(b.Steps), three(b.Median),
				three(b.Exposed)},
		)
		whole += b.Bytes
	}
	s.table(rows, "bucket", "size>", "type", "steps>", "took>", "exposed>")
	s.say("%s in %s per step.", sizeWords(&whole), units.Count(len(d.Buckets), "bucket"))
}

// exposed writes the longest exposed calls of all devices.
func (s *timelineDocument) exposed() {
	type call struct {
		of string
		timeline.Exposed
	}
	var all []call
	most, where := 0, "step~"
	for _, d := range s.Devices {
		for _, e := range d.Top {
			all = append(all, call{d.Label, e})
		}
		most = max(most, len(d.Top))
	}
	if all == nil {
		return
	}
	units.SortBy(all, func(c call) float64 { return -c.Exposed.Exposed })
	var rows [][]string
	for _, c := range all[:min(len(all), most)] {
		at := strings.TrimPrefix(c.Step, "ProfilerStep")
		if len(s.Devices) > 1 {
			where, at = "on, step~", strings.Trim(c.of+", "+at, ", ")
		}
		rows = append(rows, []string{c.Name, sizeWords(c.Bytes), at, three(c.Start), three(c.Took),
			three(c.Exposed.Exposed)})
	}
	s.title("Longest exposed calls, in ms:")
	s.table(rows, "operation~", "size>", where, "begins at>", "took>", "exposed>")
	s.say("Times begin with the first thing on the device.")
}

// mostUnclassified is how many names are listed that may be communication.
const mostUnclassified = 10

// unclassified are the names that may be communication and were counted as computation, over all devices.
func (s *timelineDocument) unclassified() {
	var all []timeline.Unclassified
	for _, d := range s.Devices {
		for _, u := range d.Unknown {
			sum := units.Entry(&all, func(o timeline.Unclassified) bool { return o.Name == u.Name },
				timeline.Unclassified{Name: u.Name, Word: u.Word})
			sum.Calls, sum.Sum, sum.Share = sum.Calls+u.Calls, sum.Sum+u.Sum, max(sum.Share, u.Share)
		}
	}
	if all == nil {
		return
	}
	units.SortBy(all, func(u timeline.Unclassified) float64 { return -u.Sum })
	var rows [][]string
	for _, u := range all[:min(len(all), mostUnclassified)] {
		rows = append(rows, []string{u.Name, fmt.Sprint(u.Calls), three(u.Sum), fmt.Sprintf("%.2f %%", u.Share),
			"“" + u.Word + "” in its name"})
	}
	s.title("Kernels that may be communication, counted as computation:")
	s.table(rows, "kernel~", "calls>", "ms>", "of kernels>", "why~")
	if n := len(all) - len(rows); n > 0 {
		s.say("The JSON has %d more.", n)
	}
	s.say("--comm-pattern REGEXP counts those that match as communication.")
}
