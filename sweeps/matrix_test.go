package sweeps

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"busbar/internal/coll"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestParseMatrix(t *testing.T) {
	want := coll.Matrix{{0, 16}, {32, 48}}
	for _, text := range []string{"0 16\n32 48\n", "0,16\n32,48", "0 16.9\n\n 47\t48\r\n", "15, 16\n 32 ,48"} {
		if m, err := ParseMatrix("m", []byte(text)); err != nil || !reflect.DeepEqual(m, want) {
			t.Errorf("%q: %v, %v", text, m, err)
		}
	}
	for text, word := range map[string]string{
		"":                   "m:1: the matrix is empty",
		"0 16\n32":           "m:2: 1 numbers, but 2 in the first row",
		"0 16\n32 48\n1 2":   "m:3: 3 rows of 2 numbers",
		"0 16\n32 -1":        `m:2: "-1" must be a number of bytes`,
		"0 16\n32 1e300":     `m:2: "1e300"`,
		"0 x\n1 2":           `m:1: "x"`,
		"0 0\n0 0":           "all numbers are below 16",
		"1,,2\n3,4,5\n6,7,8": `m:1: ""`,
		"NaN 1\n1 1":         `m:1: "NaN"`,
		"0 16\n32 48 64\n\n": "m:2: 3 numbers",
	} {
		if _, err := ParseMatrix("m", []byte(text)); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v, want %s", text, err, word)
		}
	}
}

// Before the uneven cases come the even ones of the same volume.
func TestPlanOfUnevenCases(t *testing.T) {
	s, err := Default().With(Overrides{Collectives: []coll.Collective{coll.AllToAllV},
		Imbalances: []coll.Imbalance{coll.Even, "hot:4"}, MinBytes: new(int64(192)), MaxBytes: new(int64(384))})
	must.NoError(t, err)
	want := `alltoallv float32 even 192 B throughput
alltoallv float32 even 384 B throughput
alltoallv float32 even 96 B throughput
alltoallv float32 hot:4 192 B throughput
alltoallv float32 hot:4 384 B throughput
`
	test.EqOp(t, want, lines(mustPlan(t, s, 3, nil)))
	s.Parts[0].Imbalances = []coll.Imbalance{(coll.Matrix{{1, 2}, {3, 4}}).Register("m")}
	if _, err := s.Plan(3, nil); err == nil || !strings.Contains(err.Error(), "2 rows and columns, but the world") {
		t.Error(err)
	}
}

// A training's sweep: its parts are those of the file; groups keep their size in another world, which leaves out what
// does not fit, and scales the shares of the others only where --fit asks for it.
func TestPlanOfTraining(t *testing.T) {
	text := `
world: 4
parts:
- {collectives: [all_gather], sizes: [128], calls: 0.5}
- {collectives: [all_reduce], sizes: [64], calls: 3}
- collectives: [alltoallv]
  matrix:
  - [0, 16, 0, 0]
  - [48, 17, 0, 0]
  - [0, 0, 0, 0]
  - [0, 0, 0, 0]
- {collectives: [broadcast], sizes: [64]}
- {collectives: [reduce_scatter], elements: [3]}
- {collectives: [reduce_scatter], elements: [5], groups: ["2:strided"]}
- {collectives: [all_gather], sizes: [32], groups: ["2:strided"]}
`
	s := mustParse(t, "t.yaml", text)
	if s.Parts[0].Calls != 0.5 || s.Origins()["part 3 imbalance"] != "t.yaml:7" {
		t.Errorf("%v, %v", s.Parts[0], s.Origins())
	}
	matrix := string(s.Parts[2].Imbalances[0])
	all := "all_gather 128 , all_reduce 64 , "
	for _, c := range []struct {
		world int
		fit   bool
		want  string
		left  int // parts, and a note on sizes
	}{
		{4, true, all + "alltoallv 64 " + matrix +
			", broadcast 64 , reduce_scatter 48 , reduce_scatter 40 2:strided, all_gather 32 2:strided, ", 0},
		{8, false, all + "broadcast 64 , reduce_scatter 32 , " +
			"reduce_scatter 40 4:strided, all_gather 32 4:strided, ", 2},
		{8, true, "all_gather 256 , all_reduce 64 , broadcast 64 , reduce_scatter 96 , " +
			"reduce_scatter 40 4:strided, all_gather 32 4:strided, ", 2},
		{2, false, all + "broadcast 64 , reduce_scatter 48 , reduce_scatter 40 , all_gather 32 , ", 2},
		{2, true, "all_gather 64 , all_reduce 64 , broadcast 64 , reduce_scatter 24 , ", 4},
		{3, false, "all_gather 96 , all_reduce 64 , broadcast 64 , reduce_scatter 48 , ", 4},
	} {
		fitted, err := s.With(Overrides{Fit: c.fit})
		must.NoError(t, err)
		got := ""
		for _, k := range mustPlan(t, fitted, c.world, nil) {
			if k.Groups.Number > 1 || k.Groups.Alone {
				continue
			}
			got += fmt.Sprintf("%s %d %s%s, ", k.Collective, k.SizeBytes, k.Imbalance, k.Groups.Division)
			scaled := c.fit && c.world != 4 && k.Collective.Shared() && !k.Groups.Divided()
			if (fitted.Notes(k) != nil) != scaled {
				t.Errorf("world %d, fit %t: %s: notes %q", c.world, c.fit, k, fitted.Notes(k))
			}
		}
		if got != c.want || len(fitted.LeftOut(c.world)) != c.left {
			t.Errorf("world %d, fit %t: %q\n%s, want\n%s", c.world, c.fit, fitted.LeftOut(c.world), got, c.want)
		}
	}
	s.Parts = s.Parts[2:3]
	if _, err := s.Plan(2, nil); err == nil || !strings.Contains(err.Error(), "the training had 4") {
		t.Error(err)
	}
	s = mustParse(t, "t.yaml", strings.Replace(text, "2:strided", "3:strided", 1))
	if _, err := s.Plan(4, nil); err == nil || !strings.Contains(err.Error(), "t.yaml:14") {
		t.Error(err)
	}
}
