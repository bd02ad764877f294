// Package footnote numbers the notes below tables.
package footnote

import (
	"fmt"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// A List is the notes below the tables of a run, numbered by first appearance. Notices of one kind share a number.
type List struct {
	Shows   func(notice.Code) bool
	Report  func(notice.Fact)
	numbers units.Numbers[any] // by kind of notices, or text
	all     []footnote
}

// footnote is a text, and how many points have it.
type footnote struct {
	text   string
	facts  notice.Range // of a kind of notices
	points int
}

func (f *List) mark(key any, text string, fact notice.Fact) string {
	i, added := f.numbers.Of(key)
	if added {
		f.all = append(f.all, footnote{text: text})
	}
	f.all[i].points++
	if fact != nil {
		f.all[i].facts.Add(fact)
	}
	return fmt.Sprint(i + 1)
}

// Head reports what holds for all points of a run, and returns a line for each: a simulation, and the run's warnings.
func (f *List) Head(r *result.Run) (lines []string) {
	if fact := (notice.SimulatedRuns{}); r.Rehearse && f.Shows(notice.CodeOf(fact)) {
		f.Report(fact)
		lines = append(lines, notice.Message(fact))
	}
	for _, k := range r.Warnings {
		if f.Shows(k.Code()) {
			f.Report(k.Fact)
			lines = append(lines, "WARNING: "+k.Sentences())
		}
	}
	return lines
}

// Marks refer to the footnotes of notices and of other texts.
func (f *List) Marks(all notice.List, texts ...string) string {
	var numbers []string
	for _, k := range all {
		if f.Shows(k.Code()) {
			numbers = append(numbers, f.mark(k.Kind(), "", k.Fact))
			f.Report(k.Fact)
		}
	}
	for _, t := range texts {
		numbers = append(numbers, f.mark(t, t, nil))
	}
	if numbers == nil {
		return ""
	}
	return "[" + strings.Join(numbers, ",") + "]"
}

// Blocks are the footnotes, if there are any.
func (f *List) Blocks() []document.Block {
	if len(f.all) == 0 {
		return nil
	}
	var texts document.Footnotes
	for _, n := range f.all {
		text := n.text
		if text == "" {
			text = n.facts.Sentences()
		}
		switch {
		case n.facts.Mixed():
			text = units.Count(n.points, "point") + ", for example: " + text
		case n.points > 1 && n.text == "":
			text = units.Count(n.points, "point") + ": " + text
		}
		texts = append(texts, text)
	}
	return []document.Block{texts}
}
