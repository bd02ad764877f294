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
	nodes := map[string]*yaml.Node{}
	problems := p.Problems()
	p.Mapping(v, "a range", rangeKeys, nil, func(name string, k, v *yaml.Node) {
		nodes[name] = v
		value := func(word string) (int64, error) {
			values, err := parse(word)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", name, err)
			}
			return values[0], nil
		}
		switch name {
		case "begin":
			s.Begin = strictyaml.One(p.Reader, v, value)
		case "end":
			s.End = strictyaml.One(p.Reader, v, value)
		case "step":
			s.Step = strictyaml.One(p.Reader, v, value)
		case "factor":
			s.Factor = strictyaml.One(p.Reader, v, func(word string) (int64, error) {
				n, err := wholeNumber("factor", 2)(word)
				return int64(n), err
			})
		}
	})
	if p.Problems() > problems {
		return s
	}
	switch {
	case nodes["begin"] == nil || nodes["end"] == nil:
		p.Errorf(v, "a range wants both begin and end")
	case nodes["factor"] != nil && nodes["step"] != nil:
		p.Errorf(nodes["step"], "factor and step exclude each other; factor stands in line %d", nodes["factor"].Line)
	case s.Begin > s.End:
		p.Errorf(nodes["begin"], "the range is empty: begin %s is larger than end %s", nodes["begin"].Value,
			nodes["end"].Value)
	case s.tooMany():
		p.Errorf(nodes["step"], "the range has more than %d sizes; want a larger step, or a factor", maxPoints)
	case s.Step == 0 && s.Factor == 0:
		s.Factor = 2
	}
	return s
}
