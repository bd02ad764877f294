package hang

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"busbar/internal/golden"
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

// A diagnosis names the ranks that others wait for: exited, silent, left and behind.
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
	grouped := func(rank int, group string, since time.Duration) launch.Report {
		r := at(rank, 18, "issuing")
		r.State.Group, r.State.Since = group, since
		return r
	}
	older := in(1, "latency", 6, 4)
	older.State.Case = "all_reduce float32 32 KiB"
	noCase := in(1, "MPI_Init", 0, 0)
	noCase.State.Case = ""
	var crowd []string
	for rank := 1; rank <= 9; rank++ {
		crowd = append(crowd, fmt.Sprint(rank, " 17 issuing"))
	}
	for name, ranks := range map[string][]launch.Report{ // rank 0 first
		"stopped":         reports("0 18 issuing, 1 Silent, 2 18 issuing"),
		"killed":          reports("0 18 issuing, 1 Gone"),
		"gone and silent": reports("0 18 issuing, 1 Silent, 2 Gone, 3 Silent"),
		"lost":            reports("0 18 issuing, 1 Silent, 2 Gone, 3 Left"),
		"the library's word": {says(at(0, 0, ""), "waiting for rank 2\nto connect"),
			says(at(1, 0, ""), "waiting for rank 2\nto connect"), at(2, 0, "")},
		"left":                                  reports("0 18 issuing, 1 Left"),
		"an iteration behind":                   reports("0 18 issuing, 1 18 issuing, 2 17 issuing"),
		"a stage behind":                        reports("0 17 issuing, 1 17 synchronising the ranks"),
		"done with an iteration is ahead of it": reports("0 17, 1 17 waiting for completion"),
		"rank 0 itself":                         reports("0 16 issuing, 1 17 issuing, 2 19 issuing"),
		"a case behind, iterations ahead":       {in(0, "check", 8, 1), at(1, 5000, "issuing")},
		"a step behind":                         {in(0, "warm-up", 7, 3), in(1, "check", 7, 2)},
		"phases that do not compare":            {at(0, 18, "issuing"), in(1, "check", 7, 4)},
		"no rank is behind":                     reports("0 18 issuing, 1 18 issuing, 2 18 issuing"),
		"firewall": {at(0, 18, "issuing"), {Rank: 1, Standing: launch.Unreachable},
			{Rank: 2, Standing: launch.Unreachable}},
		"rank 0 is lost, and with it the side channel of others": {at(1, 18, "issuing"), known(0, launch.Silent),
			{Rank: 2, Standing: launch.Unreachable}},
		"no hub":     reports("0 18 issuing"),
		"before any": {noCase, known(2, launch.Silent)},
		// However many records it has written since.
		"rank 0, which the others wait for": {in(0, "write the record", 7, 40), waits},
		"outside, one behind":               {at(0, 18, "issuing"), at(1, 17, "issuing"), outside},
		"outside, none behind":              {at(0, 18, "issuing"), at(1, 18, "issuing"), outside},
		"a case behind, no groups":          {at(0, 18, "issuing"), older},
		"other groups are no measure": {grouped(0, "a+b", time.Minute), grouped(1, "a+b", time.Second),
			grouped(2, "c+d", time.Second)},
		"many behind": reports("0 18 issuing, " + strings.Join(crowd, ", ")),
	} {
		text, err := json.Marshal(Diagnose(ranks[1:], ranks[0].State))
		test.NoError(t, err)
		golden.Lines(t, "testdata/diagnoses.txt", name, []string{string(text)})
	}
}
