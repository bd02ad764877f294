package sweeps

import (
	"reflect"
	"strings"
	"testing"

	"busbar/internal/coll"
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
	if err != nil {
		t.Fatal(err)
	}
	want := `alltoallv float32 even 192 B throughput
alltoallv float32 even 384 B throughput
alltoallv float32 even 96 B throughput
alltoallv float32 hot:4 192 B throughput
alltoallv float32 hot:4 384 B throughput
`
	if got := lines(mustPlan(t, s, 3, nil)); got != want {
		t.Errorf("got\n%s", got)
	}
	s.Parts[0].Imbalances = []coll.Imbalance{(coll.Matrix{{1, 2}, {3, 4}}).Register("m")}
	if _, err := s.Plan(3, nil); err == nil || !strings.Contains(err.Error(), "2 rows and columns, but the world") {
		t.Error(err)
	}
}

// A training's sweep: its parts are those of the file; another world leaves out what does not fit, and scales the shares
// of the others only where --fit asks for it.
func TestPlanOfTraining(t *testing.T) {
	s := mustParse(t, "t.yaml", `
world: 2
parts:
- {collectives: [all_gather], sizes: [64], calls: 0.5}
- {collectives: [all_reduce], sizes: [64], calls: 3}
- collectives: [alltoallv]
  matrix:
  - [0, 16]
  - [48, 17]
- {collectives: [broadcast], sizes: [64], roots: [1]}
`)
	if s.Parts[0].Calls != 0.5 || s.Origins()["part 3 imbalance"] != "t.yaml:7" {
		t.Errorf("%v, %v", s.Parts[0], s.Origins())
	}
	matrix := s.Parts[2].Imbalances[0]
	all := "all_gather float32 64 B throughput\nall_reduce float32 sum 64 B throughput\n"
	for _, c := range []struct {
		world int
		fit   bool
		want  string
		left  int
	}{
		{2, true, all + "alltoallv float32 " + string(matrix) + " 64 B throughput\n" +
			"broadcast float32 root 1 64 B throughput\n", 0},
		{4, false, all + "broadcast float32 root 1 64 B throughput\n", 2},
		{1, false, all, 3},
		{4, true, strings.Replace(all, "64", "128", 1) + "broadcast float32 root 1 64 B throughput\n", 2},
	} {
		fitted, err := s.With(Overrides{Fit: c.fit})
		if err != nil {
			t.Fatal(err)
		}
		cases := mustPlan(t, fitted, c.world, nil)
		if got := lines(cases); got != c.want || len(fitted.LeftOut(c.world)) != c.left {
			t.Errorf("world %d, fit %t: %q\n%s", c.world, c.fit, fitted.LeftOut(c.world), got)
		}
		if marked := fitted.Notes(cases[0]) != nil; marked != (c.fit && c.world > 2) || fitted.Notes(cases[1]) != nil {
			t.Errorf("world %d, fit %t: marked %t", c.world, c.fit, marked)
		}
	}
}
