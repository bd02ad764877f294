package main

import (
	"fmt"
	"strings"
	"testing"
)

// want is a row as a test wants it: the verdict, and words of what was found.
type want struct {
	v     verdict
	words string
}

// expect compares rows with what is wanted of them.
func expect(t *testing.T, name string, rows []row, wants ...want) {
	t.Helper()
	if len(rows) != len(wants) {
		t.Errorf("%s: %d rows, want %d: %+v", name, len(rows), len(wants), rows)
		return
	}
	for i, w := range wants {
		r := rows[i]
		if r.Verdict != w.v || !strings.Contains(r.Found, w.words) {
			t.Errorf("%s: %s (%s), want %s (%q)", name, r.Verdict, r.Found, w.v, w.words)
		}
		if (r.Advice == "") != (r.Verdict == passed) {
			t.Errorf("%s: %s with the advice %q", name, r.Verdict, r.Advice)
		}
	}
}

// ranksOf makes perHost ranks on each of these hosts.
func ranksOf(perHost int, hosts ...string) (ranks []rankFacts) {
	for _, h := range hosts {
		for range perHost {
			ranks = append(ranks, rankFacts{Rank: len(ranks), Host: h, Machine: h, LocalRank: len(ranks) % perHost})
		}
	}
	return ranks
}

func TestMergeRows(t *testing.T) {
	ranks := ranksOf(2, "node1", "node2", "node3")
	free := func(n float64) row { return fine("memory", "%g GiB", n).least("free", n) }
	for name, c := range map[string]struct {
		rows  []row
		found string // of the merged rows
		where string
	}{
		"equal":           {[]row{fine("a", "x").on(0, 1), fine("a", "x").on(2, 3)}, "x", "node1 node2"},
		"of the world":    {[]row{fine("a", "x")}, "x", "node1 node2 node3"},
		"half a host":     {[]row{fine("a", "x").on(4), fine("a", "x").on(0), fine("a", "x").on(1)}, "x", "node1 rank 4 on node3"},
		"other words":     {[]row{fine("a", "x").on(0), fine("a", "y").on(1)}, "x y", "rank 0 on node1 rank 1 on node1"},
		"other checks":    {[]row{fine("a", "x").on(0, 1), fine("b", "x").on(0, 1)}, "x x", "node1 node1"},
		"other verdicts":  {[]row{fine("a", "x").on(0, 1), warn("a", "z", "x").on(2, 3)}, "x x", "node1 node2"},
		"other advice":    {[]row{warn("a", "y", "x").on(0, 1), warn("a", "z", "x").on(2, 3)}, "x x", "node1 node2"},
		"the least":       {[]row{free(9).on(0, 1), free(7).on(2, 3), free(8).on(4, 5)}, "7 GiB (on node2; better elsewhere)", "node1 node2 node3"},
		"equal amounts":   {[]row{free(9).on(0, 1), free(9).on(2, 3)}, "9 GiB", "node1 node2"},
		"another class":   {[]row{free(9).on(0, 1), free(8).least("other", 8).on(2, 3)}, "9 GiB 8 GiB", "node1 node2"},
		"a rank, not all": {[]row{fine("output", "x").on(0)}, "x", "rank 0 on node1"},
	} {
		var found, where []string
		for _, r := range mergeRows(c.rows, ranks) {
			found, where = append(found, r.Found), append(where, r.Where...)
		}
		if got := strings.Join(found, " "); got != c.found {
			t.Errorf("%s: found %q, want %q", name, got, c.found)
		}
		if got := strings.Join(where, " "); got != c.where {
			t.Errorf("%s: where %q, want %q", name, got, c.where)
		}
	}
}

func TestPlaceOfRow(t *testing.T) {
	ranks := ranksOf(2, "node1", "node2", "node3")
	for want, of := range map[string][]int{
		"": nil, "node1-node2": {0, 1, 2, 3}, "node1, node3": {5, 4, 0, 1}, "rank 3 on node2": {3}, "node3, ranks 0 on node1, 2 on node2": {0, 2, 4, 5},
	} {
		if got := (row{ranks: of}).place(ranks); got != want {
			t.Errorf("%v: %q, want %q", of, got, want)
		}
	}
	if got := (row{ranks: []int{0, 1, 2, 3, 4, 5}}).place(ranks); got != "" {
		t.Errorf("everywhere: %q", got)
	}
}

func TestHostRange(t *testing.T) {
	many := []string{}
	for i := range 20 {
		many = append(many, fmt.Sprintf("n%d", 3*i))
	}
	for want, hosts := range map[string][]string{
		"a": {"a"}, "node08-node11": {"node11", "node09", "node10", "node08"}, "n8-n10": {"n8", "n9", "n10"}, "n1, n3": {"n3", "n1"},
		"n01, n1": {"n1", "n01"}, "a1-a2, b1": {"b1", "a1", "a2"}, "ip-10-0-1-7-ip-10-0-1-8": {"ip-10-0-1-8", "ip-10-0-1-7"}, "b, x": {"x", "b"},
		"n0, n3, n6, n9, n12, n15, and 14 more": many, "": {},
	} {
		if got := hostRange(hosts); got != want {
			t.Errorf("%v: %q, want %q", hosts, got, want)
		}
	}
}
