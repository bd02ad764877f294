package report

import (
	"cmp"
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
	By      string                 `json:"-"` // what sights are
	Aligned string                 `json:"-"` // how rows are aligned; "" where there is one
	LeftOut []notice.ReportLeftOut `json:"-"`
}

// laneRow is one GPU.
type laneRow struct {
	device int          // index in the timeline's devices
	Label  string       `json:"label"`
	About  string       `json:"about"` // host and GPU
	Why    string       `json:"why"`   // it is among the rows; "" for no special reason
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

// sight is a span of time to look at first.
type sight struct {
	Label string `json:"label"`
	Text  string `json:"text"`
	From  millis `json:"from"` // with the row's shift in it
	To    millis `json:"to"`
}

// millis are milliseconds, written to a tenth of a microsecond.
type millis float64

// MarshalJSON writes a number, or null where there is none.
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
	slowest := map[string]*slowStep{}
	var all []*slowStep
	for _, device := range t.Working() {
		d := &t.Devices[device]
		for i, key := range stepKeys(d) {
			one := slowest[key]
			if one == nil {
				one = &slowStep{key: key, device: device, Step: d.Steps[i]}
				slowest[key] = one
				all = append(all, one)
			}
			if d.Steps[i].Span > one.Span {
				one.device, one.Step = device, d.Steps[i]
			}
		}
	}
	all = slices.DeleteFunc(all, func(s *slowStep) bool { return s.Exposed <= 0 })
	slices.SortStableFunc(all, func(a, b *slowStep) int { return cmp.Compare(b.Exposed, a.Exposed) })
	return all[:min(len(all), maxSights)]
}

// rowReasons choose the devices that are drawn: those that stand out, with the reason, then the others in their order.
func rowReasons(t *timeline.Timeline, steps []*slowStep) map[int]string {
	working, why := t.Working(), map[int]string{}
	add := func(device int, reason string) {
		if _, chosen := why[device]; !chosen && len(why) < maxLaneRows {
			why[device] = reason
		}
	}
	most := func(of func(*timeline.Device) float64) int {
		return slices.MaxFunc(working, func(a, b int) int { return cmp.Compare(of(&t.Devices[a]), of(&t.Devices[b])) })
	}
	if len(working) > 1 {
		if t.Across != nil && t.Across.Straggler != nil {
			add(t.Across.Straggler.Device, "others wait for it")
		}
		add(most(func(d *timeline.Device) float64 { return d.Exposed }), "most exposed")
		add(most(func(d *timeline.Device) float64 { return -d.Exposed }), "least exposed")
		add(most(func(d *timeline.Device) float64 { return d.Idle }), "most idle")
		for _, s := range steps {
			add(s.device, "slowest in "+s.Name)
		}
	}
	for _, device := range working {
		add(device, "")
	}
	return why
}

func lanePlotOf(t *timeline.Timeline) lanePlot {
	worst := worstSteps(t)
	why, shifts := rowReasons(t, worst), shiftsOf(t)
	p := lanePlot{Unit: t.Unit()}
	for i := range t.Devices {
		reason, chosen := why[i]
		if !chosen {
			continue
		}
		d := &t.Devices[i]
		row := laneRow{
			device: i, Label: d.Label, About: strings.Join(nonEmpty(d.Host, d.GPU), ", "), Why: reason,
			Shift: millis(shifts[i]), Span: millis(d.Span),
		}
		for _, s := range d.Steps {
			row.Steps = append(row.Steps, stepOnLane{s.Name, millis(s.Start), millis(s.Span)})
		}
		p.Rows = append(p.Rows, row)
	}
	p.addStrips(t, worst)
	p.addCalls(t)
	if len(worst) > 0 {
		p.addSteps(t, worst)
	} else {
		p.addExposed(t)
	}
	p.align(shifts)
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

// align states how rows are aligned.
func (p *lanePlot) align(shifts map[int]float64) {
	var alone []string
	for _, r := range p.Rows {
		if _, matched := shifts[r.device]; !matched {
			alone = append(alone, r.Label)
		}
	}
	const by = "Rows are aligned by the ends of the collectives that they share, not by the clocks of their hosts"
	switch {
	case len(p.Rows) < 2:
	case len(alone) == 0:
		p.Aligned = by + "."
	case len(alone) == len(p.Rows):
		p.Aligned = "Rows are not aligned in time: no collective was matched. Each begins with its first activity."
	default:
		p.Aligned = by + "; " + units.Some(alone) +
			" begin with their own first activity: none of their collectives was matched."
	}
}

// addStrips adds the whole of each row, then its worst steps, then other steps, as long as there is room.
func (p *lanePlot) addStrips(t *timeline.Timeline, worst []*slowStep) {
	room := maxLaneRuns
	for pass := range 3 {
		for i := range p.Rows {
			row := &p.Rows[i]
			d := &t.Devices[row.device]
			keys := stepKeys(d)
			for _, s := range d.Strips() {
				of := 0 // the pass that the strip is of
				if s.Step >= 0 {
					of = 2
					if slices.ContainsFunc(worst, func(w *slowStep) bool { return w.key == keys[s.Step] }) {
						of = 1
					}
				}
				if of == pass && len(s.Runs) <= room {
					room -= len(s.Runs)
					row.Strips = append(row.Strips, laneStripOf(s))
				}
			}
		}
	}
}

func laneStripOf(s timeline.Strip) laneStrip {
	var b strings.Builder
	for _, r := range s.Runs {
		b.WriteByte(stateLetters[r.State])
		b.WriteString(strconv.FormatUint(uint64(r.Cells), 36))
	}
	return laneStrip{Start: millis(s.Start), Span: millis(s.Span), Cells: s.Cells, Runs: b.String()}
}

// addCalls adds the calls of rows, the longest where there is no room for all.
func (p *lanePlot) addCalls(t *timeline.Timeline) {
	each := maxCalls / max(1, len(p.Rows))
	all, shown := 0, 0
	names := map[string]int{}
	for i := range p.Rows {
		row := &p.Rows[i]
		d := &t.Devices[row.device]
		calls := d.Calls()
		all += len(calls)
		if len(calls) > each {
			slices.SortStableFunc(calls, func(a, b timeline.Call) int { return cmp.Compare(b.Took, a.Took) })
			calls = calls[:each]
			slices.SortStableFunc(calls, func(a, b timeline.Call) int { return cmp.Compare(a.Start, b.Start) })
		}
		shown += len(calls)
		for _, c := range calls {
			name := "communication"
			if c.Collective >= 0 && c.Collective < len(d.Collectives) {
				name = callName(d.Collectives[c.Collective].Name, d.Collectives[c.Collective].Bytes)
			}
			n := once(names, name, func() int { p.Names = append(p.Names, name); return len(p.Names) - 1 })
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

// addSteps adds the worst steps to what to look at first.
func (p *lanePlot) addSteps(t *timeline.Timeline, worst []*slowStep) {
	p.By = "the steps with the most exposed communication, on the " + t.Unit() + " that takes longest in each"
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

// addExposed adds the longest exposed calls to what to look at first.
func (p *lanePlot) addExposed(t *timeline.Timeline) {
	type call struct {
		row laneRow
		timeline.Exposed
	}
	var all []call
	for _, r := range p.Rows {
		for _, e := range t.Devices[r.device].Top {
			if e.Exposed > 0 {
				all = append(all, call{r, e})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b call) int { return cmp.Compare(b.Exposed.Exposed, a.Exposed.Exposed) })
	p.By = "the longest exposed calls"
	for _, c := range all[:min(len(all), maxSights)] {
		start, took := c.row.Shift+millis(c.Start), millis(c.Took)
		p.Sights = append(p.Sights, sight{
			Label: callName(c.Name, c.Bytes),
			Text:  fmt.Sprintf("%s of %s ms exposed, %s", ms(c.Exposed.Exposed), ms(c.Took), c.row.Label),
			From:  start - took/2, To: start + 3*took/2,
		})
	}
}

// ms writes milliseconds with three decimals, as every text about a timeline does.
func ms(v float64) string { return fmt.Sprintf("%.3f", v) }
