package sweeps

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/golden"
	"busbar/internal/strictyaml"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func anyPlace(coll.Collective) []coll.Placement {
	return []coll.Placement{coll.OutOfPlace, coll.InPlace}
}

func lines(cases []coll.Case) string {
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintln(&b, c)
	}
	return b.String()
}

func mustPlan(t *testing.T, s *Sweep, world int, places func(coll.Collective) []coll.Placement) []coll.Case {
	t.Helper()
	cases, err := s.Plan(world, places)
	must.NoError(t, err)
	return cases
}

func TestEmbeddedSweeps(t *testing.T) {
	points := map[string]int{"pattern": 2, "profile": 9, "baseline": 31, "sizes": 4, "quick": 22*2 + 10*5*2 - 5*2 + 3*5}
	for _, name := range strictyaml.Names(embedded) {
		s, err := load(name)
		must.NoError(t, err)
		if s.Name != name || s.Description == "" || s.Source == "" {
			t.Errorf("%s: name %q, description %q, %d bytes of source", name, s.Name, s.Description, len(s.Source))
		}
		for _, world := range []int{2, 4, 8} {
			cases := mustPlan(t, s, world, anyPlace)
			if want, ok := points[name]; ok && len(cases) != want {
				t.Errorf("%s in a world of %d has %d points, want %d", name, world, len(cases), want)
			}
			for _, c := range coll.Collectives() {
				if name == "full" && !slices.ContainsFunc(cases,
					func(k coll.Case) bool { return k.Collective == c && k.SizeBytes == 8<<30 }) {
					t.Errorf("full has no %s of 8 GiB", c)
				}
			}
		}
	}
	want := []string{"baseline", "full", "moe", "pattern", "profile", "quick", "sizes"}
	test.SliceEqOp(t, want, strictyaml.Names(embedded))
}

func TestQuickPlanGolden(t *testing.T) {
	s, err := load("quick")
	must.NoError(t, err)
	golden.Text(t, "testdata/quick-world4.golden", lines(mustPlan(t, s, 4, anyPlace)))
}

func TestPlan(t *testing.T) {
	outOnly := func(coll.Collective) []coll.Placement { return []coll.Placement{coll.OutOfPlace} }
	none := func(coll.Collective) []coll.Placement { return nil }
	tests := []struct {
		name, text string
		world      int
		places     func(coll.Collective) []coll.Placement
		want       string
	}{
		{"order",
			"types: [int32, int8]\nops: [max, sum]\nsizes: [32, 16]\nplacement: [in, out]\nmode: both\ncollectives: " +
				"reduce\nroots: [1, 0]\nparts: [{types: int8, ops: max, roots: 1}]", 2, anyPlace,
			`reduce int8 max root 1 16 B in-place throughput
reduce int8 max root 1 16 B in-place latency
reduce int8 max root 1 16 B throughput
reduce int8 max root 1 16 B latency
reduce int8 max root 1 32 B in-place throughput
reduce int8 max root 1 32 B in-place latency
reduce int8 max root 1 32 B throughput
reduce int8 max root 1 32 B latency
`},
		{"operations once without one", "collectives: [all_gather, all_reduce]\nops: [sum, max]\nsizes: 64", 2, nil,
			"all_gather float32 64 B throughput\nall_reduce float32 sum 64 B throughput\nall_reduce float32 max 64 B " +
				"throughput\n"},
		{"every root", "collectives: [broadcast, sendrecv]\nroots: [1, all]\nsizes: 64", 3, nil,
			"broadcast float32 root 1 64 B throughput\nbroadcast float32 64 B throughput\nbroadcast float32 root 2 " +
				"64 B throughput\nsendrecv float32 64 B throughput\n"},
		{"a placement that is lacking", "placement: [in, out]\nsizes: 64", 2, outOnly,
			"all_reduce float32 sum 64 B throughput\n"},
		{"only the other placement", "placement: in\nsizes: 64", 2, outOnly,
			"all_reduce float32 sum 64 B throughput\n"},
		{"a range of one", "sizes: {begin: 64, end: 64}", 2, nil, "all_reduce float32 sum 64 B throughput\n"},
		{"a collective that is lacking", "placement: in\nsizes: 64", 2, none,
			"all_reduce float32 sum 64 B in-place throughput\n"},
		{"trimmed to one", "collectives: all_gather\nsizes: [96, 100, 127, 128]", 2, nil,
			"all_gather float32 96 B throughput\nall_gather float32 128 B throughput\n"},
		{"too small stays", "collectives: alltoall\nsizes: [8, 16, 64]", 4, nil,
			"alltoall float32 8 B throughput\nalltoall float32 16 B throughput\nalltoall float32 64 B throughput\n"},
		{"elements of one rank", "collectives: [all_reduce, all_gather]\nelements: [6]", 4, nil,
			"all_reduce float32 sum 24 B throughput\nall_gather float32 96 B throughput\n"},
		{"parts overlap", "parts:\n- sizes: [8, 16]\n- sizes: [16, 32]\n- elements: [8, 16]", 2, nil,
			"all_reduce float32 sum 8 B throughput\nall_reduce float32 sum 16 B throughput\nall_reduce float32 sum " +
				"32 B throughput\nall_reduce float32 sum 64 B throughput\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			test.EqOp(t, tt.want, lines(mustPlan(t, mustParse(t, "t.yaml", tt.text), tt.world, tt.places)))
		})
	}
}

func TestPlanRootAndOp(t *testing.T) {
	for _, c := range mustPlan(t, mustParse(t, "t.yaml", "collectives: all\nsizes: 1K"), 2, nil) {
		test.EqOp(t, map[bool]int{true: 0, false: -1}[c.Collective.Rooted()], c.Root, test.Sprint(c))
		if (c.Op != 0) != c.Collective.Reduces() || c.World != 2 || c.Count == 0 {
			t.Errorf("%+v", c)
		}
	}
}

func TestPlanErrors(t *testing.T) {
	tests := []struct {
		text  string
		world int
		want  string
	}{
		{"sizes: 8\ncollectives: reduce\nroots: [0, 2]", 2,
			"root 2 (t.yaml:3) is outside a world of 2: must be 0 to 1, or all"},
		{"sizes: 8\n", 0, "world size 0: must be at least 1"},
		{"elements: 4000000T\n", 2,
			"all_reduce (elements: t.yaml:1): 4398046511104000000 elements of float32 in a world of 2 overflow the " +
				"size in bytes"},
		{"sizes: {begin: 8, end: 7M, step: 8}\nmode: both", 2,
			"the plan has more than 1000000 cases; ask for fewer sizes, roots or types"},
	}
	for _, tt := range tests {
		if _, err := mustParse(t, "t.yaml", tt.text).Plan(tt.world, nil); err == nil || err.Error() != tt.want {
			t.Errorf("%q: got %v, want %s", tt.text, err, tt.want)
		}
	}
	if _, err := mustParse(t, "t.yaml", "roots: 5").Plan(2, nil); err != nil {
		t.Errorf("a root that no collective of the sweep has: %v", err)
	}
}

func some[T any](random *rand.Rand, from []T) []T {
	n := 1 + random.IntN(len(from))
	var chosen []T
	for _, i := range random.Perm(len(from))[:n] {
		chosen = append(chosen, from[i])
	}
	return chosen
}

// Each point is planned in each group alone, then in all groups; sizes and roots are those of a group.
func TestPlanInGroups(t *testing.T) {
	s, err := Parse("g.yaml", []byte("collectives: [all_gather, broadcast]\nsizes: [64]\nroots: all\n"+
		"groups: [none, '2:strided']\n"))
	must.NoError(t, err)
	var got []string
	for _, c := range mustPlan(t, s, 4, nil) {
		if c.Collective == coll.AllGather || c.Root == 1 {
			got = append(got, fmt.Sprint(c.Collective, " ", c.World, " ", c.Count, " ", c.Groups.Name()))
		}
	}
	want := []string{"all_gather 4 4 ", "broadcast 4 16 ",
		"all_gather 2 8 1 alone", "all_gather 2 8 2 alone", "all_gather 2 8 1", "all_gather 2 8 2",
		"broadcast 2 16 1 alone", "broadcast 2 16 2 alone", "broadcast 2 16 1", "broadcast 2 16 2"}
	test.SliceEqOp(t, want, got)
	if _, err := s.Plan(3, nil); err == nil || !strings.Contains(err.Error(), "2 groups do not divide a world of 3") ||
		!strings.Contains(err.Error(), "g.yaml:4") {
		t.Errorf("a world of 3: %v", err)
	}
}

// Groups of two kinds are planned each alone, then both at once, with the collective of each.
func TestPlanInDimensions(t *testing.T) {
	in := func(collectives, groups string) *Sweep {
		s, err := Parse("g.yaml", fmt.Appendf(nil, "collectives: [%s]\nelements: 16\ngroups: [%s]\n", collectives,
			groups))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := in("all_gather, reduce_scatter", "tp=4, dp=2")
	var got []string
	for _, c := range mustPlan(t, s, 8, nil) {
		got = append(got, fmt.Sprint(c.Collective, " ", c.Op, " ", c.World, " ", c.Count, " ", c.Groups.Name()))
	}
	want := []string{"all_gather none 4 16 tp alone", "reduce_scatter sum 2 32 dp alone",
		"all_gather none 4 16 tp and dp"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Parts[0].Ops = []coll.RedOp{coll.Max}
	for word, s := range map[string]*Sweep{
		"measured with sum only":         s,
		"tp=4 times dp=4 must be the 8":  in("all_reduce", "tp=4, dp=4"),
		"tp=4611686018427387906 times":   in("all_reduce", "tp=4611686018427387906, dp=4"), // 8 modulo 2⁶⁴
		"both groups are named tp":       in("all_reduce", "tp=4, tp=2"),
		"1 groups and 1 collectives":     in("all_reduce", "tp=8"),
		"2 groups and 1 collectives":     in("all_reduce", "tp=4, 4:strided"),
		"3 groups and 1 collectives":     in("all_reduce", "tp=2, dp=2, pp=2"),
		"2 groups and 3 collectives":     in("all_reduce, all_gather, alltoall", "tp=4, dp=2"),
		"broadcast cannot run beside":    in("all_reduce, broadcast", "tp=4, dp=2"),
		"alltoallv cannot run beside an": in("alltoallv", "tp=4, dp=2"),
	} {
		if _, err := s.Plan(8, nil); err == nil || !strings.Contains(err.Error(), word) ||
			!strings.Contains(err.Error(), "g.yaml:3") {
			t.Errorf("%v, want %q with the line", err, word)
		}
	}
}
