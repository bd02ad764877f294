package show

import (
	"testing"

	"busbar/internal/coll/colltest"
	"busbar/internal/result"
	"busbar/post/analysis"
)

// A copy of a file adds nothing to a comparison.
func TestCopiesCountOnce(t *testing.T) {
	f := &result.File{
		Run:     result.Run{ID: "run", Launch: "a"},
		Records: []result.Record{{N: 1, Status: result.OK, Case: colltest.AllReduce(1 << 20), Time: &result.Time{Seconds: 1}}},
	}
	var c campaigns
	c.add(f)
	c.add(f)
	for _, cell := range c.of["a"].Cells[analysis.ContenderOf(&f.Run)] {
		if n := len(cell.Times["a"]); n != 1 {
			t.Errorf("%d times of one record", n)
		}
	}
}

// A run that goes on in a rescue file counts whole; a copy of either file adds nothing.
func TestCampaignsOfOneRunInTwoFiles(t *testing.T) {
	file := func(numbers ...int) *result.File {
		f := &result.File{Run: result.Run{ID: "run", Launch: "launch", Backend: result.Backend{Name: "mpi"}, World: 2}}
		for _, n := range numbers {
			f.Records = append(f.Records, result.Record{N: n, Case: colltest.AllReduce(int64(n) << 20), Status: result.OK,
				Time: &result.Time{Seconds: float64(n)}})
		}
		return f
	}
	c := &campaigns{}
	for _, f := range []*result.File{file(1, 2), file(3), file(1, 2)} {
		c.add(f)
	}
	for _, cells := range c.of["launch"].Cells {
		for under, one := range cells {
			if n := len(one.Times["launch"]); len(cells) != 3 || n != 1 {
				t.Errorf("%d conditions, %d times of %s", len(cells), n, under.Size())
			}
		}
	}
}
