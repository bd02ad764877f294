package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// Limits of the plot, which keep the page small enough to be mailed.
const (
	maxLaneRows = 16 // GPUs
	maxSights   = 5
	maxCalls    = 12_000  // over all rows
	maxLaneRuns = 120_000 // of cells, over all strips
)

// lanePlot is some GPUs as rows over time, as profilers draw them; the script of the page reads it as JSON. Times are
// milliseconds since the first activity of a row's GPU; laneRow.Shift aligns them with those of other rows.
type lanePlot struct {
	Unit    string                 `json:"unit"` // what a row is of: GPU, or the threads of a rank
	Rows    []laneRow              `json:"rows"`
	Names   []string               `json:"names"` // of calls, each once
	Sights  []sight                `json:"sights"`
	LeftOut []notice.ReportLeftOut `json:"-"`
}

// laneRow is one GPU.
type laneRow struct {
	device int          // index in the timeline's devices
	Label  string       `json:"label"`
	About  string       `json:"about"` // host and GPU
	Why    string       `json:"why"`   // it is highlighted; "" if it is not
	Shift  millis       `json:"shift"`
	Span   millis       `json:"span"`
	Steps  []stepOnLane `json:"steps"`
	Strips []laneStrip  `json:"strips"` // the whole first, then those of steps
	Calls  []laneCall   `json:"calls"`  // by start
}

// stepOnLane is where a step is on its row.
type stepOnLane struct {
	Name  string `json:"name"`
	Start millis `json:"start"`
	Span  millis `json:"span"`
}

// laneStrip is the states of a span in equal cells.
type laneStrip struct {
	Start millis `json:"start"`
	Span  millis `json:"span"`
	Cells int    `json:"cells"`
	Runs  string `json:"runs"` // of cells in one state: its letter, and their number to the base of 36
}

// laneCall is a call: start, length, exposed part, index in lanePlot.Names, stream.
type laneCall [5]millis

// sight is a time span to show first.
type sight struct {
	Label string `json:"label"`
	Text  string `json:"text"`
	From  millis `json:"from"` // with the row's shift in it
	To    millis `json:"to"`
}

// millis are milliseconds, written to a tenth of a microsecond.
type millis float64

// MarshalJSON writes a number, or null if it is absent.
func (v millis) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, math.Round(float64(v)*1e4)/1e4, 'f', -1, 64), nil
}

// stateLetters are the states in laneStrip.Runs. Digits and small letters are for numbers.
var stateLetters = map[timeline.State]byte{
	timeline.Idle: 'I', timeline.Computing: 'C', timeline.Overlapped: 'O', timeline.ExposedComm: 'X',
	timeline.Copying: 'M',
}

// slowStep is a step of all GPUs, as the one that takes longest in it has it.
type slowStep struct {
	key    string
	device int
	timeline.Step
}

// stepKeys identify the steps of a device on other devices, also where a name repeats.
func stepKeys(d *timeline.Device) []string {
	keys, seen := make([]string, len(d.Steps)), map[string]int{}
	for i, s := range d.Steps {
		keys[i] = fmt.Sprintf("%s %d", s.Name, seen[s.Name])
		seen[s.Name]++
	}
	return keys
}

// worstSteps are the steps with the most exposed communication on the GPU that takes longest in each.
func worstSteps(t *timeline.Timeline) []*slowStep {
	var keys units.Numbers[string]
	var all []*slowStep
	for _, device := range t.Working() {
		d := &t.Devices[device]
		for i, key := range stepKeys(d) {
			n, added := keys.Of(key)
			if added {
				all = append(all, &slowStep{key: key, device: device, Step: d.Steps[i]})
			}
			if one := all[n]; d.Steps[i].Span > one.Span {
				one.device, one.Step = device, d.Steps[i]
			}
		}
	}
	all = units.Where(all, func(s *slowStep) bool { return s.Exposed > 0 })
	units.SortBy(all, func(s *slowStep) float64 { return -s.Exposed })
	return all[:min(len(all), maxSights)]
}

// rowsOf are the devices that are drawn, ascending: the straggler, the slowest in the worst steps, then the lowest.
func rowsOf(t *timeline.Timeline, worst []*slowStep) (rows []int) {
	var all []int
	if t.Across != nil && t.Across.Straggler != nil {
		all = append(all, t.Across.Straggler.Device)
	}
	for _, s := range worst {
		all = append(all, s.device)
	}
	for _, device := range append(all, t.Working()...) {
		if len(rows) < maxLaneRows && !slices.Contains(rows, device) {
			rows = append(rows, device)
		}
	}
	slices.Sort(rows)
	return rows
}

func lanePlotOf(t *timeline.Timeline) lanePlot {
	worst, shifts := worstSteps(t), shiftsOf(t)
	p := lanePlot{Unit: t.Unit()}
	for _, i := range rowsOf(t, worst) {
		d := &t.Devices[i]
		row := laneRow{
			device: i, Label: d.Label, About: strings.Join(nonEmpty(d.Host, d.GPU), ", "), Shift: millis(shifts[i]),
			Span: millis(d.Span),
		}
		if t.Across != nil && t.Across.Straggler != nil && t.Across.Straggler.Device == i {
			row.Why = "straggler"
		}
		for _, s := range d.Steps {
			row.Steps = append(row.Steps, stepOnLane{s.Name, millis(s.Start), millis(s.Span)})
		}
		p.Rows = append(p.Rows, row)
	}
	p.addStrips(t, worst)
	p.addCalls(t)
	p.addSteps(t, worst)
	if working := len(t.Working()); working > len(p.Rows) {
		p.LeftOut = append(p.LeftOut, notice.ReportLeftOut{Shown: len(p.Rows), Of: working, What: notice.LeftRows})
	}
	return p
}

// shiftsOf are what aligns devices whose collectives were matched, none below 0.
func shiftsOf(t *timeline.Timeline) map[int]float64 {
	shifts, least := map[int]float64{}, math.Inf(1)
	if t.Across == nil {
		return shifts
	}
	for _, r := range t.Across.Ranks {
		if r.Offset != nil {
			shifts[r.Device] = *r.Offset
			least = min(least, *r.Offset)
		}
	}
	for d := range shifts {
		shifts[d] -= least
	}
	return shifts
}

// addStrips adds the whole of each row, then its worst steps, then other steps, as long as there is room.
func (p *lanePlot) addStrips(t *timeline.Timeline, worst []*slowStep) {
	for row := range units.Each(p.Rows) {
		d := &t.Devices[row.device]
		keys, strips, room := stepKeys(d), slices.Clone(d.Strips()), maxLaneRuns/len(p.Rows)
		rank := func(s timeline.Strip) int {
			switch {
			case s.Step < 0:
				return 0
			case slices.ContainsFunc(worst, func(w *slowStep) bool { return w.key == keys[s.Step] }):
				return 1
			}
			return 2
		}
		units.SortBy(strips, rank)
		for _, s := range strips {
			runs := s.Runs()
			if room -= len(runs); room >= 0 {
				row.Strips = append(row.Strips, laneStripOf(s, runs))
			}
		}
	}
}

func laneStripOf(s timeline.Strip, runs []timeline.Run) laneStrip {
	var b strings.Builder
	for _, r := range runs {
		b.WriteByte(stateLetters[r.State])
		b.WriteString(strconv.FormatUint(uint64(r.Cells), 36))
	}
	return laneStrip{Start: millis(s.Start), Span: millis(s.Span), Cells: s.Cells, Runs: b.String()}
}

// addCalls adds the calls of rows, the longest where there is no room for all.
func (p *lanePlot) addCalls(t *timeline.Timeline) {
	each := maxCalls / max(1, len(p.Rows))
	all, shown := 0, 0
	var names units.Numbers[string]
	for row := range units.Each(p.Rows) {
		d := &t.Devices[row.device]
		calls := d.Calls()
		all += len(calls)
		if len(calls) > each {
			units.SortBy(calls, func(c timeline.Call) float64 { return -c.Took })
			calls = calls[:each]
			units.SortBy(calls, func(c timeline.Call) float64 { return c.Start })
		}
		shown += len(calls)
		for _, c := range calls {
			name := "communication"
			if c.Collective >= 0 && c.Collective < len(d.Collectives) {
				name = callName(d.Collectives[c.Collective].Name, d.Collectives[c.Collective].Bytes)
			}
			n, added := names.Of(name)
			if added {
				p.Names = append(p.Names, name)
			}
			call := laneCall{millis(c.Start), millis(c.Took), millis(c.Exposed), millis(n), millis(c.Stream)}
			row.Calls = append(row.Calls, call)
		}
	}
	if shown < all {
		p.LeftOut = append(p.LeftOut, notice.ReportLeftOut{Shown: shown, Of: all, What: notice.LeftBoxes})
	}
}

func callName(name string, bytes *int64) string {
	if bytes == nil {
		return name
	}
	return name + " " + units.RoughBytes(*bytes).String()
}

// addSteps adds the worst steps to the spans to show first.
func (p *lanePlot) addSteps(t *timeline.Timeline, worst []*slowStep) {
	for _, w := range worst {
		s := sight{Label: w.Name, From: millis(math.Inf(1)), To: millis(math.Inf(-1))}
		s.Text = fmt.Sprintf("%s of %s ms exposed, %s", ms(w.Exposed), ms(w.Span), t.Devices[w.device].Label)
		for _, r := range p.Rows {
			if n := slices.Index(stepKeys(&t.Devices[r.device]), w.key); n >= 0 {
				from := r.Shift + r.Steps[n].Start
				s.From, s.To = min(s.From, from), max(s.To, from+r.Steps[n].Span)
			}
		}
		p.Sights = append(p.Sights, s)
	}
}

// ms writes milliseconds with three decimals, as every text about a timeline does.
func ms(v float64) string { return fmt.Sprintf("%.3f", v) }
