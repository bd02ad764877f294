package notice

import (
	"slices"
	"strings"
)

// Entry is what the catalogue holds of a code. Text, Details and Advice are templates over the fields of the fact.
type Entry struct {
	Example  Fact     // for the documentation and tests; its type is that of all facts of the code
	Severity Severity // unless the rule that finds it grades it
	Text     string   // one sentence without full stop
	Details  []string // further sentences
	Advice   string   // what to do, without full stop
	How      string   // how to do it, in whole sentences
	Source   string   // where the rule or the advice comes from
	Doc      string   // what it means and when it is reported

	text, advice, how template
	details           []template
}

// Code identifies the entry.
func (e *Entry) Code() Code { return e.Example.Code() }

// Meaning is the documentation as one paragraph.
func (e *Entry) Meaning() string { return strings.Join(strings.Fields(e.Doc), " ") }

// byCode finds entries.
var byCode = map[Code]*Entry{}

func init() {
	Register(
		records,
		curves,
		peaks,
		runs,
		headlines,
		contenders,
		models,
		patterns,
		comparisons,
		campaigns,
		files,
		reasons,
		ends,
		steps,
		stepOverlaps,
		reports,
		expected,
	)
}

// Register adds areas to the catalogue. Each package of facts calls it once.
func Register(areas ...[]Entry) {
	for _, area := range areas {
		for i := range area {
			e := &area[i]
			e.text, e.advice, e.how = parse(e.Text), parse(e.Advice), parse(e.How)
			for _, sentence := range e.Details {
				e.details = append(e.details, parse(sentence))
			}
			if byCode[e.Code()] != nil {
				panic("notice: two entries of " + string(e.Code()))
			}
			byCode[e.Code()] = e
		}
	}
}

// Entries returns the catalogue, ordered by code.
func Entries() []*Entry {
	var all []*Entry
	for _, e := range byCode {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b *Entry) int { return strings.Compare(string(a.Code()), string(b.Code())) })
	return all
}

// Find returns the entry of a code, or nil.
func Find(code Code) *Entry { return byCode[code] }
