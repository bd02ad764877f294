package sidebyside

import (
	"slices"

	"busbar/internal/notice"
	"busbar/internal/stats"
	"busbar/internal/units"
	"busbar/post/analysis"
)

// gaps finds what results lack for a comparison.
type gaps struct{ *Results }

func (g gaps) facts() (facts []notice.Fact) {
	for _, b := range g.missing() {
		facts = append(facts, g.lackOf(b))
	}
	switch all := g.times.Contenders; len(all) {
	case 0:
		facts = append(facts, notice.NoValues{})
	case 1:
		one := []string{g.who(all[0])}
		facts = append(facts, notice.NotCompared{Contenders: one, Lack: notice.OneContender})
	}
	facts = append(facts, g.apart()...)
	for _, who := range g.times.Contenders {
		if n := g.launches(who); n < stats.MinForInterval {
			facts = append(facts, notice.FewLaunches{Who: g.who(who), Launches: n, Needed: stats.MinForInterval})
		}
		if crowded := g.crowded(who); crowded != nil {
			facts = append(facts, notice.CrowdedWorlds{Who: g.who(who), Worlds: crowded})
		}
	}
	return append(facts, g.unmeasured()...)
}

// apart are pairs of contenders without a condition in common.
func (g gaps) apart() (facts []notice.Fact) {
	for i, first := range g.times.Contenders {
		for _, other := range g.times.Contenders[i+1:] {
			if !g.times.Common(first, other) {
				both := []string{g.who(first), g.who(other)}
				facts = append(facts, notice.NotCompared{Contenders: both, Lack: notice.NoSharedPoint})
			}
		}
	}
	return facts
}

// launches are how many launches a contender was measured in.
func (g gaps) launches(who analysis.Contender) int {
	var launches []string
	for _, run := range g.runs {
		if analysis.ContenderOf(run) == who {
			launches = units.AddOnce(launches, run.PairedBy())
		}
	}
	return len(launches)
}

// crowded are the worlds in which ranks shared cores or GPUs.
func (g gaps) crowded(who analysis.Contender) (all []notice.CrowdedWorld) {
	for _, s := range g.worlds(who) {
		if why := g.times.Crowded(s, who); why != nil {
			all = append(all, notice.CrowdedWorld{World: s.Named(), Cause: notice.Kept{Fact: why}})
		}
	}
	return all
}

func (g gaps) worlds(who analysis.Contender) (found []analysis.Shape) {
	for _, family := range g.times.Families() {
		for _, s := range g.times.Shapes(who, family) {
			if !slices.Contains(found, s) {
				found = append(found, s)
			}
		}
	}
	return found
}

// mostUnmeasured is how many points without a value are listed.
const mostUnmeasured = 12

// unmeasured are points without a value, the worlds together that have one reason.
func (g gaps) unmeasured() (facts []notice.Fact) {
	type point struct{ who, point, status, reason string }
	var order []point
	worlds := map[point][]string{}
	for _, row := range g.rows {
		r := row.Record
		if r.Timed() {
			continue
		}
		p := point{g.who(analysis.ContenderOf(row.Run)), r.Case.Point(), string(r.Status), r.Reason}
		if worlds[p] == nil {
			order = append(order, p)
		}
		worlds[p] = units.AddOnce(worlds[p], analysis.ShapeOf(analysis.ConditionOf(row.Run, r)).String())
	}
	for _, p := range order[:min(len(order), mostUnmeasured)] {
		facts = append(facts, notice.PointWithoutValue{
			Who: p.who, Worlds: worlds[p], Point: p.point, Status: p.status, Reason: p.reason,
		})
	}
	if n := len(order) - mostUnmeasured; n > 0 {
		facts = append(facts, notice.MorePoints{Points: n})
	}
	return facts
}
