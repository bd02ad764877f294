package pattern

import (
	"maps"
	"slices"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/internal/units"
)

// Runs are runs that measured groups of nodes. A run that continues another is judged with it. Other launches are
// judged alone: a slow node may have been repaired between them.
type Runs struct{ of []*Chain }

// Chain is a run and those that continue it.
type Chain struct {
	Run   *result.Run
	Cases []coll.Case
	Times map[result.PointKey]result.Time // of the groups
	ids   []string                        // of the runs
}

// Add adds a record; one without a pattern changes nothing.
func (p *Runs) Add(row result.Row) {
	run, r := row.Run, row.Record
	if run.Pattern == nil {
		return
	}
	i := slices.IndexFunc(p.of, func(c *Chain) bool { return c.Run.ID == run.ID })
	if i < 0 {
		i, p.of = len(p.of), append(p.of, &Chain{Run: run, Times: map[result.PointKey]result.Time{},
			ids: append([]string{run.ID}, run.Resumes...)})
	}
	c := p.of[i]
	c.Cases = units.AddOnce(c.Cases, r.Case)
	if r.Timed() {
		c.Times[r.Point(run.Backend.Name)] = *r.Time
	}
}

// Chains are the runs, oldest first, each with those that continue it.
func (p *Runs) Chains() (chains []*Chain) {
	runs := slices.Clone(p.of)
	slices.SortStableFunc(runs, func(a, b *Chain) int { return a.Run.Start.Compare(b.Run.Start) })
	for _, r := range runs {
		i := slices.IndexFunc(chains, func(c *Chain) bool {
			return c.Run.Key() == r.Run.Key() &&
				slices.ContainsFunc(r.ids, func(id string) bool { return slices.Contains(c.ids, id) })
		})
		if i < 0 {
			chains = append(chains, r)
			continue
		}
		c := chains[i]
		c.ids = append(c.ids, r.ids...)
		for _, k := range r.Cases {
			c.Cases = units.AddOnce(c.Cases, k)
		}
		maps.Copy(c.Times, r.Times)
	}
	return chains
}

// Each calls f with the verdict on each case, in order.
func (c *Chain) Each(f func(coll.Case, Verdict)) {
	verdicts := Verdicts(c.Run.Pattern, c.Run.Backend.Name, c.Cases, c.Times)
	for _, k := range c.Cases {
		f(k, verdicts[k])
	}
}

// Notices are the verdicts on all cases.
func (p *Runs) Notices() (all []notice.Notice) {
	for _, c := range p.Chains() {
		c.Each(func(k coll.Case, v Verdict) {
			for _, n := range v.Notices(c.Run.Pattern.Hosts) {
				n.At.Subject = k.String()
				all = append(all, n)
			}
		})
	}
	return all
}
