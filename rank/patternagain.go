package main

import (
	"busbar/internal/pattern"
	"busbar/internal/units"
)

// numberedRound is a round with its number in the records.
type numberedRound struct {
	Number int // 0: alone; past the schedule: once more
	Groups pattern.Round
}

// allVerdicts are those of all libraries. Rank 0 only.
func (r *patternRun) allVerdicts() (all []pattern.Verdict) {
	for _, b := range r.books {
		verdicts := r.verdicts(b)
		for _, c := range b.cases {
			all = append(all, verdicts[c])
		}
	}
	return all
}

// suspects are the groups to measure alone, for all libraries together. Rank 0 only.
func (r *patternRun) suspects() (rounds []numberedRound, err error) {
	for _, group := range pattern.Alone(r.of.kind, len(r.of.hosts), r.allVerdicts()) {
		rounds = append(rounds, numberedRound{0, pattern.Round{group}})
	}
	lacking, err := r.expect(rounds)
	if lacking > 0 {
		r.j.screen.Wrapped("# ", "what stands out is measured again while all others rest: "+units.Count(lacking, "group"))
	}
	return rounds, err
}

// repeats are the rounds to measure once more, for all libraries together. Rank 0 only.
func (r *patternRun) repeats() (rounds []numberedRound, err error) {
	for _, n := range pattern.Repeats(r.of.kind, len(r.of.hosts), r.allVerdicts()) {
		rounds = append(rounds, numberedRound{len(r.of.rounds) + n, r.of.rounds[n-1]})
	}
	lacking, err := r.expect(rounds)
	if lacking > 0 {
		r.j.screen.Wrapped("# ", "what was slow with the others and is not alone is measured with them once more: "+units.Count(lacking, "round"))
	}
	return rounds, err
}

// expect makes the files ready for rounds beyond the schedule, and says how many of them lack a figure. Rank 0 only.
func (r *patternRun) expect(rounds []numberedRound) (lacking int, err error) {
	if len(rounds) == 0 {
		return 0, nil
	}
	if !r.clear { // an earlier run has all rounds of the schedule
		if err := r.openFiles(); err != nil {
			return 0, err
		}
	}
	for _, n := range rounds {
		lacks := 0
		for _, c := range r.cases {
			left := len(r.missing(c, n.Number, n.Groups))
			r.j.ledger.Expect(r.books[c.library].sheet, left)
			lacks += left
		}
		r.pace.Planned += lacks
		lacking += min(lacks, 1)
	}
	return lacking, nil
}
