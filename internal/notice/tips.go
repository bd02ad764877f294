package notice

import _ "embed" // for tips.txt

// Tip is something to try about a finding: a setting and why. Its text is in tips.txt; when it applies is decided in
// post/analysis.
type Tip string

// Text is what to do, without full stop; "" of a tip that is not in the catalogue.
func (t Tip) Text() string { return tips[t]["text"] }

// Source is the documentation that the tip comes from.
func (t Tip) Source() string { return tips[t]["source"] }

//go:embed tips.txt
var tipsFile string

var tips = map[Tip]map[string]string{}

func init() {
	for p := range Paragraphs(tipsFile) {
		tips[Tip(p["tip"])] = p
	}
}
