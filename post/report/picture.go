package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// Bounds of the picture, which keep the page small enough to be mailed.
const (
	mostRows   = 16 // GPUs
	mostSights = 5
	mostBoxes  = 12_000  // calls, over all rows
	mostRuns   = 120_000 // of cells, over all strips
)

// Picture is some GPUs as rows over time, as profilers draw them. Times are milliseconds since the first activity of a row's GPU; Row.Shift sets them
// beside those of other rows.
type Picture struct {
	Unit    string                 `json:"unit"` // what a row is of: GPU, or the threads of a rank
	Rows    []Row                  `json:"rows"`
	Names   []string               `json:"names"` // of calls, each once
	Sights  []Sight                `json:"sights"`
	By      string                 `json:"by"`      // what sights are
	Aligned string                 `json:"aligned"` // how rows were set beside each other; "" where there is one
	LeftOut []notice.ReportLeftOut `json:"-"`
}

// Row is one GPU.
type Row struct {
	Device int          `json:"device"` // index in the timeline's devices
	Label  string       `json:"label"`
	About  string       `json:"about"` // host and GPU, as far as rows differ in them
	Why    string       `json:"why"`   // it is among the rows; "" for no special reason
	Shift  millis       `json:"shift"`
	Span   millis       `json:"span"`
	Steps  []StepOnRow  `json:"steps"`
	Strips []StripOnRow `json:"strips"` // the whole first, then those of steps
	Calls  []Box        `json:"calls"`  // by start
}

// StepOnRow is where a step is on its row.
type StepOnRow struct {
	Name  string `json:"name"`
	Start millis `json:"start"`
	Span  millis `json:"span"`
}

// StripOnRow is the states of a span in equal cells.
type StripOnRow struct {
	Start millis `json:"start"`
	Span  millis `json:"span"`
	Cells int    `json:"cells"`
	Runs  string `json:"runs"` // of cells in one state: its letter, and their number to the base of 36
}

// Box is a call: start, length, exposed part, index in Picture.Names, index in Row.Steps or -1, stream.
type Box [6]millis

// Sight is a span that is worth a look.
type Sight struct {
	Label string `json:"label"`
	Says  string `json:"says"`
	Row   int    `json:"row"`
	From  millis `json:"from"` // with the row's shift in it
	To    millis `json:"to"`
}

// millis are milliseconds, written to a tenth of a microsecond.
type millis float64

// MarshalJSON writes a number; what is none is null.
func (v millis) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, math.Round(float64(v)*1e4)/1e4, 'f', -1, 64), nil
}

// letters of states in StripOnRow.Runs. Digits and small letters are for numbers.
var letters = map[timeline.State]byte{timeline.Idle: 'I', timeline.Computing: 'C', timeline.Overlapped: 'O', timeline.ExposedComm: 'X', timeline.Copying: 'M'}

// picturing is the making of a picture.
type picturing struct {
	Picture
	of     *timeline.Timeline
	names  map[string]int
	shifts map[int]float64 // by device, of those that were matched
	worst  []worst
	keys   [][]string // of the steps of each row
}

func pictureOf(t *timeline.Timeline) Picture {
	p := &picturing{of: t, names: map[string]int{}, shifts: shiftsOf(t), worst: worstSteps(t)}
	p.Unit = t.Unit()
	rows := rowsOf(t, p.worst)
	where := whereOf(t)
	for _, c := range rows {
		p.addRow(c, where[c.device])
	}
	p.addStrips()
	p.addBoxes()
	p.addSights()
	p.Aligned = p.aligned()
	if working := len(t.Working()); working > len(rows) {
		p.LeftOut = append(p.LeftOut, notice.ReportLeftOut{Shown: len(rows), Of: working, What: notice.LeftRows})
	}
	return p.Picture
}

// shiftsOf are what sets devices beside each other, none below 0.
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

// aligned says how rows were set beside each other.
func (p *picturing) aligned() string {
	if len(p.Rows) < 2 {
		return ""
	}
	var alone []string
	for _, r := range p.Rows {
		if _, matched := p.shifts[r.Device]; !matched {
			alone = append(alone, r.Label)
		}
	}
	const by = "Rows are aligned by the ends of the collectives that they share, not by the clocks of their hosts"
	switch len(alone) {
	case 0:
		return by + "."
	case len(p.Rows):
		return "Each row begins with its own first activity, since no collective was matched between them: rows are not aligned in time."
	}
	return by + "; " + units.Some(alone) + " begin with their own first activity: none of their collectives was matched."
}

func (p *picturing) addRow(c rowed, about string) {
	d := &p.of.Devices[c.device]
	r := Row{Device: c.device, Label: d.Label, Why: c.why, About: about, Shift: millis(p.shifts[c.device]), Span: millis(d.Span)}
	for _, s := range d.Steps {
		r.Steps = append(r.Steps, StepOnRow{s.Name, millis(s.Start), millis(s.Span)})
	}
	p.Rows = append(p.Rows, r)
	p.keys = append(p.keys, stepKeys(d))
}

// addStrips adds the whole of each row and its worst steps, then other steps as long as there is room.
func (p *picturing) addStrips() {
	room := mostRuns
	each := mostRuns / max(1, len(p.Rows)*(1+len(p.worst)))
	add := func(row *Row, s timeline.Strip) {
		made, runs := stripOf(s, each)
		row.Strips = append(row.Strips, made)
		room -= runs
	}
	for i := range p.Rows {
		for _, s := range p.strips(i) {
			if s.Step < 0 || p.isWorst(i, s.Step) {
				add(&p.Rows[i], s)
			}
		}
	}
	for n, more := 0, true; more; n++ {
		more = false
		for i := range p.Rows {
			strips := p.strips(i)
			if n >= len(strips) || room <= 0 {
				continue
			}
			more = true
			if s := strips[n]; s.Step >= 0 && !p.isWorst(i, s.Step) {
				add(&p.Rows[i], s)
			}
		}
	}
}

// strips are those of the device of a row.
func (p *picturing) strips(row int) []timeline.Strip {
	return p.of.Devices[p.Rows[row].Device].Strips()
}

// isWorst says whether a step of a row is one of the worst.
func (p *picturing) isWorst(row, step int) bool {
	if step < 0 || step >= len(p.keys[row]) {
		return false
	}
	key := p.keys[row][step]
	return slices.ContainsFunc(p.worst, func(w worst) bool { return w.key == key })
}

// stripOf writes a strip in at most so many runs, of coarser cells where there are more.
func stripOf(s timeline.Strip, most int) (StripOnRow, int) {
	for len(s.Runs) > most && s.Cells > 1 {
		s = halved(s)
	}
	var b strings.Builder
	for _, r := range s.Runs {
		b.WriteByte(letters[r.State])
		b.WriteString(strconv.FormatUint(uint64(r.Cells), 36))
	}
	return StripOnRow{Start: millis(s.Start), Span: millis(s.Span), Cells: s.Cells, Runs: b.String()}, len(s.Runs)
}

// halved is a strip of half as many cells. Of two states in a pair of cells one is shown and then the other, so that each keeps its share of the whole;
// exposed communication comes first, so that a short call which stands alone is not lost.
func halved(s timeline.Strip) timeline.Strip {
	made := timeline.Strip{Step: s.Step, Start: s.Start, Span: s.Span * float64(2*((s.Cells+1)/2)) / float64(s.Cells), Cells: (s.Cells + 1) / 2}
	put := func(state timeline.State, cells int) {
		if n := len(made.Runs); n > 0 && made.Runs[n-1].State == state {
			made.Runs[n-1].Cells += uint16(cells)
		} else if cells > 0 {
			made.Runs = append(made.Runs, timeline.Run{Cells: uint16(cells), State: state})
		}
	}
	var turn, loud bool // whose turn it is among quiet states, and where one is exposed
	shown := func(a, b timeline.State) timeline.State {
		switch {
		case a == b:
			return a
		case b == timeline.ExposedComm:
			a, b = b, a
			fallthrough
		case a == timeline.ExposedComm:
			if loud = !loud; loud {
				return a
			}
			return b
		}
		if turn = !turn; turn {
			return a
		}
		return b
	}
	half, waits := timeline.Idle, false // the first cell of a pair, where it is of a run before
	for _, r := range s.Runs {
		cells := int(r.Cells)
		if waits && cells > 0 {
			put(shown(half, r.State), 1)
			cells, waits = cells-1, false
		}
		put(r.State, cells/2)
		if cells%2 == 1 {
			half, waits = r.State, true
		}
	}
	if waits {
		put(half, 1)
	}
	return made
}
