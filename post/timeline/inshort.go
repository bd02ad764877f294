package timeline

import (
	"fmt"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// InShort is what one would say first: what the time goes to, whether communication is hidden, who waits for whom, and what to try first.
func (t *Timeline) InShort() (says []string) {
	for _, e := range t.Scaling {
		says = append(says, e.Says)
	}
	y := t.typically()
	if len(y.devices) == 0 {
		return append(says, t.withoutKernels())
	}
	if own := t.ownSays(); own != "" {
		says = append(says, own)
	}
	says = append(says, y.shares())
	says = append(says, y.hiding())
	if shared := t.sharedStreams(); shared != "" {
		says = append(says, shared)
	}
	if waits := t.WaitingSays(); waits != "" {
		says = append(says, waits)
	}
	if len(t.Advice) > 0 {
		says = append(says, "To try first: "+y.first(t.Advice[0]))
	}
	return says
}

// hiding says how much of communication is hidden.
func (y typical) hiding() string {
	c := y.communicating()
	switch {
	case len(c.devices) == 0:
		return "No communication ran: there is nothing to hide, and no overlap to speak of."
	case !slices.ContainsFunc(c.devices, func(d *Device) bool { return d.Overlap > 0 }):
		return "None of the communication runs beside computation."
	}
	return "Of communication, " + c.percents(overlapOf, commOf) + " runs beside computation."
}

// Per is what the gain of advice is for: a step where all GPUs have some, else the recording.
func (t *Timeline) Per() string { return t.typically().per }

// Ran says whether anything ran on a GPU while it was recorded.
func (t *Timeline) Ran() bool {
	return slices.ContainsFunc(t.Devices, func(d Device) bool { return d.Span > 0 })
}

// withoutKernels says that there is nothing to analyse.
func (t *Timeline) withoutKernels() string {
	if t.Ran() {
		return "Nothing but copies ran on a GPU in what was read."
	}
	return "Nothing ran on a GPU in what was read."
}

// shares says what the time goes to.
func (y typical) shares() string {
	text := fmt.Sprintf("The recording takes %s: ", duration(y.part(spanOf)))
	if y.per == "step" {
		text = fmt.Sprintf("A step takes %s on average: ", duration(y.part(spanOf)))
	}
	if len(y.communicating().devices) > 0 {
		text += y.percents(exposedOf, spanOf) + " is communication that nothing hides, "
	}
	text += y.percents(computeOf, spanOf) + " computation, "
	if y.share(copiesOf, spanOf) >= 0.05 {
		text += y.percents(copiesOf, spanOf) + " copies alone, "
	}
	text += y.percents(idleOf, spanOf) + " idle"
	if len(y.devices) > 1 {
		text += fmt.Sprintf("; medians of %s, with the least and the greatest", units.Count(len(y.devices), y.unit))
	}
	return text + "."
}

func copiesOf(p *Parts) float64 { return p.MemcpyOnly }

// percents is a part of another in percent; of several GPUs the median, with the least and the greatest.
func (y typical) percents(part, of func(*Parts) float64) string {
	var all []float64
	for _, d := range y.devices {
		all = append(all, typical{per: y.per, devices: []*Device{d}}.share(part, of))
	}
	text := fmt.Sprintf("%.1f %%", y.share(part, of))
	if len(all) > 1 {
		text += fmt.Sprintf(" (%.1f to %.1f)", slices.Min(all), slices.Max(all))
	}
	return text
}

// sharedStreams says which streams have both communication and computation.
func (t *Timeline) sharedStreams() string {
	var all []string
	for _, d := range t.Devices {
		for _, s := range d.Shared {
			all = append(all, fmt.Sprintf("stream %d of %s with %.0f %% of its communication", s.ID, d.Label, s.OfComm))
		}
	}
	if all == nil {
		return ""
	}
	return "No overlap is possible where communication shares a stream with computation, as one runs after the other there: " + units.Some(all) + "."
}

// WaitingSays says who waits for whom; "" where no collective was seen on two ranks.
func (t *Timeline) WaitingSays() string {
	a := t.Across
	switch {
	case a == nil || a.Matched == 0:
		return ""
	case a.Straggler == nil:
		return "No rank stands out as the one that others wait for."
	}
	return notice.Sentence(a.Straggler.Found)
}

// first is a piece of advice without how to follow it.
func (y typical) first(a Advice) string {
	text := notice.Advice(a.Fact)
	text = units.Capital(text)
	if a.Gain > 0 {
		text += fmt.Sprintf(" (worth %s a %s at most)", duration(a.Gain), y.per)
	}
	return text + "."
}
