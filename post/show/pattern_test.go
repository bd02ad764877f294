package show

import (
	"slices"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/document"
	"busbar/internal/notice"
	"busbar/internal/pattern"
	"busbar/internal/result"

	"github.com/shoenig/test/must"
)

// patternFile is a run of pairs of four nodes in which node3 is slower by a factor, without the rounds left out.
func patternFile(id string, start int, slow float64, leftOut ...int) *result.File {
	hosts := []string{"node1", "node2", "node3", "node4"}
	c := coll.Case{
		Collective: coll.AllReduce,
		Type:       coll.Float32,
		Op:         coll.Sum,
		Root:       -1,
		Placement:  coll.OutOfPlace,
		Mode:       coll.Throughput,
		World:      2,
	}.WithSize(
		1 << 20,
	)
	f := &result.File{
		Run: result.Run{
			ID:       id,
			Campaign: "one for all",
			Start:    time.Unix(int64(start), 0).UTC(),
			World:    4,
			Pattern:  &result.Pattern{Kind: pattern.Pairs, Rounds: 3, Hosts: hosts},
		},
	}
	f.Run.Backend.Name = "mpi"
	rounds, err := pattern.Shape{Kind: pattern.Pairs, Nodes: len(hosts)}.Rounds()
	if err != nil {
		panic(err)
	}
	add := func(round int, nodes []int) {
		g := &result.Group{Round: round, RanksPerNode: 1}
		seconds := 1e-3
		for _, n := range nodes {
			if g.Hosts = append(g.Hosts, hosts[n]); n == 2 {
				seconds *= slow
			}
		}
		f.Records = append(
			f.Records,
			result.Record{
				Kind:   result.KindCase,
				Case:   c,
				Group:  g,
				Status: result.OK,
				Time:   &result.Time{Seconds: seconds, Lo: seconds * 0.999, Hi: seconds * 1.001},
			},
		)
	}
	for i, r := range rounds {
		for _, nodes := range r {
			if !slices.Contains(leftOut, i+1) {
				add(i+1, nodes)
			}
			if !slices.Contains(leftOut, 0) {
				add(0, nodes)
			}
		}
	}
	return f
}

// A run that continues another is judged with it, in any order; another launch of the same campaign is judged
// separately.
func TestPatternsJudgedByChain(t *testing.T) {
	broken, mended := patternFile("a", 1, 2, 3, 0), patternFile("c", 3, 1)
	rest := patternFile("b", 2, 2, 1, 2)
	rest.Run.Resumes = []string{"a"}
	for _, files := range [][]*result.File{{broken, rest, mended}, {mended, rest, broken}} {
		p := &pattern.Runs{}
		for _, f := range files {
			for i := range f.Records {
				p.Add(result.Row{Run: &f.Run, Record: &f.Records[i]})
			}
		}
		var out strings.Builder
		d := &document.Document{Blocks: Patterns(p, func(all []notice.Notice, _ string) (list document.List) {
			for _, n := range all {
				list = append(list, notice.Text(n.Fact))
			}
			return list
		})}
		must.NoError(t, d.Write(&out, document.Text))
		text := strings.Join(strings.Fields(out.String()), " ")
		slow := strings.Index(
			text,
			"node3 is slow: its pairs take 2.00 times as long as the others (3 of 3 pairs slow). "+
				"Measured alone: 2.00 times as long.",
		)
		sound := strings.Index(text, "no node or link is slow (nodes differ by up to 0.0 %, pairs by up to 0.0 %).")
		if slow < 0 || sound < slow || strings.Count(text, "pairs of 4 nodes") != 2 ||
			!strings.Contains(text, "started 1970-01-01 00:00:03 UTC") ||
			strings.Contains(text, "no value") {
			t.Error(out.String())
		}
	}
}
