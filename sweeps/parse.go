package sweeps

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"busbar/internal/coll"
	"busbar/internal/strictyaml"

	"gopkg.in/yaml.v3"
)

var (
	// planKeys define points, at the top level and in parts.
	planKeys = []string{"collectives", "sizes", "elements", "types", "ops", "roots", "placement", "mode",
		"imbalance", "groups"}
	// runKeys apply to a whole run, so they are allowed only at the top level.
	runKeys = []string{"worlds", "precision", "budget", "iterations", "warmup", "check", "aggregate", "time_limit"}
	// partKeys are all that a part may have.
	partKeys = slices.Concat(planKeys, []string{"matrix", "calls"})
	allKeys  = slices.Concat(partKeys, runKeys, []string{"world", "description", "parts"})
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
		"matrix":      func(v *yaml.Node) { p.matrix(v, t) },
		"calls":       func(v *yaml.Node) { t.Calls = strictyaml.One(r, v, parseCalls) },
		"world":       count("world", 1, &s.World),
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
	p.Mapping(n, what, allKeys, func(name string, k, v *yaml.Node) {
		other := exclusive[name]
		switch makesPoints := slices.Contains(partKeys, name); {
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
				part.origins[cmp.Or(shownAs[name], name)] = p.Origin(k)
			} else {
				s.origins[name] = p.Origin(k)
			}
		}
	})
	if lines["matrix"] > 0 && len(part.Imbalances) > 0 {
		if !slices.Equal(part.Collectives, []coll.Collective{coll.AllToAllV}) {
			p.Errorf(n, "matrix requires collectives: [alltoallv]")
		}
		if lines["sizes"]+lines["elements"] == 0 { // the matrix defines the size
			part.Sizes = Sizes{List: []int64{part.Imbalances[0].Bytes()}}
		}
	}
	return parts
}

var (
	// exclusive has the key that each of these keys excludes.
	exclusive = map[string]string{"sizes": "elements", "elements": "sizes", "matrix": "imbalance",
		"imbalance": "matrix"}
	// shownAs has the key under which the origin of another is listed.
	shownAs = map[string]string{"matrix": "imbalance"}
)

// matrix parses the rows of bytes of an alltoallv.
func (p parser) matrix(v *yaml.Node, t *Part) {
	var m matrixRows
	problems := p.Problems()
	for _, row := range v.Content {
		row = strictyaml.Resolve(row)
		words := make([]string, len(row.Content))
		for i, w := range row.Content {
			words[i] = w.Value
		}
		if err := m.add(words); err != nil {
			p.Fail(row, err)
		}
	}
	if p.Problems() > problems {
		return
	}
	if err := m.check(); err != nil {
		p.Fail(v, err)
		return
	}
	t.Imbalances = []coll.Imbalance{coll.Matrix(m).Register(sweepName(p.File))}
}

// parseCalls parses a number of calls per step.
func parseCalls(word string) (float64, error) {
	n, err := strconv.ParseFloat(word, 64)
	if err != nil || !(n > 0 && n < 1e9) {
		return 0, fmt.Errorf("calls %q: must be a number above 0", word)
	}
	return n, nil
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
	p.Mapping(v, "a range", rangeKeys, func(name string, k, v *yaml.Node) {
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
