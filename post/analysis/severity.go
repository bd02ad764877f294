package analysis

import (
	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
)

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

// severityIn is severityOf of what a ratio shows: without bounds it is no more than a warning.
func severityIn(r stats.Ratio, share float64) notice.Severity {
	severity := severityOf(share)
	if r.Basis == stats.NoBounds {
		severity = min(severity, notice.Warning)
	}
	return severity
}

// judged are the curves whose times may be judged for speed.
func judged(curves []*Curve) []*Curve {
	return units.Where(curves, func(c *Curve) bool {
		_, trusted := c.Trusted()
		return trusted
	})
}
