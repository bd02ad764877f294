package step

import (
	"path/filepath"
	"strconv"
	"strings"

	"busbar/internal/coll"
	"busbar/internal/strictyaml"

	"gopkg.in/yaml.v3"
)

// The keys of a model's file and of its layers.
var (
	modelKeys = []string{"name", "about", "forward", "backward", "optimizer", "layers"}
	layerKeys = []string{"name", "params", "shape", "forward", "backward", "weight", "repeat"}
	blockKeys = []string{"name", "repeat", "layers"}
)

// parseYAML reads a model from the text of a file.
func parseYAML(file string, text []byte) (*Model, error) {
	p := &modelReader{Reader: &strictyaml.Reader{File: file}, names: map[string]int{}}
	m := &Model{Name: nameOf(file), Source: string(text)}
	if root := p.Document(text, "want keys such as forward and layers", "want one model a file"); root != nil {
		p.top(m, root)
	}
	if err := p.Err(); err != nil {
		return nil, err
	}
	return m, nil
}

// nameOf is what a model is called by its file: without what a terminal would not print.
func nameOf(file string) string {
	base := filepath.Base(file)
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.TrimSuffix(base, filepath.Ext(base)))
}

// modelReader reads one model's file.
type modelReader struct {
	*strictyaml.Reader
	layers []layerEntry
	names  map[string]int // of layers, with the line where each stands
	params int64          // of all layers so far
}

// layerEntry is a layer as it stands in a file.
type layerEntry struct {
	Layer
	forward, backward timeKey
	weight            float64
}

func (p *modelReader) top(m *Model, root *yaml.Node) {
	var forward, backward timeKey
	var layers *yaml.Node
	p.Mapping(root, "a model", modelKeys, nil, func(key string, _, v *yaml.Node) {
		switch key {
		case "name":
			m.Name = strictyaml.One(p.Reader, v, line)
		case "about":
			m.About = strictyaml.One(p.Reader, v, line)
		case "forward":
			forward = p.time(v)
		case "backward":
			backward = p.time(v)
		case "optimizer":
			m.Optimizer = p.time(v).seconds
		case "layers":
			layers = v
			p.list(v, p.entry)
		}
	})
	switch {
	case p.Problems() > 0:
		return
	case layers == nil:
		p.Errorf(root, "layers are missing: a list of blocks such as {name: embedding, params: 1M}")
		return
	case p.params == 0:
		p.Errorf(layers, "no layer has parameters: there is nothing to communicate")
		return
	}
	p.times(root, forward, backward)
	for _, l := range p.layers {
		m.Layers = append(m.Layers, l.Layer)
	}
}

// list calls each for every block of a list.
func (p *modelReader) list(n *yaml.Node, each func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.Errorf(n, "layers: want a list of blocks, found %s", strictyaml.KindOf(n))
		return
	}
	for _, entry := range n.Content {
		if p.full() {
			return
		}
		each(strictyaml.Resolve(entry))
	}
}

// full says whether there are more layers than a model can have, which is noted as a problem.
func (p *modelReader) full() bool { return len(p.layers) > maxLayers || p.params > maxParams }

// entry reads one block of the list: a layer, or some that repeat together.
func (p *modelReader) entry(n *yaml.Node) {
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			if strictyaml.Resolve(n.Content[i]).Value == "layers" {
				p.block(n)
				return
			}
		}
	}
	p.layer(n, "")
}

// block reads layers that repeat together; their names begin with that of the block and the number of the repetition.
func (p *modelReader) block(n *yaml.Node) {
	before, name, repeat := p.Problems(), "", 1
	var layers *yaml.Node
	p.Mapping(n, "a block of layers", blockKeys, nil, func(key string, _, v *yaml.Node) {
		switch key {
		case "name":
			name = strictyaml.One(p.Reader, v, line) + "."
		case "repeat":
			repeat = strictyaml.One(p.Reader, v, count)
		case "layers":
			layers = v
		}
	})
	for i := 0; i < repeat && p.Problems() == before; i++ {
		prefix := name
		if repeat > 1 {
			prefix += strconv.Itoa(i) + "."
		}
		p.list(layers, func(n *yaml.Node) { p.layer(n, prefix) })
	}
}

// layer reads one layer, and adds it as often as it repeats.
func (p *modelReader) layer(n *yaml.Node, prefix string) {
	var l layerEntry
	var params, shape, weight *yaml.Node
	before, repeat := p.Problems(), 1
	p.Mapping(n, "a layer", layerKeys, nil, func(key string, _, v *yaml.Node) {
		switch key {
		case "name":
			l.Name = strictyaml.One(p.Reader, v, line)
		case "params":
			params, l.Params = v, strictyaml.One(p.Reader, v, elements)
		case "shape":
			shape = v
			l.Params, l.Shape = p.shape(v)
		case "forward":
			l.forward = p.time(v)
		case "backward":
			l.backward = p.time(v)
		case "weight":
			weight, l.weight = v, strictyaml.One(p.Reader, v, number)
		case "repeat":
			repeat = strictyaml.One(p.Reader, v, count)
		}
	})
	switch {
	case p.Problems() > before:
		return
	case params != nil && shape != nil:
		p.Errorf(shape, "params and shape exclude each other; params stand in line %d", params.Line)
		return
	case params == nil && shape == nil:
		p.Errorf(n, "a layer wants params or shape; params: 0 where it only computes")
		return
	case weight == nil:
		l.weight = float64(l.Params)
	}
	name := l.Name
	for i := 0; i < repeat && p.Problems() == before; i++ {
		switch l.Name = prefix + name; {
		case name == "":
			l.Name += "layer" + strconv.Itoa(len(p.layers)+1)
		case repeat > 1:
			l.Name += "." + strconv.Itoa(i)
		}
		p.add(n, l)
	}
}

// add adds a layer to the model.
func (p *modelReader) add(n *yaml.Node, l layerEntry) {
	if line := p.names[l.Name]; line > 0 {
		p.Errorf(n, "a layer called %s stands in line %d already", l.Name, line)
		return
	}
	p.names[l.Name] = n.Line
	p.layers = append(p.layers, l)
	p.params += l.Params
	switch {
	case len(p.layers) > maxLayers:
		p.Errorf(n, "more than %d layers", maxLayers)
	case p.params > maxParams:
		p.Errorf(n, "more than %s parameters in all layers", coll.FormatSize(maxParams, false))
	}
}
