package analysis

import (
	"cmp"
	"sync"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/stats"
)

// Curve is one line of a plot: what one contender took for one operation in one world, over sizes.
type Curve struct {
	Who string // the contender's name among those that were collected together
	Contender
	Tool      string // what measured, where that was not rank: "nccl-tests 2.19.6"
	Condition        // without size and count
	// why its ranks or threads shared cores or a GPU, so that its times show no speed; nil: they did not
	Crowded  notice.Fact
	Runs     []*result.Run
	Launches []string // by PairedBy, in order of appearance
	Points   []Point  // with a time that holds, by ascending size
	Ranks    *RankUse // times of single ranks; nil if not recorded

	examples [kindsOfWarning]notice.Fact // the first of each kind of warning
	found    sync.Once
	trend    curveTrend // once found
}

// Point is what one size took.
type Point struct {
	SizeBytes int64
	Count     int64          // elements, as coll.Case counts them
	EvenBytes int64          // as in result.Record
	Time      stats.Estimate // s, of one operation; over launches where there are several
	Basis     stats.Basis    // of the bounds of Time
	// s, the median of each launch, in the order of Curve.Launches that have one; nil where there is one launch
	Launches []float64
	Path     *result.Path // the library's algorithm in the first launch that records it; nil if none does
	Records  int          // how many there are of it
	Warned   [kindsOfWarning]uint16
}

// Case is the case of a point.
func (c *Curve) Case(i int) coll.Case {
	k := c.Condition.Case
	k.SizeBytes, k.Count = c.Points[i].SizeBytes, c.Points[i].Count
	return k
}

// BusBW is the bus bandwidth of a point, in bytes per second.
func (c *Curve) BusBW(i int) float64 { return c.Case(i).BusBW(c.Points[i].Time.Value) }

// AlgBW is the algorithm bandwidth of a point, in bytes per second.
func (c *Curve) AlgBW(i int) float64 { return c.Case(i).AlgBW(c.Points[i].Time.Value) }

// best is the place of the largest bus bandwidth.
func (c *Curve) best() (at int) {
	for i := range c.Points {
		if c.BusBW(i) > c.BusBW(at) {
			at = i
		}
	}
	return at
}

// Imported reports whether another tool measured it.
func (c *Curve) Imported() bool { return c.Tool != "" }

// Title names the curve in a sentence: contender, operation and world.
func (c *Curve) Title() string { return c.Who + ", " + c.Condition.Title() }

// Trusted reports whether its times show speed; reason is why not.
func (c *Curve) Trusted() (reason string, trusted bool) {
	switch {
	case c.Rehearsed:
		return "it is simulated", false
	case c.World == 1:
		return notice.Message(notice.OneRankRun{}), false
	case c.Crowded != nil:
		return notice.Message(c.Crowded), false
	}
	return "", true
}

func compareCurves(a, b *Curve) int {
	return cmp.Or(CompareConditions(FamilyOf(a.Condition), FamilyOf(b.Condition)),
		CompareContenders(a.Contender, b.Contender),
		cmp.Compare(a.Tool, b.Tool), CompareConditions(a.Condition, b.Condition))
}
