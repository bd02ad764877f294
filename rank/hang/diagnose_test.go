package hang

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"busbar/internal/notice"
	"busbar/rank/launch"

	"github.com/shoenig/test"
)

const hungCase = "all_reduce float32 64 KiB"

func at(rank int, iteration uint64, stage string) launch.Report {
	s := launch.State{Rank: rank, Host: fmt.Sprintf("node%02d", rank), Phase: "latency", Number: 7, Case: hungCase,
		Step: 4, Iteration: iteration,
		Stage: stage, Since: 61 * time.Second}
	return launch.Report{Rank: rank, Host: s.Host, PID: 1000 + rank, Standing: launch.Answered, State: s}
}

func known(rank int, s launch.Standing) launch.Report {
	return launch.Report{Rank: rank, Host: fmt.Sprintf("node%02d", rank), PID: 1000 + rank, Standing: s}
}

// reports reads "0 18 issuing, 1 Silent": ranks at an iteration and a stage of it, or known to be something else.
func reports(text string) (all []launch.Report) {
	other := map[string]launch.Standing{"Silent": launch.Silent, "Gone": launch.Gone, "Left": launch.Left}
	for entry := range strings.SplitSeq(text, ", ") {
		words := strings.SplitN(entry+" ", " ", 3)
		rank, _ := strconv.Atoi(words[0])
		iteration, err := strconv.Atoi(words[1])
		if err != nil {
			all = append(all, known(rank, other[words[1]]))
			continue
		}
		all = append(all, at(rank, uint64(iteration), strings.TrimSpace(words[2])))
	}
	return all
}

func TestNameHang(t *testing.T) {
	in := func(rank int, phase string, number, step uint64) launch.Report {
		r := at(rank, 0, "")
		r.State.Phase, r.State.Number, r.State.Step = phase, number, step
		return r
	}
	says := func(r launch.Report, text string) launch.Report {
		r.State.LibraryError = text
		return r
	}
	waits, outside := in(1, WaitForRank0, 7, 1), in(2, WaitOutside, 0, 0)
	const end = "; rank 2 on node02 is outside of the sub-world until its end"
	grouped := func(rank int, group string, since time.Duration) launch.Report {
		r := at(rank, 18, "issuing")
		r.State.Group, r.State.Since = group, since
		return r
	}
	older := in(1, "latency", 6, 4)
	older.State.Case = "all_reduce float32 32 KiB"
	noCase := in(1, "MPI_Init", 0, 0)
	noCase.State.Case = ""
	for name, c := range map[string]struct {
		ranks []launch.Report // rank 0 first
		want  []string
		not   []string
	}{
		"stopped": {
			reports("0 18 issuing, 1 Silent, 2 18 issuing"),
			[]string{"rank 1 on node01 (pid 1001) does not answer",
				"ranks 0 on node00, 2 on node02 are at iteration 18 (issuing) of " + hungCase,
				"in phase latency for 1m1s"},
			[]string{"rank 2 on node02 is still"},
		},
		"killed": {
			reports("0 18 issuing, 1 Gone"),
			[]string{"rank 1 on node01 (pid 1001) exited", hungCase}, nil,
		},
		"gone and silent": {
			reports("0 18 issuing, 1 Silent, 2 Gone, 3 Silent"),
			[]string{"rank 2 on node02 (pid 1002) exited",
				"ranks 1 on node01 (pid 1001), 3 on node03 (pid 1003) do not answer"}, nil,
		},
		"the library's word": {
			[]launch.Report{says(at(0, 0, ""), "waiting for rank 2\nto connect"),
				says(at(1, 0, ""), "waiting for rank 2\nto connect"), at(2, 0, "")},
			[]string{"the library on rank 0 reports: waiting for rank 2 to connect"}, []string{"the library on rank 1"},
		},
		"left": {
			reports("0 18 issuing, 1 Left"),
			[]string{"rank 1 on node01 (pid 1001) ended before the others"}, nil,
		},
		"an iteration behind": {
			reports("0 18 issuing, 1 18 issuing, 2 17 issuing"),
			[]string{"rank 2 on node02 is still at iteration 17 (issuing) of " + hungCase,
				"while ranks 0 on node00, 1 on node01 are at iteration 18"}, nil,
		},
		"a stage behind": {
			reports("0 17 issuing, 1 17 synchronising the ranks"),
			[]string{"rank 1 on node01 is still at iteration 17 (synchronising the ranks)"}, nil,
		},
		"done with an iteration is ahead of it": {
			reports("0 17, 1 17 waiting for completion"), []string{"rank 1 on node01 is still"},
			nil,
		},
		"rank 0 itself": {
			reports("0 16 issuing, 1 17 issuing, 2 19 issuing"),
			[]string{"rank 0 on node00 is still at iteration 16", "are at iteration 19 (issuing) of " + hungCase,
				"or before it"}, nil,
		},
		"a case behind, iterations ahead": {
			[]launch.Report{in(0, "check", 8, 1), at(1, 5000, "issuing")},
			[]string{"rank 1 on node01 is still at iteration 5000", "in phase check of " + hungCase}, nil,
		},
		"a step behind": {
			[]launch.Report{in(0, "warm-up", 7, 3), in(1, "check", 7, 2)},
			[]string{"rank 1 on node01 is still in phase check of " + hungCase}, nil,
		},
		"phases that do not compare": {
			[]launch.Report{at(0, 18, "issuing"), in(1, "check", 7, 4)}, []string{"none is behind"}, []string{"still"},
		},
		"no rank is behind": {
			reports("0 18 issuing, 1 18 issuing, 2 18 issuing"),
			[]string{"all 3 ranks that answer are at iteration 18", "the library or the network hangs"},
			[]string{"still"},
		},
		"firewall": {
			[]launch.Report{at(0, 18, "issuing"), {Rank: 1, Standing: launch.Unreachable},
				{Rank: 2, Standing: launch.Unreachable}},
			[]string{"rank 0 on node00 is at iteration 18", "no report from ranks 1, 2: no side channel"},
			[]string{"still"},
		},
		"rank 0 is lost, and with it the side channel of others": {
			[]launch.Report{at(1, 18, "issuing"), known(0, launch.Silent), {Rank: 2, Standing: launch.Unreachable}},
			[]string{"rank 0 on node00 (pid 1000) does not answer",
				"no report from rank 2: no side channel to them without rank 0"},
			[]string{"firewall"},
		},
		"no hub": {reports("0 18 issuing"),
			[]string{"rank 0 on node00 is at iteration 18", "the state of other ranks is unknown"}, nil},
		"before any": {[]launch.Report{noCase, known(2, launch.Silent)},
			[]string{"rank 2 on node02", "is in phase MPI_Init for 1m1s"}, []string{"iteration", " of "}},
		// However many records it has written since.
		"rank 0, which the others wait for": {[]launch.Report{in(0, "write the record", 7, 40), waits},
			[]string{"rank 0 on node00 is still in phase write the record"}, nil},
		"outside, one behind": {[]launch.Report{at(0, 18, "issuing"), at(1, 17, "issuing"), outside},
			[]string{"rank 1 on node01 is still at iteration 17", end}, nil},
		"outside, none behind": {[]launch.Report{at(0, 18, "issuing"), at(1, 18, "issuing"), outside},
			[]string{"all 2 ranks of the sub-world that answer are at iteration 18", end}, nil},
		"a case behind, no groups": {[]launch.Report{at(0, 18, "issuing"), older},
			[]string{"rank 1 on node01 is still"}, []string{"group"}},
		"other groups are no measure": {[]launch.Report{grouped(0, "a+b", time.Minute), grouped(1, "a+b", time.Second),
			grouped(2, "c+d", time.Second)}, []string{"all 2 ranks of the sub-world that answer"},
			[]string{"rank 2 on node02 is still"}},
		"many behind": {append(reports("0 18 issuing"), crowdAt(1, 9, 17)...),
			[]string{"1 on node01, 2 on node02, 3 on node03, 4 on node04 and 5 more are still"}, []string{"node05"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := Diagnose(c.ranks[1:], c.ranks[0].State).Problem
			for _, w := range c.want {
				test.StrContains(t, got, w)
			}
			for _, w := range c.not {
				test.StrNotContains(t, got, w)
			}
		})
	}
}

func crowdAt(from, to int, iteration uint64) (all []launch.Report) {
	for rank := from; rank <= to; rank++ {
		all = append(all, at(rank, iteration, "issuing"))
	}
	return all
}

// The notice has the ranks that others wait for as parameters: exited, silent, left and behind.
func TestHungRanks(t *testing.T) {
	for name, c := range map[string]struct {
		ranks []launch.Report
		want  []notice.HungRank
	}{
		"behind": {reports("0 18 issuing, 1 18 issuing, 2 17 issuing"), []notice.HungRank{
			{PlacedRank: notice.PlacedRank{Rank: 2, Host: "node02"}, Standing: notice.StandingBehind, Phase: "latency",
				Case: hungCase, Iteration: 17}}},
		"lost": {reports("0 18 issuing, 1 Silent, 2 Gone, 3 Left"), []notice.HungRank{
			{PlacedRank: notice.PlacedRank{Rank: 2, Host: "node02"}, Standing: notice.StandingGone},
			{PlacedRank: notice.PlacedRank{Rank: 1, Host: "node01"}, Standing: notice.StandingSilent},
			{PlacedRank: notice.PlacedRank{Rank: 3, Host: "node03"}, Standing: notice.StandingLeft}}},
		"no rank": {reports("0 18 issuing, 1 18 issuing"), nil},
	} {
		test.SliceEqOp(t, c.want, Diagnose(c.ranks[1:], c.ranks[0].State).Ranks, test.Sprint(name))
	}
}
