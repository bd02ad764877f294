package foreign

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/notice"
	"busbar/internal/result"
)

// rowOf is a row of all_reduce whose time and bandwidths are those of n ranks, in both placements.
func rowOf(n int, us float64) string {
	const size = 1 << 30
	alg := size / us / 1e3
	half := fmt.Sprintf(" %.1f %.2f %.2f 0", us, alg, alg*coll.AllReduce.BusFactor(n))
	return fmt.Sprintf("%d %d float sum -1%s%s\n", size, size/4, half, half)
}

const footer = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.0\n"

// worlds are the ranks of each run and of its first record.
func worlds(m *memory) (all []string) {
	for _, k := range m.runs {
		text := fmt.Sprint(k.run.World, ":")
		for _, r := range k.records {
			text += fmt.Sprint(" ", r.World)
		}
		all = append(all, text)
	}
	return all
}

// After a footer, a list of ranks or a heading begins another test; a second heading before it does not.
func TestFooterClosesTable(t *testing.T) {
	ranks := "#  Rank  0 Group  0 Pid 1 on a device 0 [0000:01:00] X\n" +
		"#  Rank  1 Group  0 Pid 1 on a device 1 [0000:02:00] X\n" +
		"#  Rank  2 Group  0 Pid 1 on b device 0 [0000:01:00] X\n"
	heading := "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
	for what, c := range map[string]struct{ between, row, want string }{
		"Using devices":           {footer + "# Using devices\n" + ranks + heading, rowOf(3, 7000), "[2: 2 2 3: 3 3]"},
		"ranks alone":             {footer + ranks + heading, rowOf(3, 7000), "[2: 2 2 3: 3 3]"},
		"a heading":               {footer + heading, rowOf(3, 7000), "[2: 2 2 0: 0 0]"},
		"a heading, no footer":    {heading, rowOf(2, 7000), "[2: 2 2 2 2]"},
		"a header, no footer":     {modernHead("all_reduce_perf"), rowOf(2, 7000), "[2: 2 2 2: 2 2]"},
		"another cycle's heading": {"# Testing 2 cycle\n" + heading, rowOf(2, 7000), "[2: 2 2 2 2]"},
	} {
		m, _ := read(t, modernHead("all_reduce_perf")+rowOf(2, 5000)+c.between+c.row+footer)
		if got := fmt.Sprint(worlds(m)); got != c.want {
			t.Errorf("%s: worlds %s", what, got)
		}
	}
}

func TestContradictoryRowsFail(t *testing.T) {
	m, c := read(t, modernHead("all_reduce_perf")+rowOf(2, 5000)+rowOf(8, 8000)+footer)
	if got := fmt.Sprint(worlds(m)); got != "[2: 2 2 0 0]" || c.Doubtful != 2 {
		t.Fatalf("worlds %s, %+v", got, c)
	}
	for i, r := range m.records() {
		if contradicts := i >= 2; (r.Status == result.Failed) != contradicts || (r.Reason != "") != contradicts ||
			(r.Time == nil) != contradicts ||
			(r.Imported.Stated["time"] == "0.008 s") != contradicts {
			t.Errorf("record %d: %s %q", i, r.Status, r.Reason)
		}
	}
}

func TestContradictionAllowsRounding(t *testing.T) {
	for _, c := range golden.Table[struct {
		Point   string
		Refused bool
	}](t, `
		Point                            Refused
		all_reduce 2 134.22 234.88       true
		all_reduce 8 134.22 234.88
		all_reduce 8 0.01 0.01
		all_reduce 8 0.10 0.17
		all_reduce 8 0.10 0.14           true
		all_reduce 8 134 233
		all_reduce 8 100.00 176.60
		all_reduce 8 100.00 176.80       true
		all_reduce 1 100.00 0.00
		all_reduce 1 100.00 100.00       true
		all_reduce 0 100.00 100.00
		all_reduce 8 inf nan
		all_gather 8 100.00 87.50
		all_gather 8 100.00 50.00        true
		all_gather 8 100.00 100.00       true
		all_gather 8 100.00 100.00 2020
		broadcast 8 100.00 100.00
		broadcast 8 100.00 175.00        true
		other 8 100.00 175.00
	`) {
		words := strings.Fields(c.Point + " 0")
		r := &result.Record{Imported: &result.Origin{Stated: map[string]string{"a": words[2], "b": words[3]}}}
		r.Collective, _ = operationOf(words[0])
		r.World, _ = amount(words[1])
		why := bandwidths{alg: "a", bus: "b", early: words[4] == "2020"}.contradiction(r)
		if (why != nil) != c.Refused {
			t.Errorf("%s: %q", c.Point, why)
		}
	}
}

// Each layout that states both bandwidths is checked, and so is a number of ranks that --set gives.
func TestContradictionInEachLayout(t *testing.T) {
	for what, c := range map[string]struct {
		text  string
		given []string
	}{
		"nccl-tests JSON": {text: strings.Replace(jsonTest, `"alg_bw":1,"bus_bw":1,"nwrong":2.0`,
			`"alg_bw":1.00,"bus_bw":1.75,"nwrong":0`, 1)},
		"rccl-tests JSON": {text: `{"numCycle":0,"name":"all_reduce_perf","ranks":2,"size":1024,
"type":"float","redop":"sum","inPlace":0,"time":1.0,"algBw":1.00,"busBw":1.75,"wrong":0}`},
		"rccl-tests CSV": {text: "numCycle,name,collective,ranks,size,type,redop,inPlace,time,algbw,busbw,#wrong\n" +
			"0,x,all_reduce,2,1024,float,sum,0,1.0,1.00,1.75,0\n"},
		"--set": {text: "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n" +
			"1024 256 float " +
			"sum -1 1.0 1.00 1.75 0 1.0 0.00 0.00 0\n", given: []string{"world=2", "collective=all_reduce"}},
	} {
		_, counts := read(t, c.text, c.given...)
		if counts.Doubtful != 1 {
			t.Errorf("%s: %+v", what, counts)
		}
	}
}

// A footer that counts wrong values marks its run, also where no row has them.
func TestFooterCountsWrongValues(t *testing.T) {
	head, row := modernHead("all_reduce_perf"), rowOf(2, 5000)
	const failed = "# Out of bounds values : 3 FAILED\n# Avg bus bandwidth    : 1.0\n"
	three := notice.WrongValuesCounted{Values: 3}
	old := e1Head("redop") + "1024 256 float sum 10.0 1.00 1.00 5e-01 11.0 1.00 1.00 2e-07\n"
	for what, c := range map[string]struct {
		text   string
		want   notice.List
		reason string
	}{
		"#wrong": {head + row + failed, notice.Of(three), ""},
		"error":  {old + failed, notice.Of(three), ""},
		"none":   {old + footer, nil, ""},
		"JSON": {
			strings.ReplaceAll(jsonTest, `"nwrong":2.0`, `"nwrong":null`),
			notice.Of(notice.WrongValuesCounted{Values: 2}), "",
		},
		"behind its line": {head + strings.Repeat(row, heldRows) + failed, nil, notice.Message(three)},
	} {
		m, _ := read(t, c.text)
		k := m.runs[0]
		if !reflect.DeepEqual(k.run.Warnings, c.want) || k.end.Outcome != result.Complete || k.end.Reason != c.reason {
			t.Errorf("%s: %+v, %+v", what, k.run.Warnings, k.end)
		}
	}
}
