package notice

import (
	"reflect"
	"strings"
)

// List is the notices that a results file keeps of a run or a point.
type List []Kept

// Of makes a list of facts.
func Of(facts ...Fact) List {
	var all List
	for _, f := range facts {
		all = append(all, Kept{f})
	}
	return all
}

// Add appends facts.
func (l *List) Add(facts ...Fact) { *l = append(*l, Of(facts...)...) }

// Briefs are the facts as the JSON of documents has those of a point: [{"code":…,"parameters":{…}}], never null.
func (l List) Briefs() []Brief {
	all := make([]Brief, len(l))
	for i, k := range l {
		all[i] = Brief{k.Code(), WithLists(k.Fact)}
	}
	return all
}

// Brief is a fact in the JSON of a document.
type Brief struct {
	Code       Code `json:"code"`
	Parameters any  `json:"parameters"`
}

// BriefOf is a fact as Brief; nil of none.
func BriefOf(f Fact) *Brief {
	if f == nil {
		return nil
	}
	return &Of(f).Briefs()[0]
}

// A Range is the smallest and the largest numbers of facts of one kind.
type Range struct {
	first, lo, hi Fact
	mixed         bool // the facts differ in more than numbers
}

// Add widens the range.
func (r *Range) Add(f Fact) {
	if r.lo == nil {
		r.first, r.lo, r.hi = f, f, f
		return
	}
	r.lo = r.bound(r.lo, f, func(x, y float64) bool { return y < x })
	r.hi = r.bound(r.hi, f, func(x, y float64) bool { return y > x })
}

// bound is a fact with those numbers of another that are beyond its own.
func (r *Range) bound(of, other Fact, beyond func(x, y float64) bool) Fact {
	made := reflect.New(reflect.TypeOf(of)).Elem()
	made.Set(reflect.ValueOf(of))
	from := reflect.ValueOf(other)
	if from.Type() != made.Type() || made.Kind() != reflect.Struct {
		r.mixed = true
		return of
	}
	for i := range made.NumField() {
		x, y := made.Field(i), from.Field(i)
		switch {
		case x.CanInt() && beyond(float64(x.Int()), float64(y.Int())), x.CanFloat() && beyond(x.Float(), y.Float()):
			x.Set(y)
		case !x.CanInt() && !x.CanFloat() && !reflect.DeepEqual(x.Interface(), y.Interface()):
			r.mixed = true
		}
	}
	return made.Interface()
}

// Sentences is the message with its details, with ranges for numbers that differ. A text without numbers to compare is
// that of the first fact.
func (r *Range) Sentences() string {
	if r.mixed {
		return Kept{r.first}.Sentences()
	}
	e := entryOf(r.hi)
	words := e.text.renderRange(r.lo, r.hi)
	if len(Details(r.first)) > 0 {
		words += "."
	}
	for _, t := range e.details {
		if line := t.renderRange(r.lo, r.hi); line != "" {
			words += " " + line
		}
	}
	return words
}

// Mixed reports whether the facts differ in more than numbers, so that one of them is only an example.
func (r *Range) Mixed() bool { return r.mixed }

// Sentences is a message with its details.
func (k Kept) Sentences() string {
	if len(Details(k.Fact)) == 0 {
		return Message(k.Fact)
	}
	return Text(k.Fact)
}

// String is the message.
func (k Kept) String() string { return Message(k.Fact) }

// Texts are the messages.
func (l List) Texts() []string {
	var all []string
	for _, k := range l {
		all = append(all, Message(k.Fact))
	}
	return all
}

// String is all messages in one line, as tables have them.
func (l List) String() string { return strings.Join(l.Texts(), "; ") }

// Kind is what notices share that are counted together: the code, and the text where that is all that is known.
type Kind struct {
	Code Code
	Text string
}

// Kind is the notice's.
func (k Kept) Kind() Kind {
	r, _ := k.Fact.(Recorded)
	return Kind{k.Code(), r.Text}
}

// Reason is the message of a fact; "" of none.
func Reason(f Fact) string {
	if f == nil {
		return ""
	}
	return Message(f)
}

// Crowded is the fact that makes times those of waiting for a core or a GPU: they show no speed of communication. It is
// nil where each rank had its own.
func (l List) Crowded() Fact {
	for _, k := range l {
		switch k.Fact.(type) {
		case Oversubscribed, SharedThreads, SharedGPU:
			return k.Fact
		}
	}
	return nil
}
