package preflight

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"busbar/internal/notice"
	"busbar/internal/notice/preflights"
	"busbar/rank/launch"

	"github.com/shoenig/test"
)

// want is the fact of an expected row, which has the severity of the catalogue.
type want = notice.Fact

// graded is a fact with another severity.
type graded struct {
	v Verdict
	notice.Fact
}

// coded represents any fact of a code.
type coded notice.Code

func (c coded) Code() notice.Code { return notice.Code(c) }

// expect compares rows with the expected ones.
func expect(t *testing.T, name string, rows []Row, wants ...want) {
	t.Helper()
	if len(rows) != len(wants) {
		t.Errorf("%s: %d rows, want %d: %+v", name, len(rows), len(wants), rows)
		return
	}
	for i, fact := range wants {
		r := rows[i]
		g, is := fact.(graded)
		if is {
			fact = g.Fact
		}
		code, v := notice.CodeOf(fact), verdicts[notice.New(fact).Severity]
		if is {
			v = g.v
		}
		_, any := fact.(coded)
		if verdicts[r.Severity] != v || r.Code() != code || !any && !reflect.DeepEqual(r.Fact, fact) {
			t.Errorf("%s: %s, %s %+v, want %s, %s %+v", name, verdicts[r.Severity], r.Code(), r.Fact, v, code,
				fact)
		}
		if (r.todo() == "") != (v == Passed) {
			t.Errorf("%s: %s with the advice %q", name, v, r.todo())
		}
	}
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
	for name, c := range map[string]struct {
		rows  []Row
		shown []int  // rows whose facts are shown
		where string // of the merged rows
		place string
	}{
		"equal":        {[]Row{pages("x").On(0, 1), pages("x").On(2, 3)}, []int{0}, "node1 node2", "node1-node2"},
		"of the world": {[]Row{pages("x")}, []int{0}, "node1 node2 node3", ""},
		"half a host": {[]Row{pages("x").On(4), pages("x").On(0), pages("x").On(1)}, []int{0},
			"node1 rank 4 on node3",
			"node1, rank 4 on node3"},
		"other parameters": {[]Row{pages("x").On(0), pages("y").On(1)}, []int{0, 1},
			"rank 0 on node1 rank 1 on node1",
			"rank 0 on node1|rank 1 on node1"},
		"other checks": {[]Row{pages("x").On(0, 1), Found("b", preflights.OutputFolder{Folder: "x"}).On(0, 1)},
			[]int{0, 1},
			"node1 node1",
			"node1|node1"},
		"other severities": {[]Row{pages("x").On(0, 1), pages("x").graded(notice.Error).On(2, 3)}, []int{0, 1},
			"node1 node2", "node1|node2"},
		"other codes": {[]Row{Found("a", preflights.OwnGPUs{}).On(0, 1), Found("a", preflights.ACSHidden{}).On(2, 3)},
			[]int{0,
				1}, "node1 node2", "node1|node2"},
		"the smallest": {[]Row{free(9).On(0, 1), free(7).On(2, 3), free(8).On(4, 5)}, []int{1}, "node1 node2 node3",
			"worst on node2"},
		"smallest of two": {[]Row{free(7).On(0, 1), free(8).On(2, 3)}, []int{0}, "node1 node2",
			"node1-node2, worst on node1"},
		"equal amounts": {[]Row{free(9).On(0, 1), free(9).On(2, 3), free(9).On(4, 5)}, []int{0}, "node1 node2 node3",
			""},
		"another class": {[]Row{free(9).On(0, 1), free(8).smallest("other", 8).On(2, 3)}, []int{0, 1}, "node1 node2",
			"node1|node2"},
		"a rank, not all": {[]Row{Found("output", preflights.OutputFolder{}).On(0)}, []int{0}, "rank 0 on node1",
			"rank 0 on node1"},
	} {
		var where, place []string
		merged := mergeRows(c.rows, ranks)
		if len(merged) != len(c.shown) {
			t.Errorf("%s: %d rows: %+v", name, len(merged), merged)
			continue
		}
		for i, r := range merged {
			where, place = append(where, r.where(ranks)...), append(place, r.At.Subject)
			test.Eq(t, c.rows[c.shown[i]].Fact, r.Fact, test.Sprint(name, i))
		}
		test.EqOp(t, c.where, strings.Join(where, " "), test.Sprint(name))
		test.EqOp(t, c.place, strings.Join(place, "|"), test.Sprint(name))
	}
	if rows := []Row{free(9).On(0), free(7).On(1)}; slices.Equal(mergeRows(rows, ranks)[0].ranks,
		rows[0].ranks) || len(rows[0].ranks) != 1 {
		t.Error("the rows themselves were changed")
	}
}
