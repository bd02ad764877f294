package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/coll"
)

// limits are what counts as a difference at a point, as shares of the time: 0.05 is 5 %.
type limits struct {
	Margin    float64 // up to which a point counts as the same
	FailAbove float64 // over which a point that is worse fails the comparison; 0: none does
}

// Thresholds are limits for all points, and others for some of them.
type Thresholds struct {
	limits
	rules []rule
}

// rule gives limits to the points it names; of several that name a point, the last counts.
type rule struct {
	collectives []coll.Collective // all when empty
	modes       []coll.Mode
	types       []coll.DataType
	from, to    int64 // sizes in bytes; to 0: no end
	margin      *float64
	failAbove   *float64
}

// of are the limits of a point of a collective.
func (t *Thresholds) of(c coll.Case) limits {
	l := t.limits
	for _, r := range t.rules {
		if !includes(r.collectives, c.Collective) || !includes(r.modes, c.Mode) || !includes(r.types, c.Type) ||
			c.SizeBytes < r.from || r.to > 0 && c.SizeBytes > r.to {
			continue
		}
		r.set(&l)
	}
	return l
}

// ofStep are the limits of a training step: rules that name collectives, modes or sizes are not about it.
func (t *Thresholds) ofStep(gradients coll.DataType) limits {
	l := t.limits
	for _, r := range t.rules {
		if len(r.collectives) == 0 && len(r.modes) == 0 && r.from == 0 && r.to == 0 && includes(r.types, gradients) {
			r.set(&l)
		}
	}
	return l
}

// set gives the limits what the rule says.
func (r *rule) set(l *limits) {
	if r.margin != nil {
		l.Margin = *r.margin
	}
	if r.failAbove != nil {
		l.FailAbove = *r.failAbove
	}
}

func includes[T comparable](list []T, v T) bool { return len(list) == 0 || slices.Contains(list, v) }

// ParsePercent reads a share: "5%".
func ParsePercent(s string) (float64, error) {
	number, is := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !is || err != nil || !(v > 0 && v < 1e4) {
		return 0, fmt.Errorf("%q: want a percentage over 0 such as 5%%", s)
	}
	return v / 100, nil
}
