// Package timelinedoc makes a document of a timeline.
package timelinedoc

import (
	"cmp"
	"fmt"
	"reflect"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// timelineDocument makes a document of a timeline: the main facts first, what to do last.
type timelineDocument struct {
	document.Document
	section *document.Section // that is written; nil before the first
	*timeline.Timeline
}

// Of returns a timeline as a document, whose JSON has all that was found.
func Of(t *timeline.Timeline) *document.Document {
	s := &timelineDocument{Timeline: t}
	s.files()
	s.list("In short:", t.InShortTexts())
	d := &s.Document
	d.Add(Details(t)...)
	d.Kind, d.Tool, d.Data, d.Notices = "timeline", t.Tool, t, t.Notices()
	return d
}

// Details returns the sections of a timeline below what it states first: tables, limits, advice.
func Details(t *timeline.Timeline) []document.Block {
	s := &timelineDocument{Timeline: t}
	s.devices()
	s.idle()
	s.steps()
	s.ranks()
	s.collectives()
	s.buckets()
	s.exposed()
	var against []string
	for _, j := range t.Against {
		against = append(against, notice.Paragraph(j))
	}
	s.list("Against the benchmark:", against)
	replay(s)
	s.unclassified()
	s.limits()
	s.advice()
	return s.Blocks
}

// title begins a section.
func (s *timelineDocument) title(text string) {
	s.section = document.NewSection(text)
	s.Document.Add(s.section)
}

// put adds a block to the section.
func (s *timelineDocument) put(b document.Block) {
	if s.section == nil {
		s.Document.Add(b)
		return
	}
	s.section.Add(b)
}

func (s *timelineDocument) say(format string, of ...any) {
	s.put(document.Paragraph(fmt.Sprintf(format, of...)))
}

// list is a section that is a list, if there is something in it.
func (s *timelineDocument) list(title string, items []string) {
	if len(items) > 0 {
		s.title(title)
		s.put(document.List(items))
	}
}

// files is what was read.
func (s *timelineDocument) files() {
	if n := len(s.Files); n > 3 {
		s.say("%s and %s: %s", s.Files[0].Path, units.Count(n-1, "more file"), fileKind(s.Files[0]))
	} else {
		for _, f := range s.Files {
			s.say("%s: %s", f.Path, fileKind(f))
		}
	}
	for _, f := range s.Files {
		if f.Cut != "" {
			s.say("! %s ends early: %s", f.Path, f.Cut)
		}
	}
	if len(s.Devices) == 1 {
		if words := aboutDevice(&s.Devices[0]); words != s.Devices[0].Label {
			s.say("%s", words)
		}
	}
	if p := s.Rule.CommPattern; p != "" {
		s.say("Kernels that match %s are counted as communication too.", p)
	}
}

// fileKind is what a file is.
func fileKind(f timeline.File) string {
	what := cmp.Or(
		map[string]string{"kineto": "a Kineto trace", "nsight": "an export of Nsight Systems"}[f.Format],
		f.Format,
	)
	switch {
	case f.Own != "":
		return what + " of busbar's own step"
	case f.Tool != "":
		return what + " (" + f.Tool + ")"
	}
	return what
}

// aboutDevice is what is known of a device beside its times.
func aboutDevice(d *timeline.Device) string {
	words := d.Label
	if d.Rank != nil && d.World > 0 {
		words += " of " + units.Count(d.World, "rank")
	}
	for _, known := range []struct{ before, name string }{{"", d.GPU}, {"", d.Host}, {"NCCL ", d.NCCL}} {
		if known.name != "" {
			words += ", " + known.before + known.name
		}
	}
	return words
}

// limits are the notes: how far the values go, and what to record next time.
func (s *timelineDocument) limits() {
	type limit struct {
		notice.Fact
		of []string // who has it
	}
	var all []limit
	add := func(f notice.Fact, who string) {
		one := units.Entry(&all, func(l limit) bool { return reflect.DeepEqual(f, l.Fact) }, limit{Fact: f})
		one.of = units.AddOnce(one.of, who)
	}
	for _, n := range s.Notes {
		if len(s.Files) == 1 {
			n.At.File = ""
		}
		add(n.Fact, n.At.File)
	}
	for _, d := range s.Devices {
		for _, n := range d.Notes {
			add(n.Fact, d.Label)
		}
	}
	var texts []string
	var facts []notice.Fact
	for _, l := range all {
		text := notice.Paragraph(l.Fact)
		if who := units.Some(l.of); who != "" && len(l.of) < max(len(s.Devices), len(s.Files)) {
			text = who + ": " + text
		}
		texts, facts = append(texts, text), append(facts, l.Fact)
	}
	s.list("Limits:", texts)
	s.list("Next time:", notice.ToDos(facts...))
}

// advice is what to try, the most worthwhile first.
func (s *timelineDocument) advice() {
	var texts []string
	for _, a := range s.Advice {
		why := a.Found.Message()
		if gain := s.Worth(a).String(); gain != "" {
			why += "; " + gain
		}
		text := a.Text + " (" + why + ")"
		if source := notice.Source(a.Found.Fact); source != "" {
			text += " [" + source + "]"
		}
		texts = append(texts, text)
	}
	s.list("What to try, the largest gain first:", texts)
}
