// Package strictyaml reads YAML and accepts no mistake silently. Unknown keys, repeated keys and values of the wrong
// kind are errors with line and column, and all errors of a file are reported at once.
//
// It knows no particular file; its callers define the keys.
package strictyaml

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

// Reader reads one file and keeps the problems that it finds in it.
type Reader struct {
	File     string // its name in errors
	problems []*Error
}

// Fail notes a problem at a place of the file.
func (r *Reader) Fail(n *yaml.Node, err error) {
	r.problems = append(r.problems, &Error{r.File, max(n.Line, 1), n.Column, err})
}

// Errorf is Fail with words.
func (r *Reader) Errorf(n *yaml.Node, format string, args ...any) {
	r.Fail(n, fmt.Errorf(format, args...))
}

// Problems is how many were found so far.
func (r *Reader) Problems() int { return len(r.problems) }

// Origin names the place of a node: "FILE:LINE".
func (r *Reader) Origin(n *yaml.Node) string { return fmt.Sprintf("%s:%d", r.File, n.Line) }

// Document returns the content of the file. An empty file or more than one document is a problem, and the result nil.
// The advices are for an empty file, and for a second document.
func (r *Reader) Document(text []byte, emptyAdvice, secondAdvice string) *yaml.Node {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var doc, next yaml.Node
	err := decoder.Decode(&doc)
	if err == nil && len(doc.Content) > 0 && !IsNull(doc.Content[0]) {
		if err = decoder.Decode(&next); err == nil {
			r.Errorf(&next, "a second YAML document: %s", secondAdvice)
			return nil
		}
	}
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		r.problems = append(r.problems, syntaxError(r.File, err))
		return nil
	case len(doc.Content) == 0 || IsNull(doc.Content[0]):
		r.Errorf(&yaml.Node{Line: 1}, "the file is empty; %s", emptyAdvice)
		return nil
	}
	return doc.Content[0]
}

// Mapping calls each for every known key of n, in the order of the file; unknown and repeated keys are problems.
func (r *Reader) Mapping(n *yaml.Node, what string, known []string, each func(name string, k, v *yaml.Node)) {
	r.named(n, what+": expected keys ("+strings.Join(known, ", ")+")", func(name string, k, v *yaml.Node) {
		if !slices.Contains(known, name) {
			r.Fail(k, coll.Unknown("key", k.Value, known))
			return
		}
		each(name, k, v)
	})
}

// Names calls each for every key of n, whatever it is called; repeated ones are problems.
func (r *Reader) Names(n *yaml.Node, what string, each func(name string, k, v *yaml.Node)) {
	r.named(n, what+": expected names with their values", each)
}

func (r *Reader) named(n *yaml.Node, expected string, each func(name string, k, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		r.Errorf(n, "%s, found %s", expected, KindOf(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := Resolve(n.Content[i]), Resolve(n.Content[i+1])
		name := k.Value
		switch {
		case k.Kind != yaml.ScalarNode:
			r.Errorf(k, "expected a key, found %s", KindOf(k))
		case seen[name] > 0:
			r.Errorf(k, "%s was given before, in line %d", name, seen[name])
		default:
			seen[name] = k.Line
			each(name, k, v)
		}
	}
}
