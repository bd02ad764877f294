package timelinedoc

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// mostUnclassified is how many names are listed that may be communication.
const mostUnclassified = 10

// unclassified are the names that may be communication and were counted as computation, over all devices.
func (s *timelineDocument) unclassified() {
	var all []timeline.Unclassified
	for _, d := range s.Devices {
		for _, u := range d.Unknown {
			i := slices.IndexFunc(all, func(o timeline.Unclassified) bool { return o.Name == u.Name && o.Word == u.Word })
			if i < 0 {
				all = append(all, u)
				continue
			}
			all[i].Calls, all[i].Sum, all[i].Share = all[i].Calls+u.Calls, all[i].Sum+u.Sum, max(all[i].Share, u.Share)
		}
	}
	if all == nil {
		return
	}
	slices.SortStableFunc(all, func(a, b timeline.Unclassified) int { return -cmp.Compare(a.Sum, b.Sum) })
	s.title("Kernels that may be communication, counted as computation:")
	t := &sheetTable{head: []string{"kernel", "calls", "ms", "of kernels", "why"}, align: "lrrrl", names: []int{0, 4}}
	for _, u := range all[:min(len(all), mostUnclassified)] {
		t.rows = append(t.rows, []string{u.Name, fmt.Sprint(u.Calls), three(u.Sum), fmt.Sprintf("%.2f %%", u.Share), "“" +
			u.Word + "” in its name"})
	}
	s.table(t)
	if n := len(all) - len(t.rows); n > 0 {
		s.say(fmt.Sprintf("The JSON has %d more.", n))
	}
	s.say("--comm-pattern REGEXP counts those that match as communication.")
}

// limits are the notes: how far the figures go, and what to record next time.
func (s *timelineDocument) limits() {
	var facts []notice.Fact
	var of [][]string // who has each of them
	add := func(n timeline.Note, who string) {
		i := slices.IndexFunc(facts, func(f notice.Fact) bool { return reflect.DeepEqual(f, n.Fact) })
		if i < 0 {
			i, facts, of = len(facts), append(facts, n.Fact), append(of, nil)
		}
		of[i] = units.AddOnce(of[i], who)
	}
	for _, n := range s.Notes {
		who := ""
		if n.File >= 0 && n.File < len(s.Files) && len(s.Files) > 1 {
			who = s.Files[n.File].Path
		}
		add(n, who)
	}
	for _, d := range s.Devices {
		for _, n := range d.Notes {
			who := ""
			if len(s.Devices) > 1 {
				who = d.Label
			}
			add(n, who)
		}
	}
	var texts []string
	for i, f := range facts {
		text := notice.Paragraph(f)
		if who := units.Some(of[i]); who != "" && len(of[i]) < max(len(s.Devices), len(s.Files)) {
			text = who + ": " + text
		}
		texts = append(texts, text)
	}
	s.list("Limits:", texts)
	s.list("Next time:", notice.ToDos(facts...))
}

// answers are the questions that people ask of a timeline.
func (s *timelineDocument) answers() {
	var texts []string
	for _, a := range s.Answers {
		mark := ""
		if a.Met != nil {
			mark = map[bool]string{true: "[met] ", false: "[not met] "}[*a.Met]
		}
		texts = append(texts, mark+a.Question()+" "+a.Text())
	}
	s.list("Questions:", texts)
}

// advice is what to try, the most worthwhile first.
func (s *timelineDocument) advice() {
	var texts []string
	for _, a := range s.Advice {
		text := a.Says() + " (" + a.Why()
		if gain := s.Worth(a).String(); gain != "" {
			text += "; " + gain
		}
		text += ")"
		if source := a.Source(); source != "" {
			text += " [" + source + "]"
		}
		texts = append(texts, text)
	}
	s.list("What to try, the largest gain first:", texts)
}
