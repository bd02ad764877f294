package report

import (
	"cmp"
	"fmt"
	"slices"

	"busbar/internal/notice"
	"busbar/post/timeline"
)

// worst is a step in which communication costs much.
type worst struct {
	key     string
	name    string
	device  int // which took longest
	step    int // of that device
	exposed float64
	span    float64
}

// stepKeys tell the steps of a device from each other, also where a name comes again, and find them on other devices.
func stepKeys(d *timeline.Device) []string {
	keys, again := make([]string, len(d.Steps)), map[string]int{}
	for i, s := range d.Steps {
		keys[i] = fmt.Sprintf("%s %d", s.Name, again[s.Name])
		again[s.Name]++
	}
	return keys
}

// worstSteps are the steps with the most exposed communication on the GPU that takes longest in each.
func worstSteps(t *timeline.Timeline) []worst {
	slowest := map[string]*worst{}
	var order []*worst
	for _, i := range t.Working() {
		d := &t.Devices[i]
		for n, key := range stepKeys(d) {
			s := d.Steps[n]
			w := slowest[key]
			if w == nil {
				w = &worst{key: key, name: s.Name, span: -1}
				slowest[key] = w
				order = append(order, w)
			}
			if s.Span > w.span {
				w.device, w.step, w.exposed, w.span = i, n, s.Exposed, s.Span
			}
		}
	}
	order = slices.DeleteFunc(order, func(w *worst) bool { return w.exposed <= 0 })
	slices.SortStableFunc(order, func(a, b *worst) int { return cmp.Compare(b.exposed, a.exposed) })
	var all []worst
	for _, w := range order[:min(len(order), mostSights)] {
		all = append(all, *w)
	}
	return all
}

// rowed is a device that has a row.
type rowed struct {
	device int
	why    string
}

// rowsOf chooses the devices that are drawn, in their order: those that stand out, then of the others every so many.
func rowsOf(t *timeline.Timeline, steps []worst) []rowed {
	working := t.Working()
	all := len(working)
	why := map[int]string{}
	take := func(device int, words string) {
		if _, taken := why[device]; !taken && len(why) < mostRows {
			why[device] = words
		}
	}
	if all > 1 {
		if t.Across != nil && t.Across.Straggler != nil {
			take(t.Across.Straggler.Device, "others wait for it")
		}
		greatest := func(of func(*timeline.Device) float64) int { return greatest(t, working, of) }
		take(greatest(func(d *timeline.Device) float64 { return d.Exposed }), "most exposed")
		take(greatest(func(d *timeline.Device) float64 { return -d.Exposed }), "least exposed")
		take(greatest(func(d *timeline.Device) float64 { return d.Idle }), "most idle")
		for _, w := range steps {
			take(w.device, "slowest in "+w.name)
		}
	}
	left := min(all, mostRows) - len(why)
	for n := range left {
		at := n * all / max(1, left)
		for {
			if _, taken := why[working[at%all]]; !taken {
				break
			}
			at++
		}
		take(working[at%all], "")
	}
	var rows []rowed
	for device := range t.Devices {
		if words, taken := why[device]; taken {
			rows = append(rows, rowed{device, words})
		}
	}
	return rows
}

// greatest is the first of some devices with the greatest figure.
func greatest(t *timeline.Timeline, devices []int, of func(*timeline.Device) float64) int {
	best := devices[0]
	for _, i := range devices {
		if of(&t.Devices[i]) > of(&t.Devices[best]) {
			best = i
		}
	}
	return best
}

// addBoxes adds the calls of rows: of more than there is room for those of the worst steps, then the longest.
func (p *picturing) addBoxes() {
	each := mostBoxes / max(1, len(p.Rows))
	all, left := 0, 0
	for i := range p.Rows {
		row := &p.Rows[i]
		d := &p.of.Devices[row.Device]
		calls := slices.Collect(d.Calls())
		all += len(calls)
		if n := len(calls) - each; n > 0 {
			left += n
			slices.SortStableFunc(calls, func(a, b timeline.Call) int {
				if bad := p.isWorst(i, a.Step); bad != p.isWorst(i, b.Step) {
					if bad {
						return -1
					}
					return 1
				}
				return cmp.Compare(b.Took, a.Took)
			})
			calls = calls[:each]
			slices.SortStableFunc(calls, func(a, b timeline.Call) int { return cmp.Compare(a.Start, b.Start) })
		}
		for _, c := range calls {
			row.Calls = append(row.Calls, Box{millis(c.Start), millis(c.Took), millis(c.Exposed), millis(p.name(d, c)), millis(c.Step), millis(c.Stream)})
		}
	}
	if left > 0 {
		p.LeftOut = append(p.LeftOut, notice.ReportLeftOut{Shown: all - left, Of: all, What: notice.LeftBoxes})
	}
}

// name is the index of a call's name in the picture.
func (p *picturing) name(d *timeline.Device, c timeline.Call) int {
	words := "communication"
	if c.Collective >= 0 && c.Collective < len(d.Collectives) {
		words = callWords(d.Collectives[c.Collective].Name, d.Collectives[c.Collective].Bytes)
	}
	i, there := p.names[words]
	if !there {
		i = len(p.Names)
		p.names[words] = i
		p.Names = append(p.Names, words)
	}
	return i
}

func callWords(name string, bytes *int64) string {
	if bytes == nil {
		return name
	}
	return name + " " + sizeOf(*bytes)
}

// addSights adds what is worth a look: the worst steps, or the longest exposed calls where there are no steps.
func (p *picturing) addSights() {
	rowOf := map[int]int{}
	for i, r := range p.Rows {
		rowOf[r.Device] = i
	}
	if len(p.worst) == 0 {
		p.By = "the longest exposed calls"
		p.addExposed()
		return
	}
	p.By = "the steps with the most exposed communication, on the " + p.of.Unit() + " that takes longest in each"
	for _, w := range p.worst {
		s := Sight{Label: w.name, Row: rowOf[w.device]}
		s.Says = fmt.Sprintf("%s of %s ms exposed, %s", ms(w.exposed), ms(w.span), p.of.Devices[w.device].Label)
		begun := false
		for i, r := range p.Rows {
			n := slices.Index(p.keys[i], w.key)
			if n < 0 {
				continue
			}
			from, to := r.Shift+r.Steps[n].Start, r.Shift+r.Steps[n].Start+r.Steps[n].Span
			if !begun {
				s.From, s.To, begun = from, to, true
			}
			s.From, s.To = min(s.From, from), max(s.To, to)
		}
		p.Sights = append(p.Sights, s)
	}
}

func (p *picturing) addExposed() {
	type one struct {
		row int
		timeline.Exposed
	}
	var all []one
	for i, r := range p.Rows {
		for _, e := range p.of.Devices[r.Device].Top {
			if e.Exposed > 0 {
				all = append(all, one{i, e})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b one) int { return cmp.Compare(b.Exposed.Exposed, a.Exposed.Exposed) })
	for _, e := range all[:min(len(all), mostSights)] {
		r := p.Rows[e.row]
		start := r.Shift + millis(e.Start)
		p.Sights = append(p.Sights, Sight{
			Label: callWords(e.Name, e.Bytes), Says: fmt.Sprintf("%s of %s ms exposed, %s", ms(e.Exposed.Exposed), ms(e.Took), r.Label),
			Row: e.row, From: start - millis(e.Took)/2, To: start + millis(1.5*e.Took),
		})
	}
}
