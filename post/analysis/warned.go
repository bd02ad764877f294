package analysis

import "busbar/internal/notice"

// WarningOf is a kind of warning of records that findings are made of.
type WarningOf int

// The kinds.
const (
	Bimodal WarningOf = iota
	Drifting
	kindsOfWarning = iota
)

var warnings = [kindsOfWarning]notice.Code{
	Bimodal: notice.CodeOf(notice.Bimodal{}), Drifting: notice.CodeOf(notice.Drift{}),
}

// warned notes which kinds of warnings a record has, and keeps the first of each.
func (c *Curve) warned(all notice.List) (has [kindsOfWarning]bool) {
	for _, k := range all {
		for kind, code := range warnings {
			if k.Code() != code {
				continue
			}
			has[kind] = true
			if c.examples[kind] == nil {
				c.examples[kind] = k.Fact
			}
		}
	}
	return has
}
