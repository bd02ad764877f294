package timelinedoc

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// steps are a row for each step of one device, or the medians of each of several devices.
func (s *timelineDocument) steps() {
	if len(s.Devices) == 1 {
		s.stepsOf(&s.Devices[0])
		return
	}
	t := figureTable{first: "device", columns: append([]figureColumn{{"steps", 0}}, partsColumns[:8]...), worst: 1, noun: "device"}
	whole := true // each device is one step
	for _, i := range s.Working() {
		d := &s.Devices[i]
		if len(d.Steps) == 0 {
			continue
		}
		whole = whole && len(d.Steps) == 1 && d.Steps[0].Span == d.Span
		values := []float64{float64(len(d.Steps))}
		for i := range partsColumns[:8] {
			var all []float64
			for _, step := range d.Steps {
				if v := partsFigures(step.Parts)[i]; !math.IsNaN(v) {
					all = append(all, v)
				}
			}
			values = append(values, stats.Median(all))
		}
		t.rows = append(t.rows, figureRow{d.Label, values})
	}
	if t.rows != nil && !whole {
		s.title("A step, in ms, each column its median over the steps of a device:")
		s.figures(t)
	}
}

func (s *timelineDocument) stepsOf(d *timeline.Device) {
	if len(d.Steps) == 0 {
		return
	}
	t := figureTable{first: "step", columns: append(slices.Clone(partsColumns[:8]), figureColumn{"on host", 3}), noun: "step"}
	for _, step := range d.Steps {
		host := step.Host
		if host == 0 {
			host = math.NaN()
		}
		t.rows = append(t.rows, figureRow{step.Name, append(partsFigures(step.Parts)[:8], host)})
	}
	s.title("Steps, in ms:")
	s.figures(t)
}

// ranks is what was found over ranks: waiting, who is last, balance.
func (s *timelineDocument) ranks() {
	a := s.Across
	if a == nil {
		return
	}
	s.title("Across ranks:")
	columns := []figureColumn{{"compute ms", 3}, {"kernels ms", 3}}
	if a.Matched > 0 {
		s.waiting(a)
		columns = append(columns, figureColumn{"pure ms", 3}, figureColumn{"waiting ms", 3}, figureColumn{"last to begin", 0})
	} else if s.NonBlocking() {
		s.say("Operations are non-blocking, so that waiting is not separable from communication. " + basis(a))
	} else {
		s.say("No collective was matched over ranks, so that waiting is not separable from communication. " + basis(a))
	}
	t := figureTable{first: "device", columns: columns, worst: len(columns) - 1, noun: "device"}
	for _, r := range a.Ranks {
		t.rows = append(t.rows, figureRow{s.label(r.Device), []float64{r.Compute, r.Kernels, r.Pure, r.Waiting, float64(r.Last)}[:len(columns)]})
	}
	s.figures(t)
	steps := figureTable{first: "step, longest on", columns: []figureColumn{{"min ms", 3}, {"max ms", 3}, {"imbalance %", 2}, {"span ms", 3}}, worst: 2, noun: "step"}
	if a.Matched > 0 {
		steps.columns = slices.Insert(steps.columns, 3, figureColumn{"waiting ms", 3})
	}
	for _, step := range a.Imbalance {
		name := step.Name
		if step.Spread >= 0.005 {
			name += ", " + s.label(step.Slowest)
		}
		values := []float64{step.Least, step.Most, step.Spread, step.Span}
		if a.Matched > 0 {
			values = slices.Insert(values, 3, step.Waiting)
		}
		steps.rows = append(steps.rows, figureRow{name, values})
	}
	if steps.rows != nil {
		s.title("Computation of a step over ranks:")
		s.figures(steps)
	}
}

// basis says what the computing of a rank is of.
func basis(a *timeline.Across) string {
	if a.Steps == 0 {
		return "compute and kernels are of whole recordings."
	}
	return fmt.Sprintf("compute and kernels are of %s that all ranks have whole.", units.Count(a.Steps, "step"))
}

// waiting says how many collectives were matched, and what they tell.
func (s *timelineDocument) waiting(a *timeline.Across) {
	text := fmt.Sprintf("%s found on every rank that was read (%s)", wasWere(a.Matched, "collective"), a.How)
	if a.Alone > 0 {
		text += fmt.Sprintf("; %s not", wasWere(a.Alone, "call"))
	}
	s.say(fmt.Sprintf("%s. Of their time, %s per rank are pure communication (the minimum over ranks), and %s, the mean over ranks, are waiting for a rank that began later. %s", text, ms(a.Pure), ms(a.Waiting), basis(a)))
	if found, is := s.WaitingFact().(notice.Straggler); is {
		for _, why := range notice.Details(found) {
			s.item(s.label(a.Straggler.Device) + ": " + why)
		}
	}
}

// wasWere counts things that were something.
func wasWere(n int, noun string) string {
	if n == 1 {
		return units.Count(n, noun) + " was"
	}
	return units.Count(n, noun) + " were"
}

// label is what a device is called.
func (s *timelineDocument) label(device int) string {
	if device < 0 || device >= len(s.Devices) {
		return "-"
	}
	return s.Devices[device].Label
}

// mostCollectives is how many kinds of calls a table has.
const mostCollectives = 16

// collectives is the table of calls: matched over ranks where that is known, else those of a device.
func (s *timelineDocument) collectives() {
	if s.Across != nil && len(s.Across.Matches) > 0 {
		s.matched(s.Across.Matches)
		return
	}
	d, of := s.talkative(), ""
	if d == nil || len(d.Collectives) == 0 {
		return
	}
	if len(s.Devices) > 1 {
		of = " of " + d.Label + ", which has most of it"
	}
	all := slices.Clone(d.Collectives)
	slices.SortStableFunc(all, func(a, b timeline.Collective) int { return -cmp.Compare(a.Sum, b.Sum) })
	s.title("Communication" + of + ", in ms:")
	t := &sheetTable{head: []string{"operation", "size", "calls", "sum", "median", "min", "exposed", "busbw", "at best"}, align: "lrrrrrrrr", names: []int{0}}
	sizes := true
	for _, c := range all[:min(len(all), mostCollectives)] {
		t.rows = append(t.rows, []string{callWords(c, d.Groups), sizeWords(c.Bytes), fmt.Sprint(c.Calls), three(c.Sum), three(c.Median), three(c.Least), three(c.Exposed), gbps(c.Busbw), gbps(c.BusbwMax)})
		sizes = sizes && c.Busbw != nil
	}
	s.table(t)
	s.left(len(all), len(t.rows))
	text := overRanks(all, func(c timeline.Collective) int { return c.Ranks })
	if s.NonBlocking() {
		s.say(text + "A collective lasts from the call that begins it to the call that detects its end, beside others; so it has no busbw.")
		s.groups(d)
		return
	}
	s.say(text + "busbw is in GB/s, at the median time, which includes waiting for other ranks; at best is at the minimum time." + unknownSizes(sizes))
	s.groups(d)
}

// matched is the table of calls that were found on every rank.
func (s *timelineDocument) matched(matches []timeline.Matched) {
	all := slices.Clone(matches)
	slices.SortStableFunc(all, func(a, b timeline.Matched) int { return -cmp.Compare(a.Sum, b.Sum) })
	s.title("Communication over ranks, in ms:")
	t := &sheetTable{head: []string{"operation", "size", "calls", "sum", "median", "pure", "wait", "exposed", "busbw", "at pure"}, align: "lrrrrrrrrr", names: []int{0}}
	sizes := true
	var groups []timeline.Group
	for _, d := range s.Devices {
		groups = append(groups, d.Groups...)
	}
	for _, c := range all[:min(len(all), mostCollectives)] {
		t.rows = append(t.rows, []string{callWords(c.Collective, groups), sizeWords(c.Bytes), fmt.Sprint(c.Calls), three(c.Sum), three(c.Median), three(c.Pure), three(c.Waiting), three(c.Exposed), gbps(c.Busbw), gbps(c.PureBusbw)})
		sizes = sizes && c.Busbw != nil
	}
	s.table(t)
	s.left(len(all), len(t.rows))
	s.say(overRanks(all, func(c timeline.Matched) int { return c.Ranks }) + "pure is the minimum over ranks of each call, wait the mean of the rest, both medians over calls. busbw is in GB/s, at pure without waiting." + unknownSizes(sizes))
}

func (s *timelineDocument) left(all, shown int) {
	if all > shown {
		s.say(fmt.Sprintf("These are the %d of %d kinds of calls that take longest; the JSON has all.", shown, all))
	}
}

func unknownSizes(all bool) string {
	if all {
		return ""
	}
	return ` "-": the file does not have the size, the ranks or the operation.`
}

// overRanks explains the number of ranks in a name, where there is one.
func overRanks[T any](all []T, ranks func(T) int) string {
	for _, one := range all {
		if n := ranks(one); n > 0 {
			return fmt.Sprintf("x%d is over %s. ", n, units.Count(n, "rank"))
		}
	}
	return ""
}

// callWords is what a call is called: with its communicator where there are several, and with its ranks.
func callWords(c timeline.Collective, groups []timeline.Group) string {
	words := strings.TrimSpace(kernelWords(c.Name) + " " + c.Type)
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

// groups is the table of communicators, where there are several.
func (s *timelineDocument) groups(d *timeline.Device) {
	if len(d.Groups) < 2 {
		return
	}
	t := figureTable{first: "communicator", columns: []figureColumn{{"ranks", 0}, {"calls", 0}, {"comm", 3}, {"overlap", 3}, {"exposed", 3}}, worst: 4, noun: "communicator"}
	for _, g := range d.Groups {
		ranks := float64(g.Size)
		if g.Size <= 0 {
			ranks = math.NaN()
		}
		name := cmp.Or(g.Name, "(not named)")
		if g.About != "" {
			name += " (" + g.About + ")"
		}
		t.rows = append(t.rows, figureRow{name, []float64{ranks, float64(g.Calls), g.Comm, g.Overlap, g.Exposed}})
	}
	s.title("Communicators, in ms:")
	s.figures(t)
}

// talkative is the device with the most communication.
func (s *timelineDocument) talkative() *timeline.Device {
	var most *timeline.Device
	for i := range s.Devices {
		if d := &s.Devices[i]; most == nil || d.Comm > most.Comm {
			most = d
		}
	}
	return most
}

// buckets are the gradient buckets of DDP, of the first device that has some.
func (s *timelineDocument) buckets() {
	i := slices.IndexFunc(s.Devices, func(d timeline.Device) bool { return len(d.Buckets) > 0 })
	if i < 0 {
		return
	}
	d := &s.Devices[i]
	of := ""
	if len(s.Devices) > 1 {
		of = " of " + d.Label
	}
	s.title("Gradient buckets of a step" + of + ", in ms, medians over steps:")
	t := &sheetTable{head: []string{"bucket", "size", "type", "steps", "took", "exposed"}, align: "lrlrrr"}
	whole := int64(0)
	for _, b := range d.Buckets {
		t.rows = append(t.rows, []string{fmt.Sprint(b.Number), sizeWords(&b.Bytes), b.Type, fmt.Sprint(b.Steps), three(b.Median), three(b.Exposed)})
		whole += b.Bytes
	}
	s.table(t)
	s.say(fmt.Sprintf("%s in %s per step.", sizeWords(&whole), units.Count(len(d.Buckets), "bucket")))
}

// exposed are the calls that were hidden least, over all devices.
func (s *timelineDocument) exposed() {
	type call struct {
		of string
		timeline.Exposed
	}
	var all []call
	most := 0
	for _, d := range s.Devices {
		for _, e := range d.Top {
			all = append(all, call{d.Label, e})
		}
		most = max(most, len(d.Top))
	}
	if all == nil {
		return
	}
	slices.SortStableFunc(all, func(a, b call) int { return -cmp.Compare(a.Exposed.Exposed, b.Exposed.Exposed) })
	all = all[:min(len(all), most)]
	s.title("Longest exposed calls, in ms:")
	t := &sheetTable{head: []string{"operation", "size", "step", "begins at", "took", "exposed", "between", "and"}, align: "lrlrrrll", names: []int{0, 2, 6, 7}}
	if len(s.Devices) > 1 {
		t.head[2] = "on, step"
	}
	for _, c := range all {
		where := strings.TrimPrefix(c.Step, "ProfilerStep")
		if len(s.Devices) > 1 {
			where = strings.Trim(c.of+", "+where, ", ")
		}
		t.rows = append(t.rows, []string{kernelWords(c.Name), sizeWords(c.Bytes), where, three(c.Start), three(c.Took), three(c.Exposed.Exposed), neighbour(c.After), neighbour(c.Before)})
	}
	s.table(t)
	s.say("They lie between these kernels that compute. Times begin with the first thing on the device.")
}

// neighbour is a kernel beside a call.
func neighbour(name string) string { return cmp.Or(kernelWords(name), "-") }

// unnamed are namespaces without a name, as profilers write them.
var unnamed = strings.NewReplacer("(anonymous namespace)::", "", "<unnamed>::", "", "(unnamed)::", "")

// kernelWords is the name of a kernel without its arguments, templates and namespaces.
func kernelWords(name string) string {
	short := strings.TrimPrefix(unnamed.Replace(name), "void ")
	if i := strings.IndexAny(short, "<("); i > 0 {
		short = short[:i]
	}
	if i := strings.LastIndex(short, "::"); i >= 0 {
		short = short[i+2:]
	}
	return cmp.Or(short, name)
}
