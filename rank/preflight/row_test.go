package preflight

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"busbar/internal/golden"
	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
	"busbar/rank/launch"

	"github.com/shoenig/test"
)

// expect compares rows with those in testdata/rows (-update writes them anew): the verdict, the code and the parameters
// of each. A row has advice if it did not pass.
func expect(t *testing.T, name string, rows []Row) {
	t.Helper()
	var got []string
	for _, r := range rows {
		got = append(got, lineOf(t, r))
		test.EqOp(t, verdicts[r.Severity] == Passed, r.todo() == "", test.Sprint(name, r))
	}
	golden.Lines(t, filepath.Join("testdata", "rows", t.Name()+".txt"), name, got)
}

func lineOf(t *testing.T, r Row) string {
	t.Helper()
	fact, err := json.Marshal(notice.Kept{Fact: r.Fact})
	test.NoError(t, err)
	return fmt.Sprintf("%s %s", verdicts[r.Severity], fact)
}

// ranksOf returns perHost ranks on each of these hosts.
func ranksOf(perHost int, hosts ...string) (ranks []launch.RankFacts) {
	for _, h := range hosts {
		for range perHost {
			ranks = append(ranks, launch.RankFacts{Rank: len(ranks), Host: h, Machine: h,
				LocalRank: len(ranks) % perHost})
		}
	}
	return ranks
}

func TestMergeRows(t *testing.T) {
	ranks := ranksOf(2, "node1", "node2", "node3")
	pages := func(setting string) Row { return Found("a", preflights.OutputFolder{Folder: setting}) }
	free := func(n float64) Row {
		return Found("memory", preflights.CPULoad{Load: preflights.Load(n)}).smallest("free", n)
	}
	for name, rows := range map[string][]Row{
		"equal":            {pages("x").On(0, 1), pages("x").On(2, 3)},
		"of the world":     {pages("x")},
		"half a host":      {pages("x").On(4), pages("x").On(0), pages("x").On(1)},
		"other parameters": {pages("x").On(0), pages("y").On(1)},
		"other checks":     {pages("x").On(0, 1), Found("b", preflights.OutputFolder{Folder: "x"}).On(0, 1)},
		"other severities": {pages("x").On(0, 1), pages("x").graded(notice.Error).On(2, 3)},
		"other codes":      {Found("a", preflights.OwnGPUs{}).On(0, 1), Found("a", preflights.ACSHidden{}).On(2, 3)},
		"the smallest":     {free(9).On(0, 1), free(7).On(2, 3), free(8).On(4, 5)},
		"smallest of two":  {free(7).On(0, 1), free(8).On(2, 3)},
		"equal amounts":    {free(9).On(0, 1), free(9).On(2, 3), free(9).On(4, 5)},
		"another class":    {free(9).On(0, 1), free(8).smallest("other", 8).On(2, 3)},
		"a rank, not all":  {Found("output", preflights.OutputFolder{}).On(0)},
	} {
		var got []string
		for _, r := range mergeRows(rows, ranks) {
			got = append(got, fmt.Sprintf("%q %q %s", r.where(ranks), r.At.Subject, lineOf(t, r)))
		}
		golden.Lines(t, "testdata/rows/TestMergeRows.txt", name, got)
	}
	if rows := []Row{free(9).On(0), free(7).On(1)}; slices.Equal(mergeRows(rows, ranks)[0].ranks,
		rows[0].ranks) || len(rows[0].ranks) != 1 {
		t.Error("the rows themselves were changed")
	}
}
