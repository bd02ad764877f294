package sweeps

import (
	"fmt"

	"busbar/internal/strictyaml"

	"gopkg.in/yaml.v3"
)

// sizes reads a list or a range of sizes or elements.
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
		p.Errorf(v, "a range needs both begin and end")
	case given["factor"] && given["step"]:
		p.Errorf(v, "factor and step exclude each other")
	case err != nil:
		p.Fail(v, err)
	}
	return s
}
