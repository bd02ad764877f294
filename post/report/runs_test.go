package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// TestPlanOfAChain: what a run continues was planned once, and is left only where the last of the chain did not reach it.
func TestPlanOfAChain(t *testing.T) {
	first, second := runOf(1, "mpi", coll.AllReduce), runOf(2, "mpi", coll.AllReduce)
	first.records, first.end = first.records[:3], &result.End{Outcome: result.Interrupted, Why: result.Because(notice.RunSignalled{Signal: "SIGTERM"}), Left: 4}
	second.run.Resumes, second.run.Sweep.Points = []string{first.run.ID}, 4
	second.records = second.records[3:6]
	second.end = &result.End{Outcome: result.Aborted, Left: 1}
	r := build([]*made{first, second}, nil)
	if r.Plan.Planned != 7 || r.Plan.Left != 1 {
		t.Errorf("planned %d, left %d", r.Plan.Planned, r.Plan.Left)
	}
	if one := r.Runs[0]; one.Resume != "" || one.Left != 4 || one.Outcome != "interrupted" {
		t.Errorf("the first run: %+v", one)
	}
	if one := r.Runs[1]; !strings.HasSuffix(one.Resume, " --resume") || !slices.Equal(one.Resumes, []int{1}) {
		t.Errorf("the second run: %+v", one)
	}
	open := func(h Headline) bool {
		return h.Code() == "points-open" && strings.Contains(h.words(), "--resume: …")
	}
	if !slices.ContainsFunc(r.Headlines, open) {
		t.Errorf("headlines: %+v", r.Headlines)
	}
}

// TestCounts: records that another run stands for are told and counted nowhere else.
func TestCounts(t *testing.T) {
	m := runOf(1, "mpi", coll.AllReduce)
	miss(m.records[0], result.OOM, "")
	all := []*result.Run{m.run}
	b := newBuilder(all, Options{})
	for _, r := range m.records[:5] {
		b.add(result.Row{Run: m.run, Record: r})
	}
	b.addFile(&result.File{Path: "x", Run: *m.run, Points: 7, End: m.end})
	r := b.report(analysed{Curves: b.curves.Curves()})
	want := []Count{{"ok", 4}, {"oom", 1}, {"counted in another run or file", 2}}
	if !slices.Equal(r.Runs[0].Counts, want) || r.Plan.Planned != 5 {
		t.Errorf("%v, planned %d", r.Runs[0].Counts, r.Plan.Planned)
	}
}

// TestBanners: what takes the worth of figures away is said first, and nothing fast is said of it.
func TestBanners(t *testing.T) {
	for name, c := range map[string]struct {
		edit   func(*made)
		banner notice.Code
		fast   bool
	}{
		"measured":  {func(*made) {}, "", true},
		"simulated": {func(m *made) { m.run.Rehearse = true }, "simulated-runs", false},
		"crowded": {func(m *made) {
			m.run.Warnings = notice.Of(notice.Oversubscribed{Ranks: 4, Cores: 2, Host: "a"})
		}, "oversubscribed-runs", false},
		"wrong": {func(m *made) {
			first := &result.Wrong1{Rank: 3, Host: "node2", Want: "1", Got: "2"}
			m.records[2].Status, m.records[2].Check = result.Wrong, result.Check{Result: "wrong", First: first}
		}, "wrong-data", true},
	} {
		m := runOf(1, "mpi", coll.AllReduce)
		c.edit(m)
		r := build([]*made{m}, nil)
		if c.banner == "" && len(r.Banners) > 0 || c.banner != "" && (len(r.Banners) != 1 || r.Banners[0].Code() != c.banner) {
			t.Errorf("%s: %+v", name, r.Banners)
		}
		fast := slices.ContainsFunc(r.Headlines, func(h Headline) bool { return h.Code() == "best-bandwidth" })
		if fast != c.fast {
			t.Errorf("%s: %+v", name, r.Headlines)
		}
		if name == "wrong" && !strings.Contains(inWords(r.Banners[0]), "rank 3 (node2), element 0: 2, not 1") {
			t.Errorf("%s: %+v", name, r.Banners)
		}
	}
}

// TestFactsStandOnce: what all runs share is told once, and what differs with the runs.
func TestFactsStandOnce(t *testing.T) {
	var runs []*made
	for i := range 40 {
		m := runOf(i+1, "mpi", coll.AllReduce)
		m.run.Environment = map[string]string{"SAME": "1", "OTHER": []string{"a", "b"}[i/20], "EACH": m.run.ID}
		runs = append(runs, m)
	}
	values := map[string][]Value{}
	for _, f := range build(runs, nil).Environment {
		if f.Topic == "Variables" {
			values[f.Name] = f.Values
		}
	}
	if !slices.Equal(values["SAME"], []Value{{"1", ""}}) || !slices.Equal(values["OTHER"], []Value{{"a", "runs 1-20"}, {"b", "runs 21-40"}}) {
		t.Errorf("%v", values)
	}
	if each := values["EACH"]; len(each) != maxValues+1 || each[maxValues].Text != "and 28 other values" {
		t.Errorf("%v", each)
	}
}

func TestHostList(t *testing.T) {
	for want, hosts := range map[string][]string{
		"":                       nil,
		"login":                  {"login"},
		"node[1-3,7]":            {"node3", "node1", "node2", "node7"},
		"n[08-10], n100, x":      {"n08", "n09", "n10", "n100", "x"},
		"ip-10-0-0-[14-15], a.b": {"ip-10-0-0-14", "ip-10-0-0-15", "a.b"},
	} {
		if got := hostList(hosts); got != want {
			t.Errorf("%v: %q, want %q", hosts, got, want)
		}
	}
}

// TestImportedRunsThatDidNotEnd: a tool's log that breaks off is no complete run, and is told among the first.
func TestImportedRunsThatDidNotEnd(t *testing.T) {
	var runs []*made
	for i, outcome := range []result.Outcome{result.Complete, result.Aborted, result.Interrupted} {
		m := runOf(i+1, "nccl", coll.AllReduce)
		m.run.Imported = &result.Source{Tool: "nccl-tests", Format: "text", Path: "a.log"}
		m.end.Outcome = outcome
		runs = append(runs, m)
	}
	runs[1].end.Why = result.Because(notice.Recorded{Text: "an illegal memory access"})
	r := build(runs, nil)
	for i, want := range []string{"imported", "imported, aborted", "imported, interrupted"} {
		if r.Runs[i].Outcome != want {
			t.Errorf("run %d: %q, want %q", i+1, r.Runs[i].Outcome, want)
		}
	}
	want := notice.New(notice.ImportedUnfinished{Runs: 2, Ends: []notice.RunEnd{
		{Run: 2, Outcome: "aborted", Cause: notice.Kept{Fact: notice.Recorded{Text: "an illegal memory access"}}},
		{Run: 3, Outcome: "interrupted"}}})
	if !slices.ContainsFunc(r.Headlines, func(h Headline) bool { return want.Equal(h.Notice) }) {
		t.Errorf("headlines: %+v", r.Headlines)
	}
}

// TestRecordsAndPoints: where several records are one point of a curve, both numbers are told.
func TestRecordsAndPoints(t *testing.T) {
	one, two := runOf(1, "mpi", coll.AllReduce), runOf(2, "mpi", coll.AllReduce)
	want := notice.New(notice.RecordsCombined{Records: 14, Points: 7})
	if all := build([]*made{one, two}, nil).Quality.Notices; !slices.ContainsFunc(all, want.Equal) {
		t.Errorf("%+v", all)
	}
	if all := build([]*made{one}, nil).Quality.Notices; len(all) > 0 {
		t.Errorf("of one launch: %+v", all)
	}
}

// TestMissesByCode: points with the same reason are counted together, whatever its numbers are.
func TestMissesByCode(t *testing.T) {
	m := runOf(1, "mpi", coll.AllReduce, coll.AllGather)
	for i, host := range map[int]string{2: "left", 9: "right"} {
		first := &result.Wrong1{Rank: 3, Host: host, Want: "a", Got: "b" + host}
		m.records[i].Status, m.records[i].Check = result.Wrong, result.Check{Result: "wrong", First: first}
	}
	r := build([]*made{m}, nil)
	if all := r.Quality.Misses; len(all) != 1 || all[0].N != 2 || all[0].Status != "wrong" {
		t.Errorf("%+v", all)
	}
}

// TestRanksOfOnePlacement: a later launch that broke off and whose ranks lay elsewhere does not name the hosts of the
// sizes that it did not reach; one whose ranks lay alike leaves them.
func TestRanksOfOnePlacement(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		first, second := runOf(1, "mpi", coll.AllReduce), runOf(2, "mpi", coll.AllReduce)
		second.records = second.records[:2]
		want := len(first.records)
		if elsewhere {
			second.ranks[0].Host, second.ranks[3].Host = "node2", "node1"
			want = len(second.records)
		}
		r := build([]*made{first, second}, nil)
		if len(r.Heats) != 1 || len(r.Heats[0].Median) != want || len(r.Axes[r.Heats[0].Axis]) != want {
			t.Errorf("elsewhere %v: want %d sizes: %+v", elsewhere, want, r.Heats)
		}
	}
}

// TestTotals: of more runs than are listed, the head of the page has the number of all.
func TestTotals(t *testing.T) {
	var runs []*made
	for i := range maxRuns + 1 {
		m := runOf(i+1, "mpi", coll.AllReduce)
		m.run.ID = fmt.Sprint("run ", i)
		runs = append(runs, m)
	}
	var page strings.Builder
	if err := build(runs, nil).WritePage(&page); err != nil || !strings.Contains(page.String(), "501 runs · 1 curve · 7 points") {
		t.Errorf("%v: %.9000s", err, page.String())
	}
}

// TestSlowestIsOneThatIsSlow: the rank that takes longest by less than 1 % is not named.
func TestSlowestIsOneThatIsSlow(t *testing.T) {
	for times, want := range map[float64]string{1.009: "", 1.02: "3 node2 (+2.0 %)"} {
		m := runOf(1, "mpi", coll.AllReduce)
		for _, r := range m.records {
			r.Ranks.Median[3] = times * r.Ranks.Median[0]
		}
		if got := build([]*made{m}, nil).Heats[0].Slowest; got != want {
			t.Errorf("%g times as long: %q, want %q", times, got, want)
		}
	}
}

// TestMoreLatenessThanTimes: a file that tells how late more ranks were than it has times of is read all the same.
func TestMoreLatenessThanTimes(t *testing.T) {
	m := runOf(1, "mpi", coll.AllReduce)
	for _, r := range m.records {
		r.Ranks.Late = append(r.Ranks.Late, 9e-6)
	}
	if h := build([]*made{m}, nil).Heats[0]; len(h.Ranks) != 5 || !strings.HasPrefix(h.Latest, "4 (9.000 us)") {
		t.Errorf("%+v", h)
	}
}

// TestOthersThatReachLess: contenders that are too many for a sentence each are counted.
func TestOthersThatReachLess(t *testing.T) {
	for n, want := range map[int]string{
		mostFastest: "", mostFastest + 1: "(1 other lower)", mostFastest + 2: "(2 others lower)",
	} {
		var runs []*made
		for i := range n {
			m := runOf(i+1, "mpi", coll.AllReduce)
			m.run.Variant = fmt.Sprint("v", i)
			runs = append(runs, m)
		}
		headlines := build(runs, nil).Headlines
		last := headlines[mostFastest-1].words()
		if want == "" && strings.Contains(last, "lower)") || !strings.Contains(last, want) {
			t.Errorf("%d contenders: %q, want %q", n, last, want)
		}
	}
}

// TestWhatASourceDoesNotTell: a type and a placement that another tool's file lacks are left out, and not made up.
func TestWhatASourceDoesNotTell(t *testing.T) {
	m := runOf(1, "nccl", coll.AllGather)
	m.run.Imported = &result.Source{Tool: "some tool"}
	for _, r := range m.records {
		r.Type, r.Placement = 0, 0
	}
	r := build([]*made{m}, nil)
	if f := r.Families[0]; f.Type != "" || f.Op != "" || f.Placement != "" {
		t.Errorf("%+v", f)
	}
	if h := r.Headlines[0]; h.Code() != "best-bandwidth" || strings.Contains(h.words(), "float32") ||
		strings.Contains(h.words(), "place") {
		t.Errorf("%+v", h)
	}
}
