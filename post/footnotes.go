package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// footnotes are the texts below the tables of a run, numbered by first appearance. Notices of one kind share a number.
type footnotes struct {
	shows  func(notice.Code) bool
	report func(notice.Fact)
	all    []footnote
}

// footnote is a text, and how many points have it.
type footnote struct {
	key    any // a kind of notices, or a text
	text   string
	fact   notice.Fact // the first of the kind
	points int
	varied bool // points have notices of this kind with other numbers
}

// footnotes are those of a file, whose notices go into the document too.
func (s *shower) footnotes(path string) *footnotes {
	return &footnotes{shows: s.shows, report: func(f notice.Fact) {
		if n := notice.New(f); s.shows(n.Code()) {
			n.At.File = path
			s.doc.CountKind(n)
		}
	}}
}

func (f *footnotes) mark(key any, text string, fact notice.Fact) string {
	i := slices.IndexFunc(f.all, func(n footnote) bool { return n.key == key })
	if i < 0 {
		i, f.all = len(f.all), append(f.all, footnote{key: key, text: text, fact: fact})
	}
	f.all[i].points++
	f.all[i].varied = f.all[i].varied || !reflect.DeepEqual(f.all[i].fact, fact)
	return fmt.Sprint(i + 1)
}

// simulated reports a run of the simulation, and is the line that marks it; none where --ignore names it.
func (f *footnotes) simulated(r *result.Run) []string {
	fact := notice.SimulatedRuns{}
	if !r.Rehearse || !f.shows(fact.Code()) {
		return nil
	}
	f.report(fact)
	return []string{notice.Message(fact)}
}

// marks refer to the footnotes of notices and of other texts.
func (f *footnotes) marks(all notice.List, texts ...string) string {
	var numbers []string
	for _, k := range all {
		if f.shows(k.Code()) {
			numbers = append(numbers, f.mark(k.Kind(), k.Sentences(), k.Fact))
			f.report(k.Fact)
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

// blocks are the footnotes, if there are any.
func (f *footnotes) blocks() []document.Block {
	if len(f.all) == 0 {
		return nil
	}
	var texts document.Footnotes
	for _, n := range f.all {
		if n.varied {
			n.text = units.Count(n.points, "point") + ", for example: " + n.text
		}
		texts = append(texts, n.text)
	}
	return []document.Block{texts}
}
