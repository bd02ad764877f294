package timeline

import (
	"busbar/internal/coll"
	"busbar/internal/stats"
)

// typical is what a rank of a run spends its time on: of each device the mean over its whole steps, or the whole where it has none, and of those the median.
type typical struct {
	per     string // "step", "recording"
	devices []*Device
}

// typically are the devices on which kernels ran, and what their times are counted by: steps, where each of them has some.
func (t *Timeline) typically() typical {
	of := typical{per: "step"}
	for i := range t.Devices {
		d := &t.Devices[i]
		if d.Span <= 0 || d.Kernels == 0 {
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
	of := typical{per: y.per}
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
	for _, s := range d.Steps {
		if s.Partial == "" {
			steps = append(steps, s)
		}
	}
	if steps == nil {
		return d.Steps
	}
	return steps
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

// calls sums what collectives of a device tell, for a step or a recording.
func (y typical) calls(of func(*Collective) float64) float64 {
	return y.median(func(d *Device) float64 {
		sum := 0.0
		for i := range d.Collectives {
			sum += of(&d.Collectives[i])
		}
		return sum / float64(y.number(d))
	})
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

// syncs says that a collective is one by which gradients are brought together.
func syncs(c *Collective) bool {
	return c.Name == coll.AllReduce.String() || c.Name == coll.ReduceScatter.String()
}
