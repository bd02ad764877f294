package timeline

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/stats"
)

// typical is what a rank of a run spends its time on: of each device the mean over its whole steps, or the whole where
// it has none, and of those the median.
type typical struct {
	per     string // "step", "recording"
	devices []*Device
	own     bool   // of busbar's own step
	unit    string // what a device is called
}

// typically are the devices that work, and what their times are counted by: steps, where each of them has some.
func (t *Timeline) typically() typical {
	of := typical{per: "step", own: t.own(), unit: t.Unit()}
	for i := range t.Devices {
		d := &t.Devices[i]
		if d.Span <= 0 || !d.works() {
			continue
		}
		of.devices = append(of.devices, d)
		if len(d.Steps) == 0 {
			of.per = "recording"
		}
	}
	return of
}

// communicating are those devices of it that communicate.
func (y typical) communicating() typical {
	of := typical{per: y.per, own: y.own, unit: y.unit}
	for _, d := range y.devices {
		if d.Comm > 0 {
			of.devices = append(of.devices, d)
		}
	}
	return of
}

// part is a part of the time, in milliseconds for a step or a recording.
func (y typical) part(part func(*Parts) float64) float64 {
	return y.median(func(d *Device) float64 { return y.mean(d, part) })
}

func (y typical) mean(d *Device, part func(*Parts) float64) float64 {
	if y.per != "step" {
		return part(&d.Parts)
	}
	sum := 0.0
	steps := d.whole()
	for i := range steps {
		sum += part(&steps[i].Parts)
	}
	return sum / float64(len(steps))
}

// whole are the steps that were recorded whole; all, where none is.
func (d *Device) whole() (steps []Step) {
	for i := range d.Steps {
		if d.counts(i) {
			steps = append(steps, d.Steps[i])
		}
	}
	return steps
}

// counts says whether a step is one of those whose mean is taken.
func (d *Device) counts(step int) bool {
	return d.Steps[step].Partial == nil || !slices.ContainsFunc(d.Steps, func(s Step) bool { return s.Partial == nil })
}

// share is a part of the time as a part of another, in percent.
func (y typical) share(part, of func(*Parts) float64) float64 {
	return y.median(func(d *Device) float64 {
		whole := y.mean(d, of)
		if whole <= 0 {
			return 0
		}
		return 100 * y.mean(d, part) / whole
	})
}

// calls sums what collectives of a device tell, for a step or a recording. Of steps it is the number, the sum and what
// was exposed that are those of a step; a median or a least time stays that of all calls.
func (y typical) calls(of func(*Collective) float64) float64 {
	return y.median(func(d *Device) float64 {
		rows, steps := d.Collectives, 1
		if y.per == "step" {
			rows, steps = d.ofSteps()
		}
		sum := 0.0
		for i := range rows {
			sum += of(&rows[i])
		}
		return sum / float64(steps)
	})
}

// ofSteps are the collectives of a device with what those of their calls took that ran in whole steps, and how many
// steps that are: what a rank does before and after training is no part of a step.
func (d *Device) ofSteps() (rows []Collective, steps int) {
	rows = slices.Clone(d.Collectives)
	for i := range rows {
		rows[i].Calls, rows[i].Sum, rows[i].Exposed = 0, 0, 0
	}
	whole := make([]bool, len(d.Steps))
	for i := range whole {
		if whole[i] = d.counts(i); whole[i] {
			steps++
		}
	}
	for i := range d.seen {
		if s := &d.seen[i]; s.step >= 0 && whole[s.step] && s.collective >= 0 {
			row := &rows[s.collective]
			row.Calls++
			row.Sum += milliseconds(s.end - s.start)
			row.Exposed += milliseconds(s.exposed)
		}
	}
	return rows, steps
}

// each is a time of a recording, or where there are steps, that part of it that lies in steps, for one of them.
func (y typical) each(recording, inSteps float64) float64 {
	if y.per != "step" {
		return recording
	}
	return inSteps / y.steps()
}

// number is how many steps a device has; 1 for a recording.
func (y typical) number(d *Device) int {
	if y.per != "step" {
		return 1
	}
	return len(d.Steps)
}

// steps is how many steps a rank has in the middle of them; 1 for a recording.
func (y typical) steps() float64 {
	return max(1, y.median(func(d *Device) float64 { return float64(y.number(d)) }))
}

func (y typical) median(of func(*Device) float64) float64 {
	var all []float64
	for _, d := range y.devices {
		all = append(all, of(d))
	}
	if all == nil {
		return 0
	}
	return stats.Median(all)
}

func computeOf(p *Parts) float64   { return p.Compute }
func commOf(p *Parts) float64      { return p.Comm }
func exposedOf(p *Parts) float64   { return p.Exposed }
func overlapOf(p *Parts) float64   { return p.Overlap }
func spanOf(p *Parts) float64      { return p.Span }
func idleOf(p *Parts) float64      { return p.Idle }
func hostBoundOf(p *Parts) float64 { return p.HostBound }

// unexplainedOf is idle time of which the host is not known to be the cause.
func unexplainedOf(p *Parts) float64 { return p.Idle - p.HostBound }

// syncs says that a collective is one by which gradients are brought together.
func syncs(c *Collective) bool {
	return c.Name == coll.AllReduce.String() || c.Name == coll.ReduceScatter.String()
}
