package analysis

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what sort of thing was found.
type Kind string

// The kinds of findings. docs/analysis.md says how each is found and judged.
const (
	Drop        Kind = "drop"          // bandwidth of a few sizes lies below its trend
	Spike       Kind = "spike"         // bandwidth of a few sizes lies above its trend
	Step        Kind = "step"          // time jumps where one law goes over into the next: the library changed its way
	Plateau     Kind = "plateau"       // bandwidth stands still, and rises further at larger sizes
	Decline     Kind = "decline"       // bandwidth does not stay at its largest
	PlacementOf Kind = "placement gap" // in place and out of place differ
	Scaling     Kind = "poor scaling"  // a larger world has less bus bandwidth
	LateRank    Kind = "late rank"     // one rank issues last nearly always
	SlowRank    Kind = "slow rank"     // one rank's own times are the longest nearly always
	TwoModes    Kind = "bimodal"       // times of one point are of two populations
	Drift       Kind = "drift"         // times of a point rose or fell while they were taken
	Variation   Kind = "variation"     // launches differ
	LowCeiling  Kind = "below ceiling" // far from what the hardware could do
)

// kinds are all of them.
var kinds = []Kind{Drop, Spike, Step, Plateau, Decline, PlacementOf, Scaling, LateRank, SlowRank, TwoModes, Drift, Variation, LowCeiling}

// Kinds are all kinds of findings.
func Kinds() []Kind { return slices.Clone(kinds) }

// Severity is how much a finding matters; docs/analysis.md has the rule of each kind.
type Severity int

// The severities.
const (
	Note Severity = iota
	Warning
	Serious
)

var severityWords = []string{"note", "warning", "serious"}

func (s Severity) String() string {
	if s < 0 || int(s) >= len(severityWords) {
		return fmt.Sprintf("Severity(%d)", int(s))
	}
	return severityWords[s]
}

// MarshalText writes the word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Finding is one thing to know about a curve.
type Finding struct {
	Number   int // as on pictures and in reports, from 1
	Kind     Kind
	Curve    *Curve
	From, To int64 // bytes, both measured sizes
	Severity Severity
	Weight   float64  // the share of time or bandwidth that is behind the severity: 0.2 is 20 %
	Says     string   // one sentence that stands for itself
	Evidence []string // what it rests on, with figures
	Hints    []Hint
	Also     []Place // where else the same was found, in the order of weight

	predicate string // Says without its subject and its full stop
}

// Place is where on a curve something was found, and what was said of it there.
type Place struct {
	Curve    *Curve
	From, To int64 // bytes, both measured sizes
	Says     string
}

// Places are all that a finding stands for, the one that it speaks of first.
func (f *Finding) Places() []Place {
	return append([]Place{{f.Curve, f.From, f.To, f.Says}}, f.Also...)
}

// state makes the sentence: the curve of the finding, and what is said of it.
func (f *Finding) state(format string, args ...any) {
	f.predicate = fmt.Sprintf(format, args...)
	f.Says = f.Curve.subject() + ": " + f.predicate + "."
}

// Brief is what the sentence says of its curve, for where that is named anyway; the whole sentence where it is of several.
func (p Place) Brief() string { return strings.TrimPrefix(p.Says, p.Curve.subject()+": ") }

// Hint is something to try.
type Hint struct {
	Says     string
	Source   string // title and section of the documentation that says so
	Variable string // environment variable, or flag of rank; "" where it is neither
	Value    string // to try
	Sweep    string // a variant of a campaign's plan that tests it, as YAML; "" where no plan can
}

// Options say what findings are made with.
type Options struct {
	Ceiling func(*Curve) Ceiling // nil: no ceiling is known
	Most    int                  // findings at most; 0: MostFindings
}

// MostFindings is how many findings there are unless it is said otherwise: a page with more of them is not read.
const MostFindings = 20
