package notice

import (
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
