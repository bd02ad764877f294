package analysis

import (
	"fmt"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Kind is the code of a finding.
type Kind = notice.Code

// Kinds of findings. docs/analysis.md has their rules.
var (
	Drop       = notice.CodeOf(notice.Drop{})
	Spike      = notice.CodeOf(notice.Spike{})
	Step       = notice.CodeOf(notice.Switch{})
	Decline    = notice.CodeOf(notice.Decline{})
	Imbalance  = notice.CodeOf(notice.ImbalanceCost{})
	Interferes = notice.CodeOf(notice.GroupInterference{})
	Beside     = notice.CodeOf(notice.DimensionInterference{})
)

// Finding is a notice about a curve.
type Finding struct {
	Number int // as in plots and reports, from 1
	notice.Notice
	Curve    *Curve
	From, To int64   // bytes, both measured sizes
	Weight   float64 // the share of time or bandwidth behind the severity: 0.2 is 20 %
	Hints    []Hint
	Also     []Place // where else the same was found, by descending weight

	ofGroup bool // about all curves of a world, not about one
}

// Place is where on a curve something was found.
type Place struct {
	Curve    *Curve
	From, To int64 // bytes, both measured sizes
	notice.Notice
}

// Places are all that a finding covers, its own first.
func (f *Finding) Places() []Place {
	return append([]Place{{f.Curve, f.From, f.To, f.Notice}}, f.Also...)
}

// finding is a notice about sizes of a curve.
func (c *Curve) finding(fact notice.Fact, severity notice.Severity, weight float64, from, to int64) Finding {
	at := notice.Location{Subject: c.subject(), From: units.Bytes(from), To: units.Bytes(to)}
	f := Finding{
		Notice: notice.Notice{Severity: severity, At: at, Fact: fact},
		Curve:  c,
		From:   from,
		To:     to,
		Weight: weight,
	}
	f.Hints = hintsFor(notice.CodeOf(fact), c, from, to)
	return f
}

// Short is the sentence with the operation in place of the curve.
func (f *Finding) Short() string {
	n := f.Notice
	if n.At.Subject = ""; !f.ofGroup {
		n.At.Subject = f.Curve.operation()
	}
	return n.Sentence()
}

// BelowSubject is the sentence without the curve.
func (f *Finding) BelowSubject() string {
	n := f.Notice
	n.At.Subject = ""
	return n.Sentence()
}

// mostLikewise is how many findings of the same cause are listed with the first.
const mostLikewise = 4

// Evidence is the details of the finding, and where else it was found.
func (f *Finding) Evidence() []string {
	all := f.Details()
	for i, p := range f.Also {
		if i == mostLikewise {
			all = append(all, notice.Paragraph(notice.MoreAlike{Findings: len(f.Also) - i}))
			break
		}
		all = append(all, fmt.Sprintf("%s, %s: %s.", p.Curve.apartFrom(f.Curve), sizes(p.From, p.To), p.Message()))
	}
	if f.Curve.Imported() {
		all = append(all, notice.Paragraph(notice.ImportedCurve{Tool: f.Curve.Tool}))
	}
	return all
}

// Hint is something to try.
type Hint struct {
	Tip      notice.Tip
	With     string  // NAME=VALUE that the variable needs beside it
	Had      *string // what these runs had it set to; nil: it was not set
	Variable string  // environment variable, or flag of rank; "" where it is neither
	Value    string  // to try
	Sweep    string  // a variant of a campaign's plan that tests it, as YAML; "" where no plan can
}

// Text is what to try, in words.
func (h Hint) Text() string {
	text := h.Tip.Text()
	if h.With != "" {
		text += ", with " + h.With
	}
	if h.Had != nil {
		text += fmt.Sprintf(" (was %q)", *h.Had)
	}
	return text
}

// Options are the parameters of Find.
type Options struct {
	Ceiling func(*Curve) Ceiling // nil: no ceiling is known
	Most    int                  // findings at most; 0: MostFindings
}

// MostFindings is the default maximum number of findings.
const MostFindings = 20
