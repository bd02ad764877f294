package sweeps

import (
	"fmt"

	"gopkg.in/yaml.v3"
)

// one reads a single value.
func one[T any](p *parser, v *yaml.Node, parse func(string) (T, error)) T {
	var zero T
	if v.Kind != yaml.ScalarNode || isNull(v) {
		p.failf(v, "want one value, found %s", kindOf(v))
		return zero
	}
	value, err := parse(v.Value)
	if err != nil {
		p.fail(v, err)
		return zero
	}
	return value
}

// list reads a list of words, or one word, and drops what is repeated.
func list[T comparable](p *parser, v *yaml.Node, parse func(string) ([]T, error)) []T {
	words := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode && len(v.Content) > 0 {
		words = v.Content
	}
	var all []T
	for _, w := range words {
		w = resolve(w)
		if w.Kind != yaml.ScalarNode || isNull(w) {
			p.failf(w, "want a value or a list of values, found %s", kindOf(w))
			continue
		}
		values, err := parse(w.Value)
		if err != nil {
			p.fail(w, err)
			continue
		}
		all = appendNew(all, values)
	}
	return all
}

// sizes reads a list or a range of sizes or elements.
func (p *parser) sizes(v *yaml.Node, elements bool) Sizes {
	parse := func(word string) ([]int64, error) {
		n, err := parseBytes(word)
		return []int64{n}, err
	}
	if elements {
		parse = ParseElements
	}
	if v.Kind != yaml.MappingNode {
		return listed(list(p, v, parse), elements)
	}
	s := Sizes{Elements: elements}
	nodes := map[string]*yaml.Node{}
	problems := len(p.problems)
	p.mapping(v, "a range", rangeKeys, func(name string, k, v *yaml.Node) {
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
			s.Begin = one(p, v, value)
		case "end":
			s.End = one(p, v, value)
		case "step":
			s.Step = one(p, v, value)
		case "factor":
			s.Factor = one(p, v, func(word string) (int64, error) {
				n, err := wholeNumber("factor", 2)(word)
				return int64(n), err
			})
		}
	})
	if len(p.problems) > problems {
		return s
	}
	switch {
	case nodes["begin"] == nil || nodes["end"] == nil:
		p.failf(v, "a range wants both begin and end")
	case nodes["factor"] != nil && nodes["step"] != nil:
		p.failf(nodes["step"], "factor and step exclude each other; factor stands in line %d", nodes["factor"].Line)
	case s.Begin > s.End:
		p.failf(nodes["begin"], "the range is empty: begin %s is larger than end %s", nodes["begin"].Value, nodes["end"].Value)
	case s.tooMany():
		p.failf(nodes["step"], "the range has more than %d sizes; want a larger step, or a factor", maxPoints)
	case s.Step == 0 && s.Factor == 0:
		s.Factor = 2
	}
	return s
}
