// Package footnote numbers the texts below tables.
package footnote

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

// A List is the texts below the tables of a run, numbered by first appearance. Notices of one kind share a number.
type List struct {
	Shows  func(notice.Code) bool
	Report func(notice.Fact)
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

func (f *List) mark(key any, text string, fact notice.Fact) string {
	i := slices.IndexFunc(f.all, func(n footnote) bool { return n.key == key })
	if i < 0 {
		i, f.all = len(f.all), append(f.all, footnote{key: key, text: text, fact: fact})
	}
	f.all[i].points++
	f.all[i].varied = f.all[i].varied || !reflect.DeepEqual(f.all[i].fact, fact)
	return fmt.Sprint(i + 1)
}

// Simulated reports a run of the simulation, and is the line that marks it; none where --ignore names it.
func (f *List) Simulated(r *result.Run) []string {
	fact := notice.SimulatedRuns{}
	if !r.Rehearse || !f.Shows(fact.Code()) {
		return nil
	}
	f.Report(fact)
	return []string{notice.Message(fact)}
}

// Marks refer to the footnotes of notices and of other texts.
func (f *List) Marks(all notice.List, texts ...string) string {
	var numbers []string
	for _, k := range all {
		if f.Shows(k.Code()) {
			numbers = append(numbers, f.mark(k.Kind(), k.Sentences(), k.Fact))
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
		if n.varied {
			n.text = units.Count(n.points, "point") + ", for example: " + n.text
		}
		texts = append(texts, n.text)
	}
	return []document.Block{texts}
}
