package report

import (
	"fmt"

	"busbar/internal/notice"
	"busbar/internal/units"
	"busbar/post/timeline"
)

// mostNotes is how many notes are listed.
const mostNotes = 40

// Intro is what was read.
func (t *Timelines) Intro() string {
	steps := 0
	for _, d := range t.Found.Devices {
		steps = max(steps, len(d.Steps))
	}
	text := fmt.Sprintf("%s in %s", units.Count(len(t.Found.Working()), t.Found.Unit()), units.Count(len(t.Found.Files), "file"))
	switch {
	case len(t.Found.Devices) == 0:
	case steps == 0:
		text += ", without steps"
	default:
		text += ", " + units.Count(steps, "step")
	}
	text += ". Times are milliseconds."
	if p := t.Found.Rule.CommPattern; p != "" {
		text += " Kernels that match " + p + " count as communication too."
	}
	if p := t.Found.Rule.StepPattern; p != "" {
		text += " Steps are ranges that match " + p + "."
	}
	return text
}

// StragglerSays are sentences about the rank that others wait for; none where none was looked for.
func (t *Timelines) StragglerSays() (says []string) {
	if f := t.Found.WaitingFact(); f != nil {
		says = append([]string{notice.Sentence(f)}, notice.Details(f)...)
	}
	return says
}

// noted is a note and whose it is.
type noted struct{ Of, Says, Do string }

// notes are what figures are to be read with: of all, of files, of GPUs. Same words of several GPUs stand once.
func (t *Timelines) notes() (all []noted) {
	at := map[string]int{} // by text
	times := map[int]int{}
	add := func(of string, n timeline.Note) {
		text := n.Text()
		if i, there := at[text]; there {
			if times[i]++; all[i].Of != of {
				all[i].Of = fmt.Sprintf("%d of these", times[i])
			}
			return
		}
		at[text] = len(all)
		times[len(all)] = 1
		all = append(all, noted{of, text, n.Do()})
	}
	for _, f := range t.Found.Files {
		if f.Cut != "" {
			all = append(all, noted{Of: f.Path, Says: f.Cut})
		}
	}
	for _, n := range t.Found.Notes {
		of := ""
		if n.File >= 0 && n.File < len(t.Found.Files) {
			of = t.Found.Files[n.File].Path
		}
		add(of, n)
	}
	for _, d := range t.Found.Devices {
		for _, n := range d.Notes {
			add(d.Label, n)
		}
	}
	if n := len(all) - mostNotes; n > 0 {
		all = append(all[:mostNotes], noted{Says: fmt.Sprintf("And %s: post timeline has all.", units.Count(n, "more note"))})
	}
	return all
}
