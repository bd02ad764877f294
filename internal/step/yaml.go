package step

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"busbar/internal/coll"
	"busbar/internal/units"

	"gopkg.in/yaml.v3"
)

// modelFile is a model as its file describes it.
type modelFile struct {
	Name      text
	About     text
	Forward   *seconds
	Backward  *seconds
	Optimizer seconds
	Layers    []layerEntry
}

// layerEntry is a layer, or with Layers a block of them that repeat together.
type layerEntry struct {
	Name     text
	Params   *elements
	Shape    []elements
	Forward  *seconds
	Backward *seconds
	Weight   *float64
	Repeat   *int
	Layers   []layerEntry
}

// parseYAML reads a model from the text of a file. The error joins what is wrong in it.
func parseYAML(file string, source []byte) (*Model, error) {
	base := filepath.Base(file)
	f := modelFile{Name: text(units.Printable(strings.TrimSuffix(base, filepath.Ext(base))))}
	d := yaml.NewDecoder(bytes.NewReader(source))
	d.KnownFields(true)
	err := d.Decode(&f)
	var several *yaml.TypeError
	switch {
	case err == io.EOF:
		err = errors.New("the file is empty; it must have keys such as forward and layers")
	case errors.As(err, &several):
		err = errors.New(strings.Join(several.Errors, "\n"))
	case err == nil && d.Decode(new(yaml.Node)) != io.EOF:
		err = errors.New("more than one YAML document; a file has one model")
	}
	m := &Model{Name: string(f.Name), About: string(f.About), Optimizer: float64(f.Optimizer)}
	if err == nil {
		b := modelBuilder{model: m, names: map[string]bool{}}
		b.add(f.Layers, "")
		err = b.finish(&f)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", units.Printable(file), err)
	}
	return m, nil
}

// text is a line for people.
type text string

func (t *text) UnmarshalYAML(n *yaml.Node) error {
	return decode(n, t, func(s string) (text, error) {
		if s == "" || units.Printable(s) != s {
			return "", fmt.Errorf("%q must be one line of printable text", s)
		}
		return text(s), nil
	})
}

// elements are a number of them.
type elements int64

func (e *elements) UnmarshalYAML(n *yaml.Node) error {
	return decode(n, e, func(s string) (elements, error) {
		count, err := coll.ParseSize(s)
		if err != nil || count > maxParams {
			return 0, fmt.Errorf("%q must be a whole number of at most %s, with K, M or G as powers of 1024", s,
				coll.FormatSize(maxParams, false))
		}
		return elements(count), nil
	})
}

// seconds are a time, written with its unit.
type seconds float64

func (t *seconds) UnmarshalYAML(n *yaml.Node) error {
	return decode(n, t, func(s string) (seconds, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < 0 {
			return 0, fmt.Errorf("%q must be a time of 0 or more, such as 5ms", s)
		}
		return seconds(d.Seconds()), nil
	})
}

// decode parses a scalar. Its errors have the line, and do not hide those of other lines.
func decode[T any](n *yaml.Node, to *T, parse func(string) (T, error)) (err error) {
	if n.Kind != yaml.ScalarNode {
		err = errors.New("must be one value")
	} else {
		*to, err = parse(n.Value)
	}
	if err != nil {
		return &yaml.TypeError{Errors: []string{fmt.Sprintf("line %d: %v", n.Line, err)}}
	}
	return nil
}

// modelBuilder makes layers of the entries of a file.
type modelBuilder struct {
	model    *Model
	entries  []layerEntry // of each layer of the model
	names    map[string]bool
	params   int64
	problems []error
}

func (b *modelBuilder) Errorf(format string, args ...any) {
	b.problems = append(b.problems, fmt.Errorf(format, args...))
}

// add adds the layers of a list; names of layers in a block begin with the prefix.
func (b *modelBuilder) add(list []layerEntry, prefix string) {
	for _, l := range list {
		repeat := 1
		if l.Repeat != nil {
			repeat = *l.Repeat
		}
		if repeat < 1 || repeat > maxLayers {
			b.Errorf("layer %s: repeat must be from 1 to %d", prefix+string(l.Name), maxLayers)
			continue
		}
		for i := 0; i < repeat && b.problems == nil; i++ {
			name := prefix + string(l.Name)
			if l.Layers == nil && l.Name == "" {
				name += "layer" + strconv.Itoa(len(b.entries)+1)
			} else if repeat > 1 {
				name = strings.TrimPrefix(name+"."+strconv.Itoa(i), ".")
			}
			if l.Layers == nil {
				b.layer(name, l)
			} else if l.Params != nil || l.Shape != nil || l.Forward != nil || l.Backward != nil || l.Weight != nil {
				b.Errorf("block %s: only name, repeat and layers go with layers", name)
			} else {
				b.add(l.Layers, strings.TrimPrefix(name+".", "."))
			}
		}
	}
}

// layer adds one layer.
func (b *modelBuilder) layer(name string, l layerEntry) {
	params := int64(1)
	switch {
	case (l.Params == nil) == (l.Shape == nil):
		b.Errorf("layer %s: needs params or shape, and not both; params: 0 where it only computes", name)
	case l.Params != nil:
		params = int64(*l.Params)
	}
	for _, side := range l.Shape {
		if side < 1 || params > maxParams/int64(side) {
			b.Errorf("layer %s: shape: sides must be at least 1, and their product at most %s", name,
				coll.FormatSize(maxParams, false))
			return
		}
		params *= int64(side)
	}
	switch b.params += params; {
	case len(b.entries) == maxLayers:
		b.Errorf("more than %d layers", maxLayers)
	case b.params > maxParams:
		b.Errorf("more than %s parameters in all layers", coll.FormatSize(maxParams, false))
	case b.names[name]:
		b.Errorf("layer %s: another layer has this name", name)
	}
	if l.Weight == nil {
		weight := float64(params)
		l.Weight = &weight
	}
	if !(*l.Weight >= 0 && *l.Weight < math.MaxInt64) {
		b.Errorf("layer %s: weight must be a number of 0 or more", name)
	}
	b.names[name] = true
	b.entries = append(b.entries, l)
	b.model.Layers = append(b.model.Layers, Layer{Name: name, Params: params})
}

// finish gives each layer its times: its own, or its share by weight of the rest of the pass. Without a total for the
// backward pass, a layer without a time of its own takes twice its forward time.
func (b *modelBuilder) finish(f *modelFile) error {
	switch {
	case len(f.Layers) == 0:
		b.Errorf("layers are missing: a list such as [{name: embedding, params: 1M}]")
	case b.params == 0 && b.problems == nil:
		b.Errorf("no layer has parameters: there is nothing to communicate")
	}
	if b.problems != nil {
		return errors.Join(b.problems...)
	}
	forward := b.divide("forward", f.Forward, func(l *layerEntry) *seconds { return l.Forward })
	backward := b.divide("backward", f.Backward, func(l *layerEntry) *seconds { return l.Backward })
	sum := 0.0
	for i := range b.entries {
		l := &b.model.Layers[i]
		l.Forward, l.Backward = forward[i], backward[i]
		if f.Backward == nil && b.entries[i].Backward == nil {
			l.Backward = 2 * l.Forward
		}
		sum += l.Forward + l.Backward
	}
	if sum == 0 && b.problems == nil {
		b.Errorf("nothing computes: give the time of the whole model (forward: 40ms) or of layers")
	}
	return errors.Join(b.problems...)
}

// divide returns the time of one pass of each layer.
func (b *modelBuilder) divide(pass string, whole *seconds, of func(*layerEntry) *seconds) []float64 {
	times := make([]float64, len(b.entries))
	sum, weights := 0.0, 0.0
	for i := range b.entries {
		if own := of(&b.entries[i]); own != nil {
			times[i] = float64(*own)
			sum += times[i]
		} else {
			weights += *b.entries[i].Weight
		}
	}
	if whole == nil {
		return times
	}
	const rounding = 0.5e-9 // what is read has whole nanoseconds
	left := float64(*whole) - sum
	switch {
	case math.Abs(left) < rounding:
		return times
	case left < 0 || weights == 0:
		b.Errorf(
			"%s: takes %.9g s, but the layers' own times are %.9g s together, and layers without an own time have "+
				"a weight of %g",
			pass,
			float64(*whole),
			sum,
			weights,
		)
		return times
	}
	for i := range b.entries {
		if of(&b.entries[i]) == nil {
			times[i] = left * *b.entries[i].Weight / weights
		}
	}
	return times
}
