package sweeps

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"busbar/internal/coll"

	"gopkg.in/yaml.v3"
)

// Parse reads the YAML text of a sweep. The file's name, as Read returns it, stands in errors and origins. The error
// joins one *Error for each problem found, in the order of the file.
func Parse(file string, text []byte) (*Sweep, error) {
	p := &parser{file: file}
	s := Default()
	s.Name, s.Source = sweepName(file), string(text)
	if root := p.document(text); root != nil {
		p.top(s, root)
	}
	if err := join(p.problems); err != nil {
		return nil, err
	}
	return s, nil
}

type parser struct {
	file     string
	problems []*Error
}

func (p *parser) fail(n *yaml.Node, err error) {
	p.problems = append(p.problems, &Error{p.file, max(n.Line, 1), n.Column, err})
}

func (p *parser) failf(n *yaml.Node, format string, args ...any) {
	p.fail(n, fmt.Errorf(format, args...))
}

func (p *parser) origin(n *yaml.Node) string { return fmt.Sprintf("%s:%d", p.file, n.Line) }

// document returns the mapping that is the file, nil with a problem noted when there is none.
func (p *parser) document(text []byte) *yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc, next yaml.Node
	err := decoder.Decode(&doc)
	if err == nil && len(doc.Content) > 0 && !isNull(doc.Content[0]) {
		if err = decoder.Decode(&next); err == nil {
			p.failf(&next, "a second YAML document: want one sweep a file; use %s for several ranges", partsKey)
			return nil
		}
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		p.problems = append(p.problems, syntaxError(p.file, err))
		return nil
	case len(doc.Content) == 0 || isNull(doc.Content[0]):
		p.failf(&yaml.Node{Line: 1}, "the file is empty; want keys such as collectives and sizes")
		return nil
	}
	return doc.Content[0]
}

// top reads the whole file: its own keys first, so that parts inherit them wherever they stand.
func (p *parser) top(s *Sweep, root *yaml.Node) {
	base := &s.Parts[0]
	var parts *yaml.Node
	known := append(keyNames(planKeys, runKeys), descriptionKey, partsKey)
	block := map[string]*yaml.Node{}
	p.mapping(root, "a sweep", known, func(name string, k, v *yaml.Node) {
		switch name {
		case descriptionKey:
			s.Description = one(p, v, func(text string) (string, error) { return text, nil })
		case partsKey:
			parts = v
		default:
			if run := find(runKeys, name); run != nil {
				run.read(p, s, nil, v)
				s.origins[name] = p.origin(k)
				return
			}
			p.planKey(base, block, name, k, v)
		}
	})
	if parts == nil {
		return
	}
	if parts.Kind != yaml.SequenceNode || len(parts.Content) == 0 {
		p.failf(parts, "parts: want a list of blocks, found %s", kindOf(parts))
		return
	}
	inherited := *base
	s.Parts = nil
	for _, n := range parts.Content {
		part := inherited.clone()
		p.part(&part, resolve(n))
		s.Parts = append(s.Parts, part)
	}
}

// part reads one block over what it inherits.
func (p *parser) part(part *Part, n *yaml.Node) {
	known := append(keyNames(planKeys, runKeys), descriptionKey, partsKey)
	block := map[string]*yaml.Node{}
	p.mapping(n, "a part", known, func(name string, k, v *yaml.Node) {
		if find(planKeys, name) == nil {
			p.failf(k, "%s holds for the whole sweep: move it out of %s, to the top level", name, partsKey)
			return
		}
		p.planKey(part, block, name, k, v)
	})
}

// planKey reads one key of a block; block holds the keys that it has had so far.
func (p *parser) planKey(part *Part, block map[string]*yaml.Node, name string, k, v *yaml.Node) {
	other := map[string]string{"sizes": "elements", "elements": "sizes"}[name]
	if first := block[other]; first != nil {
		p.failf(k, "%s and %s exclude each other; %s stands in line %d", name, other, other, first.Line)
		return
	}
	find(planKeys, name).read(p, nil, part, v)
	block[name] = k
	part.origins[name] = p.origin(k)
}

// mapping calls each for every known key of n; unknown and repeated keys are problems.
func (p *parser) mapping(n *yaml.Node, what string, known []string, each func(name string, k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		p.failf(n, "%s: want keys (%s), found %s", what, strings.Join(known, ", "), kindOf(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := resolve(n.Content[i]), resolve(n.Content[i+1])
		name := k.Value
		if other, ok := otherSpellings[name]; ok {
			name = other
		}
		switch {
		case k.Kind != yaml.ScalarNode:
			p.failf(k, "want a key, found %s", kindOf(k))
		case !slices.Contains(known, name):
			p.fail(k, coll.Unknown("key", k.Value, known))
		case seen[name] > 0:
			p.failf(k, "%s was given before, in line %d", name, seen[name])
		default:
			seen[name] = k.Line
			each(name, k, v)
		}
	}
}

// resolve follows an alias (*name) to its anchor.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func kindOf(n *yaml.Node) string {
	switch {
	case isNull(n):
		return "nothing"
	case n.Kind == yaml.MappingNode && len(n.Content) > 0:
		return "keys"
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0:
		return "a list"
	case n.Kind == yaml.ScalarNode:
		return fmt.Sprintf("%q", n.Value)
	}
	return "nothing"
}
