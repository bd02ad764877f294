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
	WaitForRank0  = "wait for rank 0"           // until it announces the next case
	WaitOutside   = "wait for the sub-world"    // until those who measure in it are done
	LeaveWorld    = "leave the sub-world"       // the end of it, where they meet
	WaitForGroups = "wait for the other groups" // until those are done with the case
)

// PhaseFinalize is the phase of a rank that has nothing more to do.
const PhaseFinalize = "finalize"

// mostHung is how many ranks of each standing are parameters of a hang.
const mostHung = 64

// Diagnose names the ranks that did not arrive, from what is known of the other ranks and what this one is doing: first
// those that exited or do not answer, else those that are behind the others. It also states if no rank is behind,
// and which ranks are unknown.
func Diagnose(reports []launch.Report, me launch.State) (f notice.RunHung) {
	by := map[launch.Standing][]launch.Report{
		launch.Answered: {{Rank: me.Rank, Host: me.Host, Standing: launch.Answered, State: me}},
	}
	for _, r := range reports {
		by[r.Standing] = append(by[r.Standing], r)
	}
	lost := slices.SortedFunc(slices.Values(slices.Concat(by[launch.Gone], by[launch.Silent])), compareRank)
	var parts []string
	add := func(ranks []launch.Report, one, several, rest string) {
		if len(ranks) > 0 {
			parts = append(parts, subject(ranks, one, several)+rest)
		}
	}
	add(by[launch.Gone], "exited", "exited", " (killed, crashed, or the host is down)")
	add(by[launch.Silent], "does", "do", " not answer (stopped, starved, swapping, or the host or its network is down)")
	parts = append(parts, lastHeard(lost)...)
	add(by[launch.Left], "ended", "ended", " before the others")
	inside, outside := partition(by[launch.Answered], func(s launch.State) bool {
		return s.Phase != WaitOutside && s.Phase != WaitForGroups // no rank waits for those
	})
	inside, going := longestGroup(inside)
	whose := ""
	if len(outside)+len(going) > 0 {
		whose = " of the sub-world"
	}
	said, behind := progress(inside, len(parts) > 0, whose)
	parts = append(parts, said)
	for _, group := range []struct {
		why   notice.Standing
		ranks []launch.Report
	}{
		{notice.StandingGone, by[launch.Gone]}, {notice.StandingSilent, by[launch.Silent]},
		{notice.StandingLeft, by[launch.Left]}, {notice.StandingBehind, behind},
	} {
		for _, r := range group.ranks[:min(len(group.ranks), mostHung)] {
			f.Ranks = append(f.Ranks, notice.HungRank{PlacedRank: notice.PlacedRank{Rank: r.Rank, Host: r.Host},
				Standing: group.why, Phase: r.State.Phase, Case: r.State.CaseName(), Iteration: r.State.Iteration})
		}
	}
	add(going, "is", "are", " in other groups")
	add(outside, "is", "are", " outside of the sub-world until its end")
	hidden := by[launch.Unreachable]
	switch {
	case len(hidden) > 0 && len(lost) > 0 && lost[0].Rank == 0:
		parts = append(parts, "no report from "+launch.RankNames(hidden)+": no side channel to them without rank 0")
	case len(hidden) > 0:
		parts = append(parts, "no report from "+launch.RankNames(hidden)+
			": no side channel (a firewall between the hosts?); their hosts report them on stderr")
	case len(reports) == 0:
		parts = append(parts, "the state of other ranks is unknown")
	}
	parts = append(parts, lastWords(by[launch.Answered])...)
	if me.Limit > 0 {
		parts = append(parts, fmt.Sprintf("limit of this phase: %v, %d times its expected time",
			me.Limit.Round(time.Second), watchTimes))
	}
	f.Problem = strings.Join(parts, "; ")
	return f
}

// subject is ranks as the subject of a sentence with its verb.
func subject(ranks []launch.Report, one, several string) string {
	if len(ranks) == 1 {
		several = one
	}
	return launch.RankNames(ranks) + " " + several
}

// partition separates the ranks whose state is as asked from the others.
func partition(ranks []launch.Report, asked func(launch.State) bool) (yes, no []launch.Report) {
	for _, r := range ranks {
		if asked(r.State) {
			yes = append(yes, r)
		} else {
			no = append(no, r)
		}
	}
	return yes, no
}

// longestGroup separates the ranks of the group that has been in one phase for longest from those of other groups,
// which measure the same at the same time and are no measure of it. Ranks between cases, and all where there are no
// groups, are of any.
func longestGroup(ranks []launch.Report) (inside, going []launch.Report) {
	longest := ""
	var since time.Duration = -1
	anyGroup := func(s launch.State) bool { return s.Group == "" || strings.HasPrefix(s.Group, launch.Joint) }
	for _, r := range ranks {
		if !anyGroup(r.State) && r.State.Since > since {
			longest, since = r.State.Group, r.State.Since
		}
	}
	return partition(ranks, func(s launch.State) bool { return anyGroup(s) || s.Group == longest })
}

// mostTexts is how many ranks have a text of their own in a diagnosis.
const mostTexts = 4

// lastWords are what the library reported last on each rank, each text once, with the lowest rank that has it.
func lastWords(ranks []launch.Report) (parts []string) {
	known := map[string]bool{"": true}
	for _, r := range slices.SortedFunc(slices.Values(ranks), compareRank) {
		if s := r.State.LibraryError; !known[s] && len(parts) < mostTexts {
			known[s] = true
			parts = append(parts, fmt.Sprintf("the library on rank %d reports: %s", r.Rank,
				strings.ReplaceAll(s, "\n", " ")))
		}
	}
	return parts
}

// lastHeard is what ranks that are silent now did last, where this host's memory shows it.
func lastHeard(ranks []launch.Report) (parts []string) {
	for _, r := range ranks {
		if r.State.Phase == "" || len(parts) == mostTexts {
			continue
		}
		text := fmt.Sprintf("rank %d last reported %s ago, %s", r.Rank, r.Silence.Round(time.Second),
			where(r.State, 1))
		if r.Standing == launch.Silent && r.Process != "" {
			text += ": its process is " + r.Process
		}
		parts = append(parts, text)
	}
	return parts
}

func compareRank(a, b launch.Report) int { return cmp.Compare(a.Rank, b.Rank) }

// progress compares those that answered, and returns the ranks that are behind. If a culprit is found already, it only
// states where the others are. whose is what they are all ranks of.
func progress(ranks []launch.Report, found bool, whose string) (text string, late []launch.Report) {
	slices.SortStableFunc(ranks, func(a, b launch.Report) int { return compareStates(a.State, b.State) })
	last := ranks[len(ranks)-1].State
	behind, front := partition(ranks, func(s launch.State) bool { return compareStates(ranks[0].State, s) == 0 })
	switch {
	case len(front) > 0:
		at := where(last, len(front))
		if compareStates(front[0].State, last) != 0 {
			at += " or before it"
		}
		return subject(behind, "is", "are") + " still " + where(behind[0].State, len(behind)) + ", while " +
			subject(front, "is", "are") + " " + at, behind
	case found || len(ranks) == 1:
		return subject(ranks, "is", "are") + " " + where(last, len(ranks)), nil
	}
	return fmt.Sprintf("all %d ranks%s that answer are %s: none is behind, so the library or the network hangs",
		len(ranks), whose, where(last, len(ranks))), nil
}

// stages are loop.Stage's words in the order in which an iteration passes them; "" is after its end.
var stages = []string{"synchronising the ranks", "issuing", "waiting for completion", "between operations"}

// compareStates is negative if a is behind b. States without a known order, such as two phases of one case without
// a Step, are equal.
func compareStates(a, b launch.State) int {
	waits := func(s launch.State) int { // for rank 0, which then is what they wait for
		if s.Phase == WaitForRank0 {
			return 1
		}
		return 0
	}
	c := cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(waits(a), waits(b)), cmp.Compare(a.Step, b.Step))
	if c != 0 || a.Phase != b.Phase {
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

// where is what so many ranks are doing: "at iteration 17 (issuing) of all_reduce … in phase latency for 61s".
func where(s launch.State, ranks int) string {
	if ranks > 1 && strings.HasPrefix(s.Group, launch.Joint) { // each is in groups of its own
		s.Group = ""
	}
	text := "in phase " + cmp.Or(s.Phase, "start")
	switch {
	case s.Case == "":
	case s.Iteration == 0 && s.Stage == "":
		text += " of " + s.CaseName()
	default:
		counted, stage := "iteration", ""
		if s.Stage != "" {
			stage = " (" + s.Stage + ")"
			if !slices.Contains(stages, s.Stage) { // a segment or an operation of a training step
				counted = "part"
			}
		}
		text = fmt.Sprintf("at %s %d%s of %s, %s", counted, s.Iteration, stage, s.CaseName(), text)
	}
	if s.Since >= time.Second {
		text += " for " + s.Since.Round(time.Second).String()
	}
	return text
}
