package sweeps

import (
	"busbar/internal/strictyaml"

	"gopkg.in/yaml.v3"
)

// Parse reads the YAML text of a sweep. The file's name, as Read returns it, stands in errors and origins. The error
// joins one *Error for each problem found, in the order of the file.
func Parse(file string, text []byte) (*Sweep, error) {
	p := parser{&strictyaml.Reader{File: file}}
	s := Default()
	s.Name, s.Source = sweepName(file), string(text)
	if root := p.Document(text, "want keys such as collectives and sizes",
		"want one sweep a file; use "+partsKey+" for several ranges"); root != nil {
		p.top(s, root)
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// Error is one thing that is wrong in a sweep file. Parse joins all that it finds; errors.As finds the first.
type Error = strictyaml.Error

type parser struct{ *strictyaml.Reader }

// top reads the whole file: its own keys first, so that parts inherit them wherever they stand.
func (p parser) top(s *Sweep, root *yaml.Node) {
	base := &s.Parts[0]
	var parts *yaml.Node
	known := append(keyNames(planKeys, runKeys), descriptionKey, partsKey)
	block := map[string]*yaml.Node{}
	p.Mapping(root, "a sweep", known, nil, func(name string, k, v *yaml.Node) {
		switch name {
		case descriptionKey:
			s.Description = strictyaml.One(p.Reader, v, func(text string) (string, error) { return text, nil })
		case partsKey:
			parts = v
		default:
			if run := find(runKeys, name); run != nil {
				run.read(p, s, nil, v)
				s.origins[name] = p.Origin(k)
				return
			}
			p.planKey(base, block, name, k, v)
		}
	})
	if parts == nil {
		return
	}
	if parts.Kind != yaml.SequenceNode || len(parts.Content) == 0 {
		p.Errorf(parts, "parts: want a list of blocks, found %s", strictyaml.KindOf(parts))
		return
	}
	inherited := *base
	s.Parts = nil
	for _, n := range parts.Content {
		part := inherited.clone()
		p.part(&part, strictyaml.Resolve(n))
		s.Parts = append(s.Parts, part)
	}
}

// part reads one block over what it inherits.
func (p parser) part(part *Part, n *yaml.Node) {
	known := append(keyNames(planKeys, runKeys), descriptionKey, partsKey)
	block := map[string]*yaml.Node{}
	p.Mapping(n, "a part", known, nil, func(name string, k, v *yaml.Node) {
		if find(planKeys, name) == nil {
			p.Errorf(k, "%s holds for the whole sweep: move it out of %s, to the top level", name, partsKey)
			return
		}
		p.planKey(part, block, name, k, v)
	})
}

// planKey reads one key of a block; block holds the keys that it has had so far.
func (p parser) planKey(part *Part, block map[string]*yaml.Node, name string, k, v *yaml.Node) {
	other := map[string]string{"sizes": "elements", "elements": "sizes"}[name]
	if first := block[other]; first != nil {
		p.Errorf(k, "%s and %s exclude each other; %s stands in line %d", name, other, other, first.Line)
		return
	}
	find(planKeys, name).read(p, nil, part, v)
	block[name] = k
	part.origins[name] = p.Origin(k)
}
