package compare

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"busbar/internal/coll"
	"busbar/internal/strictyaml"
)

const allThresholds = `
margin: 3%
fail-above: 5%
rules:
- to: 4K
  margin: 10%
- &big
  collectives: [all_reduce, all_gather, all_reduce]
  modes: throughput
  types: [float32]
  from: 1M
  to: 1G
  fail_above: 3.5%
- *big
`

func TestParseThresholds(t *testing.T) {
	got, err := parseThresholds("limits.yaml", []byte(allThresholds))
	if err != nil {
		t.Fatal(err)
	}
	if *got.margin != 0.03 || *got.failAbove != 0.05 || len(got.rules) != 3 {
		t.Fatalf("%+v", got)
	}
	if r := got.rules[0]; r.to != 4<<10 || *r.margin != 0.1 || r.failAbove != nil || r.collectives != nil {
		t.Errorf("%+v", r)
	}
	for _, r := range got.rules[1:] {
		if !slices.Equal(r.collectives, []coll.Collective{coll.AllReduce, coll.AllGather}) ||
			!slices.Equal(r.modes, []coll.Mode{coll.Throughput}) ||
			!slices.Equal(r.types, []coll.DataType{coll.Float32}) || r.from != 1<<20 || r.to != 1<<30 || *r.failAbove < 0.0349 ||
			*r.failAbove > 0.0351 || r.margin != nil {
			t.Errorf("%+v", r)
		}
	}
}

// What is wrong in a file of thresholds is named with its line and column, all of it at once.
func TestThresholdErrors(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                  {"l.yaml:1: the file is empty; want keys such as margin"},
		"- a":                               {"l.yaml:1:1: thresholds: want keys (margin, fail_above, rules), found a list"},
		"margin: 3%\nmargin: 4%":            {"l.yaml:2:1: margin was given before, in line 1"},
		"margin: [3%]":                      {"l.yaml:1:9: want one value, found a list"},
		"margin: NaN%":                      {`l.yaml:1:9: "NaN%": want a percentage over 0`},
		"rules:":                            {"l.yaml:1:7: rules: want a list of blocks, found nothing"},
		"rules: {a: b}":                     {"l.yaml:1:8: rules: want a list of blocks, found keys"},
		"rules:\n- from: 1M":                {"l.yaml:2:3: rule 1 sets nothing: want margin or fail_above"},
		"rules:\n- modes: []\n  margin: 2%": {"l.yaml:2:10: the list is empty; leave it out to mean all"},
		"rules:\n- to: 0\n  margin: 2%":     {"l.yaml:2:7: rule 1 ends at 0 bytes"},
		"rules:\n- from: 1M\n  to: 1K\n  margin: 2%": {"l.yaml:3:7: rule 1 ends before it begins: to is less than from"},
		"rules: &a [*a]": {"l.yaml:1:8: a rule: want keys ("},
		"margin: 3\nrules:\n- colectives: all_reduce\n  margin: 2%\n- collectives: [all_reduce, allreduze]\n  modes: fast\n  from: 1Q\n  margin: 2%": {
			`l.yaml:1:9: "3": want a percentage`, `l.yaml:3:3: unknown key "colectives"; did you mean "collectives"?`,
			`l.yaml:5:29: unknown collective "allreduze"; did you mean "all_reduce"?`, `l.yaml:6:10: unknown mode "fast"`,
			"l.yaml:7:9: "},
	} {
		_, err := parseThresholds("l.yaml", []byte(text))
		if err == nil {
			t.Errorf("%q is taken", text)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != len(want) {
			t.Errorf("%q: %d problems, want %d: %v", text, len(lines), len(want), err)
			continue
		}
		for i, line := range lines {
			if !strings.HasPrefix(line, want[i]) {
				t.Errorf("%q: %s, want %s", text, line, want[i])
			}
		}
	}
}

// FuzzThresholds: what is taken has sense, and what is not has a place.
func FuzzThresholds(f *testing.F) {
	for _, text := range []string{allThresholds, "", "- a", "{", "margin: 1e300%", "margin: !!binary aQ==",
		"rules: &a [*a]", "rules:\n- &a\n  from: 9000000000G\n  to: 1\n  margin: 1%", "<<: {margin: 1%}", "--- \n--- ",
		"\xff\xfe"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseThresholds("f.yaml", []byte(text))
		if err != nil {
			var first *strictyaml.Error
			if !errors.As(err, &first) || first.Line < 1 || first.File != "f.yaml" {
				t.Errorf("not positioned: %v", err)
			}
			return
		}
		share := func(p *float64) bool { return p == nil || *p > 0 && *p < 100 }
		if !share(got.margin) || !share(got.failAbove) {
			t.Errorf("%+v", got)
		}
		for _, r := range got.rules {
			if !share(r.margin) || !share(r.failAbove) || r.margin == nil && r.failAbove == nil || r.from < 0 || r.to < 0 ||
				r.to > 0 && r.to < r.from {
				t.Errorf("a rule without sense: %+v", r)
			}
		}
	})
}
