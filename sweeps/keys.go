package sweeps

import (
	"busbar/internal/strictyaml"

	"gopkg.in/yaml.v3"
)

// key is one key of the YAML: how its value gets into a sweep (run keys) or into a part (plan keys).
type key struct {
	name string
	read func(p parser, s *Sweep, part *Part, v *yaml.Node)
}

// planKeys make points; they may stand at the top level and in parts.
var planKeys = []key{
	{"collectives", func(p parser, _ *Sweep, t *Part, v *yaml.Node) {
		t.Collectives = strictyaml.List(p.Reader, v, ParseCollectives)
	}},
	{"sizes", func(p parser, _ *Sweep, t *Part, v *yaml.Node) { t.Sizes = p.sizes(v, false) }},
	{"elements", func(p parser, _ *Sweep, t *Part, v *yaml.Node) { t.Sizes = p.sizes(v, true) }},
	{"types", func(p parser, _ *Sweep, t *Part, v *yaml.Node) { t.Types = strictyaml.List(p.Reader, v, ParseTypes) }},
	{"ops", func(p parser, _ *Sweep, t *Part, v *yaml.Node) { t.Ops = strictyaml.List(p.Reader, v, ParseOps) }},
	{"roots", func(p parser, _ *Sweep, t *Part, v *yaml.Node) { t.Roots = strictyaml.List(p.Reader, v, ParseRoots) }},
	{"placement", func(p parser, _ *Sweep, t *Part, v *yaml.Node) {
		t.Placements = strictyaml.List(p.Reader, v, ParsePlacements)
	}},
	{"mode", func(p parser, _ *Sweep, t *Part, v *yaml.Node) { t.Modes = strictyaml.List(p.Reader, v, ParseModes) }},
}

// runKeys hold for a whole run, so they stand at the top level only.
var runKeys = []key{
	{"worlds",
		func(p parser, s *Sweep, _ *Part, v *yaml.Node) { s.Worlds = strictyaml.List(p.Reader, v, ParseWorlds) }},
	{"precision", func(p parser, s *Sweep, _ *Part, v *yaml.Node) {
		s.Precision = strictyaml.One(p.Reader, v, ParsePercent)
	}},
	{"budget", func(p parser, s *Sweep, _ *Part, v *yaml.Node) { s.Budget = strictyaml.One(p.Reader, v, ParseBudget) }},
	{"iterations", func(p parser, s *Sweep, _ *Part, v *yaml.Node) {
		s.Iterations = strictyaml.One(p.Reader, v, wholeNumber("iterations", 0))
	}},
	{"warmup", func(p parser, s *Sweep, _ *Part, v *yaml.Node) {
		s.Warmup = strictyaml.One(p.Reader, v, wholeNumber("warmup", 0))
	}},
	{"check", func(p parser, s *Sweep, _ *Part, v *yaml.Node) {
		s.Check = strictyaml.One(p.Reader, v, wholeNumber("check", 0))
	}},
	{"aggregate", func(p parser, s *Sweep, _ *Part, v *yaml.Node) {
		s.Aggregate = strictyaml.One(p.Reader, v, wholeNumber("aggregate", 1))
	}},
	{"time_limit", func(p parser, s *Sweep, _ *Part, v *yaml.Node) {
		s.TimeLimit = strictyaml.One(p.Reader, v, ParseDuration)
	}},
}

// The keys that shape the file itself.
const (
	descriptionKey = "description"
	partsKey       = "parts"
)

// rangeKeys are the keys of a range of sizes or elements.
var rangeKeys = []string{"begin", "end", "factor", "step"}

func keyNames(tables ...[]key) []string {
	var names []string
	for _, t := range tables {
		for _, k := range t {
			names = append(names, k.name)
		}
	}
	return names
}

func find(table []key, name string) *key {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}
