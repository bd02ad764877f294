package strictyaml

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"busbar/internal/coll"

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

// Names lists the *.yaml files of a folder without their suffix, in alphabetical order.
func Names(files fs.FS) []string {
	names, _ := fs.Glob(files, "*.yaml") // the pattern is well formed, and nothing else fails
	for i, f := range names {
		names[i] = strings.TrimSuffix(f, ".yaml")
	}
	return names
}

// Find reads a file by its name in a folder or, when it is none of Names, by its path. It returns the name of the file
// and its text. An unknown name is a *coll.UnknownWordError, with the names of the folder and others; what a file can
// fail with is a *fs.PathError.
func Find(kind, nameOrPath string, files fs.FS, others ...string) (file string, text []byte, err error) {
	if text, err = fs.ReadFile(files, nameOrPath+".yaml"); err == nil {
		return nameOrPath + ".yaml", text, nil
	}
	text, err = os.ReadFile(nameOrPath)
	switch {
	case err == nil:
		return nameOrPath, text, nil
	case errors.Is(err, fs.ErrNotExist) && filepath.Base(nameOrPath) == nameOrPath && filepath.Ext(nameOrPath) == "":
		known := slices.Sorted(slices.Values(append(Names(files), others...)))
		return "", nil, fmt.Errorf("%w; a file of your own is named by its path, such as ./my.yaml",
			coll.Unknown(kind, nameOrPath, known))
	}
	return "", nil, fmt.Errorf("%s file: %w", kind, err)
}
