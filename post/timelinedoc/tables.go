package timelinedoc

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"busbar/internal/document"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// table adds a table of texts. A head that ends in > is of numbers at the right, one in ~ of texts that a terminal may
// shorten.
func (s *timelineDocument) table(rows [][]string, heads ...string) {
	t := document.NewTable(heads...)
	t.Rows = rows
	s.put(t)
}

// numbers is a table of numbers, which may have more rows than one reads.
type numbers struct {
	noun  string   // what a row is
	heads []string // of all columns, with the number of digits behind the point: "span 3"
	rows  []row
	worst int // the column by whose largest values rows are chosen, where there are too many
}

// A row has what it is of, and its values. NaN is an unknown one.
type row struct {
	label  string
	values []float64
}

// mostRows is how many rows a table has at most.
const mostRows = 16

// numbers adds a table of numbers, under a title if it has one, and states which rows it leaves out.
func (s *timelineDocument) numbers(title, first string, t numbers) {
	if len(t.rows) == 0 {
		return
	}
	if title != "" {
		s.title(title)
	}
	heads, digits := []string{first + "~"}, make([]int, len(t.heads))
	for i, head := range t.heads {
		at := strings.LastIndex(head, " ")
		digits[i] = int(head[at+1] - '0')
		heads = append(heads, head[:at]+">")
	}
	rows := t.rows
	if len(rows) > mostRows {
		rows = slices.SortedStableFunc(slices.Values(rows), func(a, b row) int { // NaN sorts first
			return -cmp.Compare(a.values[t.worst], b.values[t.worst])
		})[:mostRows]
	}
	var cells [][]string
	for _, r := range rows {
		line := []string{r.label}
		for i, v := range r.values {
			line = append(line, number(v, digits[i]))
		}
		cells = append(cells, line)
	}
	s.table(cells, heads...)
	if len(t.rows) > mostRows {
		s.say("These are the %d of %d %ss with the highest %s; the JSON has all.", mostRows, len(t.rows), t.noun,
			strings.TrimRight(heads[t.worst+1], ">"))
	}
}

// number writes a value; "-" where it is unknown.
func number(v float64, digits int) string {
	if math.IsNaN(v) {
		return "-"
	}
	if math.Abs(v) >= 1e5 {
		digits = min(digits, 1) // minutes need no microseconds
	}
	return fmt.Sprintf("%.*f", digits, v)
}

// partsHeads are the columns of times that make up a span.
var partsHeads = []string{
	"span 3",
	"compute 3",
	"comm 3",
	"overlap 3",
	"exposed 3",
	"copies 3",
	"idle 3",
	"overlap % 2",
}

const exposedColumn = 4

func partsOf(p timeline.Parts) []float64 {
	return []float64{p.Span, p.Compute, p.Comm, p.Overlap, p.Exposed, p.MemcpyOnly, p.Idle, orNaN(p.Efficiency)}
}

// orNaN is a value that may be missing; NaN is one that is.
func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// devices is the table of what each device did.
func (s *timelineDocument) devices() {
	t := numbers{noun: "device", heads: append(slices.Clone(partsHeads), "wall % 2"), worst: exposedColumn}
	below := false
	for _, i := range s.Working() {
		d := &s.Devices[i]
		wall := orNaN(d.WallClock)
		t.rows = append(t.rows, row{d.Label, append(partsOf(d.Parts), wall)})
		below = below || wall < 0
	}
	s.numbers("Devices, in ms:", "device", t)
	if t.rows == nil {
		return
	}
	s.say(
		"compute + exposed + copies + idle = span. comm is overlap + exposed; copies are those beside which nothing " +
			"else ran. overlap %% is overlap of comm. wall %% is the other formula, (compute + comm - span) / comm.",
	)
	if below {
		s.say(
			"That formula is for compute and comm measured alone, and for a span without idle time: below 0 it " +
				"means no more than that the device idled.",
		)
	}
}

// idle is what idle time went to.
func (s *timelineDocument) idle() {
	t := numbers{noun: "device", heads: []string{"idle 3", "host-bound 3", "waiting 3", "unknown 3", "kernels 0",
		"computing ms 3"}}
	idle := 0.0
	for _, i := range s.Working() {
		d := &s.Devices[i]
		t.rows = append(t.rows,
			row{d.Label, []float64{d.Idle, d.HostBound, d.Waiting, d.Unexplained, float64(d.Kernels), d.Busy}})
		idle += d.Idle
	}
	if idle == 0 {
		return
	}
	s.numbers("Idle time, in ms, and kernels:", "device", t)
	s.say("host-bound: what ran next had not been launched yet. waiting: it had been, and waited for an event, " +
		"its stream or the device. unknown: its launch is not in the file. computing ms: the kernels that " +
		"compute, each by itself, summed.")
}

// steps are a row for each step of one device, or the medians of each of several devices.
func (s *timelineDocument) steps() {
	if len(s.Devices) == 1 {
		t := numbers{noun: "step", heads: append(slices.Clone(partsHeads), "on host 3")}
		for _, step := range s.Devices[0].Steps {
			host := step.Host
			if host == 0 {
				host = math.NaN()
			}
			t.rows = append(t.rows, row{step.Name, append(partsOf(step.Parts), host)})
		}
		s.numbers("Steps, in ms:", "step", t)
		return
	}
	t := numbers{noun: "device", heads: append([]string{"steps 0"}, partsHeads...), worst: 1}
	whole := true // each device is one step
	for _, i := range s.Working() {
		d := &s.Devices[i]
		if len(d.Steps) == 0 {
			continue
		}
		whole = whole && len(d.Steps) == 1 && d.Steps[0].Span == d.Span
		values := []float64{float64(len(d.Steps))}
		for column := range partsHeads {
			var known []float64
			for _, step := range d.Steps {
				if v := partsOf(step.Parts)[column]; !math.IsNaN(v) {
					known = append(known, v)
				}
			}
			values = append(values, stats.Median(known))
		}
		t.rows = append(t.rows, row{d.Label, values})
	}
	if !whole {
		s.numbers("A step, in ms, each column its median over the steps of a device:", "device", t)
	}
}

// ranks is what was found over ranks: waiting, who is last, balance.
func (s *timelineDocument) ranks() {
	a := s.Across
	if a == nil {
		return
	}
	t := numbers{noun: "device", heads: []string{"compute ms 3", "kernels ms 3"}}
	steps := numbers{noun: "step", heads: []string{"min ms 3", "max ms 3", "imbalance % 2", "span ms 3"}, worst: 2}
	if a.Matched > 0 {
		t.heads = append(t.heads, "pure ms 3", "waiting ms 3", "last to begin 0")
		steps.heads = append(steps.heads, "waiting ms 3")
	}
	t.worst = len(t.heads) - 1
	for _, r := range a.Ranks {
		values := []float64{r.Compute, r.Kernels, r.Pure, r.Waiting, float64(r.Last)}
		t.rows = append(t.rows, row{s.label(r.Device), values[:len(t.heads)]})
	}
	s.title("Across ranks:")
	s.waiting(a)
	s.numbers("", "device", t)
	for _, step := range a.Imbalance {
		name := step.Name
		if step.Spread >= 0.005 {
			name += ", " + s.label(step.Slowest)
		}
		values := []float64{step.Min, step.Max, step.Spread, step.Span, step.Waiting}
		steps.rows = append(steps.rows, row{name, values[:len(steps.heads)]})
	}
	s.numbers("Computation of a step over ranks:", "step, longest on", steps)
}

// label is what a device is called.
func (s *timelineDocument) label(device int) string {
	if device < 0 || device >= len(s.Devices) {
		return "-"
	}
	return s.Devices[device].Label
}

// wasWere counts things that were something.
func wasWere(n int, noun string) string {
	if n == 1 {
		return units.Count(n, noun) + " was"
	}
	return units.Count(n, noun) + " were"
}
