package report

import (
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/pattern"
	"busbar/internal/result"

	"github.com/shoenig/test/must"
)

func TestFirstPlotHasThePlacementOfTheHeadline(t *testing.T) {
	m := runOf(1, "mpi", coll.AllReduce)
	for _, slow := range m.records {
		fast := *slow
		fast.Placement = coll.InPlace
		time := *slow.Time
		time.Seconds, time.Lo, time.Hi = time.Seconds/2, time.Lo/2, time.Hi/2
		fast.Time = &time
		m.records = append(m.records, &fast)
	}
	r := build([]*made{m}, nil)
	if got := r.pageData(); got.Families[got.First].Placement != r.answers[0].Peak.Placement ||
		r.answers[0].Peak.Placement != "in-place" {
		t.Errorf("family %d of %+v", got.First, got.Families)
	}
}

func TestTiles(t *testing.T) {
	tiles := form{Report: sample(), page: true}.tiles()
	if len(tiles) != 3 || tiles[0].Value != "7.444 GB/s" || !strings.Contains(tiles[0].Note, "74 % of peak") ||
		tiles[1].Name != "Time at 1 KiB" || tiles[2].Href != "#finding-1" {
		t.Errorf("%+v", tiles)
	}
}

// patternRun is a run of pairs of four nodes, of which node3 takes twice as long.
func patternRun(t *testing.T) *made {
	m := runOf(1, "mpi")
	hosts := []string{"node1", "node2", "node3", "node4"}
	m.run.Pattern = &result.Pattern{Kind: pattern.Pairs, Rounds: 3, Hosts: hosts}
	rounds, err := pattern.Shape{Kind: pattern.Pairs, Nodes: len(hosts)}.Rounds()
	must.NoError(t, err)
	for round, groups := range rounds {
		for _, nodes := range groups {
			for _, number := range []int{round + 1, 0} {
				r := m.record(coll.AllReduce, 1<<20, 0)
				r.World, r.Group = 2, &result.Group{Round: number, RanksPerNode: 1}
				for _, n := range nodes {
					r.Group.Hosts = append(r.Group.Hosts, hosts[n])
					if n == 2 {
						r.Time.Seconds *= 2
					}
				}
				r.Time.Lo, r.Time.Hi = 0.999*r.Time.Seconds, 1.001*r.Time.Seconds
				m.records = append(m.records, r)
			}
		}
	}
	return m
}

func TestPatternVerdictIsTheFirstHeadline(t *testing.T) {
	r := build([]*made{patternRun(t)}, nil)
	if len(r.Headlines) != 1 || !strings.Contains(r.Headlines[0].Message(), "node3 is slow") {
		t.Errorf("headlines: %+v", r.Headlines)
	}
	var b strings.Builder
	if err := r.WriteMarkdown(&b); err != nil || !strings.Contains(b.String(), "## Nodes and links") {
		t.Errorf("%v, %s", err, b.String())
	}
}
