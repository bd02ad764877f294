package timeline

import (
	"slices"

	"busbar/internal/notice"
)

// Notices returns all notices of a timeline: notes, straggler, shared streams, and the basis of advice.
func (t *Timeline) Notices() []notice.Notice {
	all := slices.Concat(t.Skipped, t.Notes)
	for _, d := range t.Devices {
		for _, n := range d.Notes {
			n.At.Subject = d.Label
			all = append(all, n)
		}
	}
	advised := map[notice.Code]bool{}
	for _, a := range t.Advice {
		advised[a.Found.Code()] = true
		all = append(all, a.Found)
	}
	for _, f := range []notice.Fact{t.sharedStreams(), t.straggler()} {
		if f != nil && !advised[notice.CodeOf(f)] {
			all = append(all, notice.New(f))
		}
	}
	return all
}

// straggler returns the straggler; nil if there is none or --ignore names it.
func (t *Timeline) straggler() notice.Fact {
	if t.Across == nil || t.Across.Straggler == nil || !t.show(notice.CodeOf(t.Across.Straggler.Found)) {
		return nil
	}
	return t.Across.Straggler.Found
}

func (t *Timeline) show(code notice.Code) bool { return t.shows == nil || t.shows(code) }

// Ignore removes the notes and advice that shows rejects, and suppresses such facts later.
func (t *Timeline) Ignore(shows func(notice.Code) bool) {
	t.shows = shows
	hidden := func(n notice.Notice) bool { return !shows(n.Code()) }
	t.Notes, t.Skipped = slices.DeleteFunc(t.Notes, hidden), slices.DeleteFunc(t.Skipped, hidden)
	for i := range t.Devices {
		t.Devices[i].Notes = slices.DeleteFunc(t.Devices[i].Notes, hidden)
	}
	t.Advice = slices.DeleteFunc(t.Advice, func(a Advice) bool { return hidden(a.Found) })
}
