package sidebyside

import (
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/analysis"
)

// Headliner collects what it takes to compare contenders in the headlines of a report: nothing where there is only one.
type Headliner struct {
	found *Results
	lacks analysis.Incomparable
}

// NewHeadliner makes one for the contenders that runs have.
func NewHeadliner(runs []*result.Run) *Headliner {
	var all []analysis.Contender
	for _, run := range runs {
		if c := analysis.ContenderOf(run); !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	s := &Headliner{}
	if len(all) > 1 && len(all) <= mostContenders {
		s.found = &Results{times: analysis.NewMeasurements(), name: analysis.Names(all)}
	}
	return s
}

// mostContenders is how many are compared in headlines: of more, no two pairs say much.
const mostContenders = 8

// Add takes a row that headlines can be of.
func (s *Headliner) Add(row result.Row) {
	if s.found != nil && row.Record.Collective == coll.AllReduce && !s.lacks.Add(row) {
		s.found.times.Add(row.Run, row.Record)
		if row.Run.Rehearse {
			s.found.rehearsed++
		}
	}
}

// Headlines are those of all_reduce.
func (s *Headliner) Headlines() []notice.Fact {
	if s.found == nil {
		return nil
	}
	a := &analyst{Results: s.found}
	if families := a.analysed(); len(families) > 0 {
		return a.winners(families[0])
	}
	return nil
}
