package hang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"busbar/internal/notice"
	"busbar/rank/launch"
)

// The phases of a rank that waits for others by design.
const (
	WaitForRank0  = "wait for rank 0"           // until it says what comes next
	WaitOutside   = "wait for the sub-world"    // until those who measure in it are done
	LeaveWorld    = "leave the sub-world"       // the end of it, where they meet
	WaitForGroups = "wait for the other groups" // until those are done with the case
)

// PhaseFinalize is the phase of a rank that has nothing more to do.
const PhaseFinalize = "finalize"

// mostHung is how many ranks of each standing are parameters of a hang.
const mostHung = 64

// Diagnose says who did not arrive, from what is known of the other ranks and what this one is doing: first those who
// are gone or do not answer, else those who are behind the others. It says it when nobody is, and of whom nothing is
// known.
func Diagnose(reports []launch.Report, me launch.State) (f notice.RunHung) {
	all := append([]launch.Report{{Rank: me.Rank, Host: me.Host, Standing: launch.Answered, State: me}}, reports...)
	by := map[launch.Standing][]launch.Report{}
	for _, r := range all {
		by[r.Standing] = append(by[r.Standing], r)
	}
	var parts []string
	if lost := by[launch.Gone]; len(lost) > 0 {
		how := "the connection broke"
		if lost[0].Process != "" {
			how = "the process ended"
		}
		parts = append(parts, fmt.Sprintf("%s %s gone: %s %s ago (killed, crashed, or the host is down)",
			launch.RankNames(lost),
			are(lost), how, time.Since(lost[0].At).Round(time.Second)))
	}
	if mute := by[launch.Silent]; len(mute) > 0 {
		parts = append(parts,
			fmt.Sprintf("%s %s not answer (stopped, starved, swapping, or the host or its network is down)",
				launch.RankNames(mute), do(mute)))
	}
	parts = append(parts, lastHeard(append(by[launch.Gone], by[launch.Silent]...))...)
	if off := by[launch.Left]; len(off) > 0 {
		parts = append(parts, fmt.Sprintf("%s ended before the others", launch.RankNames(off)))
	}
	found := len(parts) > 0
	inside, outside := apart(by[launch.Answered])
	inside, going := stuck(inside)
	whose := ""
	if len(outside)+len(going) > 0 {
		whose = " of the sub-world"
	}
	said, behind := progress(inside, found, whose)
	parts = append(parts, said)
	for _, group := range []struct {
		why   notice.Standing
		ranks []launch.Report
	}{
		{notice.StandingGone, by[launch.Gone]}, {notice.StandingSilent, by[launch.Silent]},
		{notice.StandingLeft, by[launch.Left]},
		{notice.StandingBehind, behind},
	} {
		for _, r := range group.ranks[:min(len(group.ranks), mostHung)] {
			f.Ranks = append(f.Ranks, hungRank(r, group.why))
		}
	}
	if len(going) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s in other groups", launch.RankNames(going), are(going)))
	}
	if len(outside) > 0 {
		parts = append(parts, fmt.Sprintf("%s %s outside of the sub-world and %s for its end",
			launch.RankNames(outside),
			are(outside), verb(outside, "waits", "wait")))
	}
	if hidden := by[launch.Unreachable]; len(hidden) > 0 {
		why := "no side channel (a firewall between the hosts?); their hosts report them on stderr"
		if lostRank0(by) {
			why = "no side channel to them without rank 0"
		}
		parts = append(parts, fmt.Sprintf("no report from %s: %s", launch.RankNames(hidden), why))
	} else if len(reports) == 0 {
		parts = append(parts, "the state of other ranks is unknown")
	}
	parts = append(parts, lastWords(by[launch.Answered])...)
	f.Problem = strings.Join(parts, "; ")
	return f
}

// lostRank0 reports whether rank 0, over which ranks of other hosts report, is gone or silent.
func lostRank0(by map[launch.Standing][]launch.Report) bool {
	return slices.ContainsFunc(append(slices.Clone(by[launch.Gone]), by[launch.Silent]...),
		func(r launch.Report) bool { return r.Rank == 0 })
}

func hungRank(r launch.Report, why notice.Standing) notice.HungRank {
	return notice.HungRank{
		PlacedRank: notice.PlacedRank{Rank: r.Rank, Host: r.Host}, Standing: why,
		Phase: r.State.Phase, Case: r.State.CaseName(), Iteration: r.State.Iteration,
	}
}

// apart takes the ranks outside of a sub-world from those in it: they hold nobody up.
func apart(ranks []launch.Report) (inside, outside []launch.Report) {
	for _, r := range ranks {
		if r.State.Phase == WaitOutside || r.State.Phase == WaitForGroups {
			outside = append(outside, r)
		} else {
			inside = append(inside, r)
		}
	}
	return inside, outside
}

// stuck takes the ranks of the group that has been in one phase for longest from those of other groups, which measure
// the same at the same time and are no measure of it. Ranks between cases, and all where there are no groups, are of
// any.
func stuck(ranks []launch.Report) (inside, going []launch.Report) {
	longest := ""
	var since time.Duration = -1
	for _, r := range ranks {
		if g := r.State.Group; g != "" && r.State.Since > since {
			longest, since = g, r.State.Since
		}
	}
	for _, r := range ranks {
		if g := r.State.Group; g == "" || g == longest {
			inside = append(inside, r)
		} else {
			going = append(going, r)
		}
	}
	return inside, going
}

// lastWords are what the library said last on each rank, each word once, with the lowest rank that has it.
func lastWords(ranks []launch.Report) (parts []string) {
	const most = 4
	known := map[string]bool{}
	for _, r := range slices.SortedFunc(slices.Values(ranks), compareRank) {
		if s := r.State.Says; s != "" && !known[s] && len(known) < most {
			known[s] = true
			parts = append(parts, fmt.Sprintf("the library on rank %d says: %s", r.Rank,
				strings.ReplaceAll(s, "\n", " ")))
		}
	}
	return parts
}

// lastHeard is what ranks that are silent now did last, where this host's memory shows it.
func lastHeard(ranks []launch.Report) (parts []string) {
	const most = 4
	ranks = slices.Clone(ranks)
	slices.SortFunc(ranks, compareRank)
	for _, r := range ranks {
		if r.State.Phase == "" || len(parts) == most {
			continue
		}
		text := fmt.Sprintf("rank %d was last heard of %s ago, %s", r.Rank, r.Silence.Round(time.Second),
			where(r.State))
		if r.Standing == launch.Silent && r.Process != "" {
			text += ": its process is " + r.Process
		}
		parts = append(parts, text)
	}
	return parts
}

func compareRank(a, b launch.Report) int { return cmp.Compare(a.Rank, b.Rank) }

// progress compares those who answered, and returns the ranks that are behind. If a culprit is found already, it only
// says where the others are. whose says what they are all ranks of.
func progress(ranks []launch.Report, found bool, whose string) (text string, late []launch.Report) {
	slices.SortStableFunc(ranks, func(a, b launch.Report) int { return compareStates(a.State, b.State) })
	last := ranks[len(ranks)-1].State
	behind := ranks
	for i, r := range ranks {
		if compareStates(ranks[0].State, r.State) != 0 {
			behind = ranks[:i]
			break
		}
	}
	front := ranks[len(behind):]
	switch {
	case len(front) > 0:
		at := where(last)
		if compareStates(front[0].State, last) != 0 {
			at += " or before it"
		}
		return fmt.Sprintf("%s %s still %s, while %s %s %s",
				launch.RankNames(behind), are(behind), where(behind[0].State), launch.RankNames(front), are(front), at),
			behind
	case found:
		return fmt.Sprintf("%s %s %s", launch.RankNames(ranks), are(ranks), where(last)), nil
	case len(ranks) == 1:
		return fmt.Sprintf("%s is %s", launch.RankNames(ranks), where(last)), nil
	}
	return fmt.Sprintf("all %d ranks%s that answer are %s: none is behind, so the library or the network hangs",
		len(ranks), whose, where(last)), nil
}

// stages are loop.Stage's words in the order in which an iteration passes them; "" is after its end.
var stages = []string{"synchronising the ranks", "issuing", "waiting for completion", "between operations"}

// compareStates is negative if a is behind b. States that cannot be told apart, such as two phases of one case without
// a Step, are equal.
func compareStates(a, b launch.State) int {
	if c := cmp.Compare(a.Number, b.Number); c != 0 {
		return c
	}
	// rank 0 is what they wait for
	if aWaits, bWaits := a.Phase == WaitForRank0, b.Phase == WaitForRank0; aWaits != bWaits {
		if aWaits {
			return 1
		}
		return -1
	}
	if c := cmp.Compare(a.Step, b.Step); c != 0 || a.Phase != b.Phase {
		return c
	}
	stage := func(s launch.State) int {
		if i := slices.Index(stages, s.Stage); i >= 0 {
			return i
		}
		return len(stages) - 1
	}
	return cmp.Or(cmp.Compare(a.Iteration, b.Iteration), cmp.Compare(stage(a), stage(b)))
}

// where says what a rank is doing: "at iteration 17 (issuing) of all_reduce … in phase latency for 61s".
func where(s launch.State) string {
	var b strings.Builder
	if s.Case != "" && (s.Iteration > 0 || s.Stage != "") {
		fmt.Fprintf(&b, "at %s %d ", counted(s), s.Iteration)
		if s.Stage != "" {
			fmt.Fprintf(&b, "(%s) ", s.Stage)
		}
		fmt.Fprintf(&b, "of %s, ", s.CaseName())
	}
	fmt.Fprintf(&b, "in phase %s", cmp.Or(s.Phase, "start"))
	if s.Case != "" && b.String()[0] == 'i' {
		fmt.Fprintf(&b, " of %s", s.CaseName())
	}
	if s.Since >= time.Second {
		fmt.Fprintf(&b, " for %s", s.Since.Round(time.Second))
	}
	return b.String()
}

// counted is what the iterations of a state are: those of a loop, or the segments and operations of a training step.
func counted(s launch.State) string {
	if s.Stage != "" && !slices.Contains(stages, s.Stage) {
		return "part"
	}
	return "iteration"
}

func are(ranks []launch.Report) string { return verb(ranks, "is", "are") }

func do(ranks []launch.Report) string { return verb(ranks, "does", "do") }

func verb(ranks []launch.Report, one, several string) string {
	if len(ranks) == 1 {
		return one
	}
	return several
}
