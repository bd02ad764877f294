package timeline

import (
	"busbar/internal/coll"
	"busbar/internal/notice/profiles"
	"busbar/internal/stats"
	"busbar/internal/units"
)

// typical is the typical time of a rank: per device the mean over its complete steps, or the whole without any; the
// median over devices.
type typical struct {
	per     profiles.Span
	devices []*Device
	own     bool   // of busbar's own step
	unit    string // what devices are called
}

// What times are per.
const (
	perStep      profiles.Span = "step"
	perRecording profiles.Span = "recording"
)

// typically returns the working devices, per step if each of them has steps.
func (t *Timeline) typically() typical {
	of := typical{per: perStep, own: t.own(), unit: t.Unit()}
	for d := range units.Each(t.Devices) {
		if d.Span <= 0 || !d.works() {
			continue
		}
		of.devices = append(of.devices, d)
		if len(d.Steps) == 0 {
			of.per = perRecording
		}
	}
	return of
}

// communicating returns its devices that communicate.
func (y typical) communicating() typical {
	y.devices = units.Where(y.devices, func(d *Device) bool { return d.Comm > 0 })
	return y
}

// part returns a part of the time, in milliseconds per step or recording.
func (y typical) part(part func(*Parts) float64) float64 {
	return y.median(func(d *Device) float64 { return y.mean(d, part) })
}

func (y typical) mean(d *Device, part func(*Parts) float64) float64 {
	if y.per != perStep {
		return part(&d.Parts)
	}
	sum := 0.0
	steps := d.whole()
	for _, i := range steps {
		sum += part(&d.Steps[i].Parts)
	}
	return sum / float64(len(steps))
}

// whole returns the indexes of the complete steps; of all, if there are none.
func (d *Device) whole() []int {
	return indexesOrAll(len(d.Steps), func(i int) bool { return d.Steps[i].Partial == nil })
}

// share returns a part of the time as a percentage of another.
func (y typical) share(part, of func(*Parts) float64) float64 {
	return y.median(func(d *Device) float64 {
		whole := y.mean(d, of)
		if whole <= 0 {
			return 0
		}
		return 100 * y.mean(d, part) / whole
	})
}

// took is the number and time of calls, in milliseconds per step or recording.
type took struct{ calls, sum, exposed float64 }

// calls returns the time of some kinds of calls. Calls before and after training are not in a step.
func (y typical) calls(is func(*Collective) bool) took {
	of := make([]took, len(y.devices))
	for n, d := range y.devices {
		inWhole, steps := make([]bool, len(d.Steps)), 1.0
		if y.per == perStep {
			whole := d.whole()
			steps = float64(len(whole))
			for _, i := range whole {
				inWhole[i] = true
			}
		}
		for s := range units.Each(d.seen) {
			if y.per == perStep && (s.step < 0 || !inWhole[s.step]) || !is(d.rowOf(s)) {
				continue
			}
			of[n].calls++
			of[n].sum += milliseconds(s.end - s.start)
			of[n].exposed += milliseconds(s.exposed)
		}
		of[n] = took{of[n].calls / steps, of[n].sum / steps, of[n].exposed / steps}
	}
	return took{
		medianOf(of, func(t took) float64 { return t.calls }),
		medianOf(of, func(t took) float64 { return t.sum }),
		medianOf(of, func(t took) float64 { return t.exposed }),
	}
}

// each returns a recording's time, or its mean time per step if there are steps.
func (y typical) each(recording, inSteps float64) float64 {
	if y.per != perStep {
		return recording
	}
	return inSteps / max(1, y.median(func(d *Device) float64 { return float64(len(d.Steps)) }))
}

func (y typical) median(of func(*Device) float64) float64 { return medianOf(y.devices, of) }

// medianOf returns the median of a value over devices; 0 without any.
func medianOf[T any](all []T, of func(T) float64) float64 {
	if len(all) == 0 {
		return 0
	}
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = of(one)
	}
	return stats.Median(values)
}

func computeOf(p *Parts) float64   { return p.Compute }
func busyOf(p *Parts) float64      { return p.Busy }
func commOf(p *Parts) float64      { return p.Comm }
func exposedOf(p *Parts) float64   { return p.Exposed }
func overlapOf(p *Parts) float64   { return p.Overlap }
func spanOf(p *Parts) float64      { return p.Span }
func idleOf(p *Parts) float64      { return p.Idle }
func hostBoundOf(p *Parts) float64 { return p.HostBound }
func waitingOf(p *Parts) float64   { return p.Waiting }
func copiesOf(p *Parts) float64    { return p.MemcpyOnly }

// notHidingOf returns the computation that hides no communication.
func notHidingOf(p *Parts) float64 { return p.Compute - p.Overlap }

// unexplainedOf returns the idle time that is not host-bound.
func unexplainedOf(p *Parts) float64 { return p.Idle - p.HostBound }

// syncs reports whether a collective synchronises gradients.
func syncs(c *Collective) bool {
	return c.Name == coll.AllReduce.String() || c.Name == coll.ReduceScatter.String()
}

// over returns the number of devices in a median; zero for one device.
func (y typical) over() profiles.Median {
	if len(y.devices) < 2 {
		return profiles.Median{}
	}
	return profiles.Median{N: len(y.devices), Unit: y.unit}
}
