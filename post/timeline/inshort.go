package timeline

import (
	"slices"

	"busbar/internal/notice"
	"busbar/internal/notice/profiles"
)

// InShort is the summary: where the time goes, whether communication overlaps, the straggler.
func (t *Timeline) InShort() (all []notice.Fact) {
	for _, e := range t.Scaling {
		all = append(all, e)
	}
	a := assess(t)
	if len(a.all.devices) == 0 {
		reason := profiles.NoGPUWork
		if t.Ran() {
			reason = profiles.OnlyCopiesRan
		}
		return append(all, profiles.NothingRan{What: reason})
	}
	for _, f := range []notice.Fact{ownStepOf(t), a.shares(), overlapShare(a), t.sharedStreams(), t.WaitingFact()} {
		if f != nil && t.show(notice.CodeOf(f)) {
			all = append(all, f)
		}
	}
	if len(t.Advice) > 0 {
		first := profiles.TryFirst{Advice: profiles.AdviceOf{Kept: notice.Kept{Fact: t.Advice[0].Found.Fact}}}
		if gain := t.Worth(t.Advice[0]); gain.Time > 0 {
			first.Gain = &gain
		}
		all = append(all, first)
	}
	return all
}

// InShortTexts returns these facts as sentences.
func (t *Timeline) InShortTexts() (texts []string) {
	for _, f := range t.InShort() {
		if _, is := f.(profiles.Straggler); is {
			texts = append(texts, notice.Sentence(f)) // its details have their own section
			continue
		}
		texts = append(texts, notice.Paragraph(f))
	}
	return texts
}

// overlapShare returns the share of communication that overlaps.
func overlapShare(a assessment) notice.Fact {
	switch {
	case len(a.comm.devices) == 0:
		return profiles.NothingRan{What: profiles.NoCommunication}
	case !slices.ContainsFunc(a.comm.devices, func(d *Device) bool { return d.Overlap > 0 }):
		return profiles.NoOverlapAtAll{}
	}
	return profiles.OverlapShare{Share: a.comm.percents(overlapOf, commOf)}
}

// Worth is the possible gain of a piece of advice.
func (t *Timeline) Worth(a Advice) profiles.Gain {
	return profiles.Gain{Time: seconds(a.Gain), Per: t.typically().per}
}

// Ran reports whether any GPU activity was recorded.
func (t *Timeline) Ran() bool {
	return slices.ContainsFunc(t.Devices, func(d Device) bool { return d.Span > 0 })
}

// shares returns where the time goes.
func (a assessment) shares() notice.Fact {
	y := a.all
	f := profiles.TimeShares{Per: y.per, Time: seconds(y.part(spanOf)), Compute: y.percents(computeOf, spanOf),
		Idle: y.percents(idleOf, spanOf), Median: y.over()}
	if len(a.comm.devices) > 0 {
		f.Exposed = y.percents(exposedOf, spanOf)
	}
	if y.share(copiesOf, spanOf) >= 0.05 {
		f.Copies = y.percents(copiesOf, spanOf)
	}
	return f
}

// percents returns a part as a percentage of another; for several GPUs the median, minimum and maximum.
func (y typical) percents(part, of func(*Parts) float64) profiles.ShareRange {
	var all []float64
	for _, d := range y.devices {
		all = append(all, typical{per: y.per, devices: []*Device{d}}.share(part, of))
	}
	return profiles.ShareRange{
		Value: y.share(part, of), Min: slices.Min(all), Max: slices.Max(all), Range: len(all) > 1, Known: true,
	}
}

// streamsOf returns the streams that have both communication and computation.
func streamsOf(devices []Device) (all []profiles.StreamOf) {
	for _, d := range devices {
		for _, s := range d.Shared {
			all = append(all, profiles.StreamOf{Stream: s.ID, Device: d.Label, OfComm: profiles.Whole(s.OfComm)})
		}
	}
	return all
}

// sharedStreams reports those streams; nil if there are none or --ignore names the code.
func (t *Timeline) sharedStreams() notice.Fact {
	f := profiles.SharedStreams{Streams: streamsOf(t.Devices)}
	if f.Streams == nil || !t.show(notice.CodeOf(f)) {
		return nil
	}
	return f
}

// WaitingFact is the waiting over ranks; nil if no collective was matched or --ignore names the straggler.
func (t *Timeline) WaitingFact() notice.Fact {
	a := t.Across
	switch {
	case a == nil || a.Matched == 0:
		return nil
	case a.Straggler == nil:
		return profiles.NoStragglerFound{}
	}
	return t.straggler()
}
