package sweeps

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"busbar/internal/coll"
	"busbar/internal/strictyaml"

	"github.com/shoenig/test"
	"github.com/shoenig/test/must"
)

func TestParseErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown key in a range", "collectives: [all_reduce]\nsizes:\n  begin: 8\n  edn: 64K\n",
			`bad.yaml:4:3: unknown key "edn"; did you mean "end"? (known: begin, end, factor, step)`},
		{"unknown key", "collective: all_reduce\n",
			`bad.yaml:1:1: unknown key "collective"; did you mean "collectives"?`},
		{"unknown key in a part", "parts:\n  - collectives: all\n    tpyes: [int8]\n",
			`bad.yaml:3:5: unknown key "tpyes"; did you mean "types"?`},
		{"unknown type", "types: [flaot32]\n", `bad.yaml:1:9: unknown data type "flaot32"; did you mean "float32"?`},
		{"no operation", "ops: [sum, none]\n", `bad.yaml:1:12: unknown reduction operation "none" (known: sum, `},
		{"begin over end", "sizes:\n  begin: 64K\n  end: 8\n",
			`bad.yaml:2:3: the range is empty: begin 64K is larger than end 8`},
		{"no end", "sizes: {begin: 8}\n", `bad.yaml:1:8: a range requires both begin and end`},
		{"begin 0", "sizes: {begin: 0, end: 8}\n", `bad.yaml:1:16: begin: size "0": must be at least 1`},
		{"factor 1", "sizes: {begin: 8, end: 16, factor: 1}\n", `bad.yaml:1:36: factor 1: must be at least 2`},
		{"factor and step", "sizes:\n  begin: 8\n  end: 16\n  factor: 2\n  step: 8\n",
			`bad.yaml:2:3: factor and step exclude each other`},
		{"too many", "sizes: {begin: 8, end: 1G, step: 8}\n", `bad.yaml:1:8: the range has more than 1000000 sizes`},
		{"root", "roots: [0, -2]\n", `bad.yaml:1:12: root -2: must be at least -1`},
		{"world", "worlds: [2, 0]\n", `bad.yaml:1:13: world 0: must be at least 1`},
		{"list for a value", "budget: [1s]\n", `bad.yaml:1:9: expected one value, found a list`},
		{
			"nothing for a list",
			"types:\nops: sum\n",
			`bad.yaml:1:7: expected a value or a list of values, found nothing`,
		},
		{
			"empty range",
			"sizes: {}\n",
			`bad.yaml:1:8: a range: expected keys (begin, end, factor, step), found nothing`,
		},
		{"bytes as elements", "elements: [4MB]\n",
			`bad.yaml:1:12: "4MB" is a size in bytes: use a number of elements such as 4M`},
		{"sizes and elements", "sizes: [8]\nelements: [1M]\n",
			`bad.yaml:2:1: elements and sizes exclude each other; sizes is in line 1`},
		{"duplicate key", "types: int8\nops: sum\ntypes: int32\n", `bad.yaml:3:1: types was given before, in line 1`},
		{"precision", "precision: 2\n", `bad.yaml:1:12: "2": must be above 0 and below 100 %`},
		{"aggregate", "aggregate: 0\n", `bad.yaml:1:12: aggregate 0: must be at least 1`},
		{"run key in a part", "parts:\n- types: int8\n  budget: 1s\n",
			`bad.yaml:3:3: budget applies to the whole sweep: move it to the top level`},
		{"parts not a list", "parts: {types: int8}\n", `bad.yaml:1:8: parts must be a list of blocks, found keys`},
		{"not keys", "- all_reduce\n", `bad.yaml:1:1: a sweep: expected keys (collectives, `},
		{"empty", "", `bad.yaml:1: the file is empty`},
		{"matrix shape", "collectives: alltoallv\nmatrix:\n- [0, 16]\n- [16, 0, 5]\n",
			`bad.yaml:4:3: 3 numbers, but 2 in the first row`},
		{"matrix rows", "collectives: alltoallv\nmatrix: [[0, 16]]\n", `bad.yaml:2:9: 1 rows of 2 numbers`},
		{"flat matrix", "collectives: alltoallv\nmatrix: [0, 16]\n", `bad.yaml:2:9: 2 rows of 0 numbers`},
		{"negative split", "collectives: alltoallv\nmatrix:\n- [0, 16]\n- [-16, 0]\n",
			`bad.yaml:4:3: "-16" must be a number of bytes from 0 to 1125899906842624`},
		{"split overflow", "collectives: alltoallv\nmatrix: [[0, 9e18], [1, 1]]\n", `bad.yaml:2:10: "9e18" must be`},
		{"matrix of an all_reduce", "matrix: [[16]]\n", `bad.yaml:1:1: matrix requires collectives: [alltoallv]`},
		{"matrix and imbalance", "imbalance: even\nmatrix: [[16]]\n", `bad.yaml:2:1: matrix and imbalance exclude`},
		{"calls", "parts:\n- calls: 0\n", `bad.yaml:2:10: calls "0": must be a number above 0`},
		{"two documents", "types: int8\n---\ntypes: int8\n", `bad.yaml:2:1: a second YAML document`},
		{"not YAML", "types: int8\nops: [sum\nroots: 1\n", `bad.yaml:2: not YAML: `},
		{"outdented", "# one\nsizes:\n   begin: 8\n  end: 8\n",
			`bad.yaml:2: not YAML: did not find expected key; look at brackets and indentation`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("bad.yaml", []byte(tt.text))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s…", err, tt.want)
			}
		})
	}
}

func TestParseReportsAllProblems(t *testing.T) {
	_, err := Parse("b.yaml", []byte("{parts: [\n{typ: int8}], ops: [mni],\ncheck: [], budget: x}\n"))
	var got []string
	for line := range strings.Lines(err.Error()) {
		got = append(got, strings.SplitN(line, " ", 2)[0])
	}
	test.SliceEqOp(t, []string{"b.yaml:2:2:", "b.yaml:2:21:", "b.yaml:3:8:", "b.yaml:3:20:"}, got, test.Sprint(err))
	var first *Error
	if !errors.As(err, &first) || first.Line != 2 || first.Column != 2 || first.File != "b.yaml" {
		t.Errorf("first is %+v", first)
	}
	var word *coll.UnknownWordError
	if !errors.As(err, &word) || word.Nearest != "types" {
		t.Errorf("the word is %+v", word)
	}
}

func TestParseEveryKey(t *testing.T) {
	s := mustParse(t, "dir/my.yaml", `
description: a line
collectives: [bcast, all_gather, broadcast]
elements: {begin: 1K, end: 9K, step: 4K}
types: all
ops: [min, avg]
roots: [1, all]
placement: both
worlds: [4, 2]
mode: latency
imbalance: [even, "hot:2"]
groups: [none, 4, "2:strided"]
precision: 0.5%
budget: 90
iterations: 7
warmup: 0
check: 3
aggregate: 4
time_limit: 1h30m
`)
	p := s.Parts[0]
	p.origins = nil
	want := Part{
		Collectives: []coll.Collective{coll.Broadcast, coll.AllGather},
		Sizes:       Sizes{Elements: true, Begin: 1 << 10, End: 9 << 10, Step: 4 << 10},
		Types:       coll.DataTypes(),
		Ops:         []coll.RedOp{coll.Min, coll.Avg},
		Roots:       []int{1, EveryRoot},
		Placements:  []coll.Placement{coll.OutOfPlace, coll.InPlace},
		Modes:       []coll.Mode{coll.Latency},
		Imbalances:  []coll.Imbalance{coll.Even, "hot:2"},
		Groups:      []coll.Division{"", "4:contiguous", "2:strided"},
	}
	test.Eq(t, want, p)
	options := Options{Precision: 0.005, Budget: 90 * time.Second, Iterations: 7, Check: 3, Aggregate: 4,
		TimeLimit: 90 * time.Minute}
	test.EqOp(t, options, s.Options)
	if s.Name != "my" || s.Description != "a line" || !slices.Equal(s.Worlds, []int{4, 2}) {
		t.Errorf("name %q, description %q, worlds %v", s.Name, s.Description, s.Worlds)
	}
}

func TestPartsInherit(t *testing.T) {
	s := mustParse(t, "p.yaml", `parts:
- sizes: &few [1G, &b 8, 1K, *b]
- elements: 4M
  types: int8
- sizes: *few
types: [float64]
elements: 1M
`)
	var got []string
	for _, p := range s.Parts {
		got = append(got, p.Types[0].String()+" "+p.Sizes.String())
	}
	test.SliceEqOp(t, []string{"float64 8, 1K, 1G", "int8 4M elements", "float64 8, 1K, 1G"}, got)
	origins := s.Origins()
	for key, want := range map[string]string{
		"part 1 sizes": "p.yaml:2", "part 2 elements": "p.yaml:3", "part 3 sizes": "p.yaml:5",
		"part 2 types": "p.yaml:4",
		"part 1 types": "p.yaml:6", "ops": "default", "budget": "default", "sizes": "", "types": "", "elements": "",
	} {
		test.EqOp(t, want, origins[key], test.Sprint(key))
	}
}

func TestManualListsKeysAndValues(t *testing.T) {
	text, err := os.ReadFile("../docs/sweeps.md")
	must.NoError(t, err)
	for _, name := range slices.Concat(allKeys, rangeKeys, strictyaml.Names(embedded)) {
		test.StrContains(t, string(text), "\n| `"+name+"` |", test.Sprint(name))
	}
	var words []fmt.Stringer
	for _, w := range coll.Collectives() {
		words = append(words, w)
	}
	for _, w := range coll.DataTypes() {
		words = append(words, w)
	}
	for _, w := range coll.RedOps() {
		words = append(words, w)
	}
	for _, w := range words {
		test.StrContains(t, string(text), "`"+w.String()+"`", test.Sprint(w))
	}
}

func mustParse(t *testing.T, file, text string) *Sweep {
	t.Helper()
	s, err := Parse(file, []byte(text))
	must.NoError(t, err)
	return s
}
