package analysis

// From which share of time or bandwidth on a finding is a warning, and serious.
const (
	fromWarning = 0.10
	fromSerious = 0.30
)

// severityOf is the rule for what costs a share of bandwidth.
func severityOf(share float64) Severity {
	switch {
	case share >= fromSerious:
		return Serious
	case share >= fromWarning:
		return Warning
	}
	return Note
}

// judged are the curves whose times may be judged for speed.
func judged(curves []*Curve) []*Curve {
	var some []*Curve
	for _, c := range curves {
		if _, trusted := c.Trusted(); trusted {
			some = append(some, c)
		}
	}
	return some
}
