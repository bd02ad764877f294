package analysis

import (
	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/units"
)

// Shares of the peak: a curve above enough has no finding, one below half is an error. Headers and waiting use a part
// of each link: public logs of sound machines show three quarters.
const (
	enoughOfCeiling = 0.65
	halfOfCeiling   = 0.5
	// largeEnough is the minimum largest size in bytes: below it, latency dominates and no peak applies.
	largeEnough = 64 << 20
)

// belowCeilings are curves whose largest bus bandwidth is far from what the hardware allows.
func belowCeilings(curves []*Curve, o Options) (found []Finding) {
	if o.Ceiling == nil {
		return nil
	}
	for _, c := range judged(curves) {
		n := len(c.Points)
		if c.Mode != coll.Throughput || c.Points[n-1].SizeBytes < largeEnough {
			continue
		}
		ceiling := o.Ceiling(c)
		if !ceiling.Known() {
			continue
		}
		best := c.best()
		share := ceiling.Share(c.BusBW(best))
		if share <= 0 || share >= enoughOfCeiling {
			continue
		}
		severity := notice.Warning
		if share < halfOfCeiling {
			severity = notice.Error
		}
		fact := notice.BelowPeak{
			Best: c.value(best), Share: units.Share(share), Peak: units.LinkRate(ceiling.BusBW), What: ceiling.Words(),
		}
		found = append(found,
			c.finding(fact, severity, 1-share, c.Points[best].SizeBytes, c.Points[n-1].SizeBytes))
	}
	return found
}
