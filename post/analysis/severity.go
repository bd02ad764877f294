package analysis

import "busbar/internal/notice"

// From which share of time or bandwidth on a finding is a warning, and an error.
const (
	fromWarning = 0.10
	fromError   = 0.30
)

// severityOf is the rule for what costs a share of bandwidth.
func severityOf(share float64) notice.Severity {
	switch {
	case share >= fromError:
		return notice.Error
	case share >= fromWarning:
		return notice.Warning
	}
	return notice.Info
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
