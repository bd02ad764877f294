package analysis

import (
	"busbar/internal/notice"
	"busbar/internal/result"
)

// Incomparable counts the points that cannot be compared with others, by file and reason: imported ones, and those of
// groups of nodes.
type Incomparable struct {
	order  []lack
	n      map[lack]int
	Groups bool // some are of a pattern, which is whole without them
}

type lack struct {
	path string
	what notice.Lack
}

// Add reports whether a point lacks something, and counts it.
func (l *Incomparable) Add(row result.Row) bool {
	k := lack{what: row.Record.Lacks()}
	switch {
	case row.Record.Group != nil:
		k.what = notice.Lack{Lacks: notice.GroupsOfNodes}
		l.Groups = true
	case k.what == (notice.Lack{}):
		return false
	default:
		k.path = row.Run.Imported.Path
	}
	if l.n == nil {
		l.n = map[lack]int{}
	}
	if l.n[k]++; l.n[k] == 1 {
		l.order = append(l.order, k)
	}
	return true
}

// Notices report what was left out.
func (l *Incomparable) Notices() (all []notice.Notice) {
	for _, k := range l.order {
		all = append(all, notice.InFile(k.path, 0, notice.PointsSkipped{Points: l.n[k], Lack: k.what}))
	}
	return all
}
