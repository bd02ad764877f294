package sweeps

import (
	"fmt"
	"slices"

	"busbar/internal/strictyaml"

	"gopkg.in/yaml.v3"
)

var (
	// planKeys define points, at the top level and in parts.
	planKeys = []string{"collectives", "sizes", "elements", "types", "ops", "roots", "placement", "mode",
		"imbalance", "groups"}
	// runKeys apply to a whole run, so they are allowed only at the top level.
	runKeys = []string{"worlds", "precision", "budget", "iterations", "warmup", "check", "aggregate", "time_limit"}
	allKeys = slices.Concat(planKeys, runKeys, []string{"description", "parts"})
	// rangeKeys are the keys of a range of sizes or elements.
	rangeKeys = []string{"begin", "end", "factor", "step"}
)

// Parse parses the YAML text of a sweep. Errors and origins name the file as Read returns it. The error joins one
// *Error per problem, in file order.
func Parse(file string, text []byte) (*Sweep, error) {
	p := parser{&strictyaml.Reader{File: file}}
	s := Default()
	s.Name, s.Source = sweepName(file), string(text)
	if root := p.Document(text, "a sweep has keys such as collectives and sizes",
		"a file has one sweep; use parts for several ranges"); root != nil {
		p.top(s, root)
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// Error is one problem of a sweep file. Parse joins all problems; errors.As finds the first.
type Error = strictyaml.Error

type parser struct{ *strictyaml.Reader }

// readers returns the parser of each key, into a sweep or a part of it.
func (p parser) readers(s *Sweep, t *Part) map[string]func(v *yaml.Node) {
	r := p.Reader
	count := func(name string, minimum int, to *int) func(v *yaml.Node) {
		return func(v *yaml.Node) { *to = strictyaml.One(r, v, wholeNumber(name, minimum)) }
	}
	return map[string]func(v *yaml.Node){
		"collectives": func(v *yaml.Node) { t.Collectives = strictyaml.List(r, v, ParseCollectives) },
		"sizes":       func(v *yaml.Node) { t.Sizes = p.sizes(v, false) },
		"elements":    func(v *yaml.Node) { t.Sizes = p.sizes(v, true) },
		"types":       func(v *yaml.Node) { t.Types = strictyaml.List(r, v, ParseTypes) },
		"ops":         func(v *yaml.Node) { t.Ops = strictyaml.List(r, v, ParseOps) },
		"roots":       func(v *yaml.Node) { t.Roots = strictyaml.List(r, v, ParseRoots) },
		"placement":   func(v *yaml.Node) { t.Placements = strictyaml.List(r, v, ParsePlacements) },
		"mode":        func(v *yaml.Node) { t.Modes = strictyaml.List(r, v, ParseModes) },
		"imbalance":   func(v *yaml.Node) { t.Imbalances = strictyaml.List(r, v, ParseImbalances) },
		"groups":      func(v *yaml.Node) { t.Groups = strictyaml.List(r, v, ParseGroups) },
		"worlds":      func(v *yaml.Node) { s.Worlds = strictyaml.List(r, v, ParseWorlds) },
		"precision":   func(v *yaml.Node) { s.Precision = strictyaml.One(r, v, ParsePercent) },
		"budget":      func(v *yaml.Node) { s.Budget = strictyaml.One(r, v, ParseBudget) },
		"time_limit":  func(v *yaml.Node) { s.TimeLimit = strictyaml.One(r, v, ParseDuration) },
		"iterations":  count("iterations", 0, &s.Iterations),
		"warmup":      count("warmup", 0, &s.Warmup),
		"check":       count("check", 0, &s.Check),
		"aggregate":   count("aggregate", 1, &s.Aggregate),
		"description": func(v *yaml.Node) {
			s.Description = strictyaml.One(r, v, func(text string) (string, error) { return text, nil })
		},
	}
}

// top parses the whole file: top-level keys first, so that parts inherit them.
func (p parser) top(s *Sweep, root *yaml.Node) {
	base := s.Parts[0]
	parts := p.block(root, "a sweep", s, &base)
	if s.Parts[0] = base; parts == nil {
		return
	}
	if parts.Kind != yaml.SequenceNode || len(parts.Content) == 0 {
		p.Errorf(parts, "parts must be a list of blocks, found %s", strictyaml.KindOf(parts))
		return
	}
	s.Parts = nil
	for _, n := range parts.Content {
		part := base.clone()
		p.block(strictyaml.Resolve(n), "a part", nil, &part)
		s.Parts = append(s.Parts, part)
	}
}

// block parses the keys of a sweep, or of a part if s is nil, over the part's values. It returns the value of the key
// parts.
func (p parser) block(n *yaml.Node, what string, s *Sweep, part *Part) (parts *yaml.Node) {
	top := s != nil
	if !top {
		s = &Sweep{}
	}
	readers := p.readers(s, part)
	lines := map[string]int{} // of the keys so far
	p.Mapping(n, what, allKeys, nil, func(name string, k, v *yaml.Node) {
		other := map[string]string{"sizes": "elements", "elements": "sizes"}[name]
		switch makesPoints := slices.Contains(planKeys, name); {
		case !top && !makesPoints:
			p.Errorf(k, "%s applies to the whole sweep: move it to the top level", name)
		case name == "parts":
			parts = v
		case lines[other] > 0:
			p.Errorf(k, "%s and %s exclude each other; %s is in line %d", name, other, other, lines[other])
		default:
			readers[name](v)
			lines[name] = k.Line
			if makesPoints {
				part.origins[name] = p.Origin(k)
			} else {
				s.origins[name] = p.Origin(k)
			}
		}
	})
	return parts
}

// sizes parses a list or a range of sizes or elements.
func (p parser) sizes(v *yaml.Node, elements bool) Sizes {
	parse := func(word string) ([]int64, error) {
		n, err := parseBytes(word)
		return []int64{n}, err
	}
	if elements {
		parse = ParseElements
	}
	if v.Kind != yaml.MappingNode {
		return listed(strictyaml.List(p.Reader, v, parse), elements)
	}
	s := Sizes{Elements: elements}
	size := func(name string) func(string) (int64, error) {
		return func(word string) (int64, error) {
			n, err := parse(word)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", name, err)
			}
			return n[0], nil
		}
	}
	given := map[string]bool{}
	problems := p.Problems()
	p.Mapping(v, "a range", rangeKeys, nil, func(name string, k, v *yaml.Node) {
		given[name] = true
		switch name {
		case "begin":
			s.Begin = strictyaml.One(p.Reader, v, size(name))
		case "end":
			s.End = strictyaml.One(p.Reader, v, size(name))
		case "step":
			s.Step = strictyaml.One(p.Reader, v, size(name))
		case "factor":
			s.Factor = int64(strictyaml.One(p.Reader, v, wholeNumber(name, 2)))
		}
	})
	if p.Problems() > problems {
		return s
	}
	if s.Step == 0 && s.Factor == 0 {
		s.Factor = 2
	}
	switch err := s.check(); {
	case !given["begin"] || !given["end"]:
		p.Errorf(v, "a range requires both begin and end")
	case given["factor"] && given["step"]:
		p.Errorf(v, "factor and step exclude each other")
	case err != nil:
		p.Fail(v, err)
	}
	return s
}
