package strictyaml

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// One reads a single value.
func One[T any](r *Reader, v *yaml.Node, parse func(string) (T, error)) T {
	var zero T
	if v.Kind != yaml.ScalarNode || IsNull(v) {
		r.Errorf(v, "expected one value, found %s", KindOf(v))
		return zero
	}
	value, err := parse(v.Value)
	if err != nil {
		r.Fail(v, err)
		return zero
	}
	return value
}

// List reads a list of words, or one word, and drops what is repeated.
func List[T comparable](r *Reader, v *yaml.Node, parse func(string) ([]T, error)) []T {
	words := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode && len(v.Content) > 0 {
		words = v.Content
	}
	var all []T
	for _, w := range words {
		w = Resolve(w)
		if w.Kind != yaml.ScalarNode || IsNull(w) {
			r.Errorf(w, "expected a value or a list of values, found %s", KindOf(w))
			continue
		}
		values, err := parse(w.Value)
		if err != nil {
			r.Fail(w, err)
			continue
		}
		for _, v := range values {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// Resolve follows an alias (*name) to its anchor.
func Resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// IsNull reports whether a value is empty: nothing at all, ~ or null.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// KindOf is what a value is, for people.
func KindOf(n *yaml.Node) string {
	switch {
	case IsNull(n):
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
