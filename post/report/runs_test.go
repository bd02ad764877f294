package report

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/result"
	"busbar/post/analysis"
)

// TestPlanOfResumedRuns: what a run continues was planned once, and is left only where the last of the chain did not
// reach it.
func TestPlanOfResumedRuns(t *testing.T) {
	first, second := runOf(1, "mpi", coll.AllReduce), runOf(2, "mpi", coll.AllReduce)
	first.records, first.end = first.records[:3], &result.End{
		Outcome: result.Interrupted, Why: result.Because(notice.RunSignalled{Signal: "SIGTERM"}), Left: 4,
	}
	second.run.Resumes, second.run.Sweep.Points = []string{first.run.ID}, 4
	second.records = second.records[3:6]
	second.end = &result.End{Outcome: result.Aborted, Left: 1}
	r := build([]*made{first, second}, nil)
	if r.Plan.Planned != 7 || r.Plan.Left != 1 {
		t.Errorf("planned %d, left %d", r.Plan.Planned, r.Plan.Left)
	}
	if g := r.runs[0]; g.open() || g.left() != 4 || outcomeOf(g) != "interrupted" {
		t.Errorf("the first run: %+v", g)
	}
	if g := r.runs[1]; !g.open() || !slices.Equal(g.resumes, []int{1}) {
		t.Errorf("the second run: %+v", g)
	}
	want := notice.New(notice.PointsOpen{
		Points: notice.OpenPoints{Left: 1}, Runs: notice.Runs{Numbers: []int{2}, Of: 2},
		Command: `rank --backend mpi --note 'it'\''s' --resume`,
	})
	if !slices.ContainsFunc(r.Headlines, func(h Headline) bool { return want.Equal(h.Notice) }) {
		t.Errorf("headlines: %+v", r.Headlines)
	}
}

// TestCounts: a record that is in another run or file counts once.
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
	want := "4 ok, 1 oom, 2 counted in another run or file"
	if got := r.runs[0].countWords(); got != want || r.Plan.Planned != 5 {
		t.Errorf("%s, planned %d", got, r.Plan.Planned)
	}
}

// TestBanners: what invalidates values comes first, and then no bandwidth is a headline.
func TestBanners(t *testing.T) {
	for name, c := range map[string]struct {
		edit   func(*made)
		banner notice.Code
		fast   bool
	}{
		"measured": {func(*made) {}, "", true},
		"loaded": {func(m *made) {
			m.run.Warnings = notice.Of(notice.HostLoad{Host: "node1", Load: 3.5})
		}, "host-load", true},
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
		if c.banner == "" && len(r.Banners) > 0 ||
			c.banner != "" && (len(r.Banners) != 1 || r.Banners[0].Code() != c.banner) {
			t.Errorf("%s: %+v", name, r.Banners)
		}
		fast := slices.ContainsFunc(r.Headlines, func(h Headline) bool { return h.Code() == "best-bandwidth" })
		if fast != c.fast {
			t.Errorf("%s: %+v", name, r.Headlines)
		}
		if wrong, is := firstBanner(r).(notice.WrongData); is &&
			(wrong.First.Rank != 3 || wrong.First.Host != "node2") {
			t.Errorf("%s: %+v", name, wrong)
		}
	}
}

// TestFactsOfManyRuns: a fact that all runs share is listed once, and one that differs with its runs.
func TestFactsOfManyRuns(t *testing.T) {
	var runs []*made
	for i := range 40 {
		m := runOf(i+1, "mpi", coll.AllReduce)
		m.run.Environment = map[string]string{
			"SAME": "1", "OMPI_MCA_ess": "x", "PMIX_RANK": "0", "OTHER": []string{"a", "b"}[i/20], "EACH": m.run.ID,
		}
		runs = append(runs, m)
	}
	values := map[string][]*factValue{}
	for _, f := range build(runs, nil).environment.all {
		if f.topic == "Environment variables" {
			values[f.name] = f.values
		}
	}
	if values["OMPI_MCA_ess"] != nil || values["PMIX_RANK"] != nil {
		t.Error("variables that the launcher sets are listed")
	}
	if v := values["SAME"]; len(v) != 1 || v[0].text != "1" || runsIn(v[0].runs, 40) != "" {
		t.Errorf("the same value of all runs: %+v", v)
	}
	if v := values["OTHER"]; len(v) != 2 || v[1].text != "b" || runsIn(v[1].runs, 40) != "runs 21-40" {
		t.Errorf("two values: %+v", v)
	}
	t.Run("many values", func(t *testing.T) {
		table := document.NewTable("what", "value", "runs")
		(&fact{name: "EACH", values: values["EACH"]}).rows(table, 40)
		if n := len(table.Rows); n != maxValues+1 || table.Rows[maxValues][1] != "and 28 other values" {
			t.Errorf("%v", table.Rows)
		}
	})
}

func TestImportedRunsWithoutEnd(t *testing.T) {
	var runs []*made
	for i, outcome := range []result.Outcome{result.Complete, result.Aborted} {
		m := runOf(i+1, "nccl", coll.AllReduce)
		m.run.Imported, m.end.Outcome = &result.Source{Tool: "nccl-tests"}, outcome
		runs = append(runs, m)
	}
	want := notice.New(notice.ImportedUnfinished{Runs: notice.Runs{Numbers: []int{2}, Of: 2}})
	all := build(runs, nil).Headlines
	if !slices.ContainsFunc(all, func(h Headline) bool { return want.Equal(h.Notice) }) {
		t.Errorf("headlines: %+v", all)
	}
}

// TestRecordsAndPoints: if several records are one point of a curve, the report has both numbers.
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
	if all := r.Quality.Misses; len(all) != 1 || all[0].n != 2 || all[0].status != result.Wrong {
		t.Errorf("%+v", all)
	}
}

func TestHeadlineCountsLowerContenders(t *testing.T) {
	for lower := range 3 {
		var runs []*made
		for i := range analysis.MostFastest + lower {
			m := runOf(i+1, "mpi", coll.AllReduce)
			m.run.Variant = fmt.Sprint("v", i)
			runs = append(runs, m)
		}
		last, is := build(runs, nil).Headlines[analysis.MostFastest-1].Fact.(notice.BestBandwidth)
		if !is || last.Lower != lower {
			t.Errorf("%d contenders: %+v", len(runs), last)
		}
	}
}

// TestImportedRecordsWithoutTypeAndPlacement: a type and a placement that another tool's file lacks are left out, and
// not made up.
func TestImportedRecordsWithoutTypeAndPlacement(t *testing.T) {
	m := runOf(1, "nccl", coll.AllGather)
	m.run.Imported = &result.Source{Tool: "some tool"}
	for _, r := range m.records {
		r.Type, r.Placement = 0, 0
	}
	r := build([]*made{m}, nil)
	if f := r.charts.Families[0]; f.Type != "" || f.Op != "" || f.Placement != "" {
		t.Errorf("%+v", f)
	}
	best, is := r.Headlines[0].Fact.(notice.BestBandwidth)
	if !is || best.Placement != "" || strings.Contains(best.Operation, "float32") {
		t.Errorf("%+v", best)
	}
}

func firstBanner(r *Report) notice.Fact {
	if len(r.Banners) == 0 {
		return nil
	}
	return r.Banners[0].Fact
}
