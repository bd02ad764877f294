package compare

import (
	"fmt"
	"os"

	"gopkg.in/yaml.v3"

	"busbar/internal/coll"
	"busbar/internal/strictyaml"
)

// ReadThresholds reads a file over the limits that flags gave: what the file says for all points counts where no flag
// does. The error joins all that is wrong in it, each with its line.
func ReadThresholds(path string, t *Thresholds, marginGiven, failGiven bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the thresholds: %w", err)
	}
	given, err := parseThresholds(path, text)
	if err != nil {
		return err
	}
	if given.margin != nil && !marginGiven {
		t.Margin = *given.margin
	}
	if given.failAbove != nil && !failGiven {
		t.FailAbove = *given.failAbove
	}
	t.rules = given.rules
	return nil
}

// thresholdsText is what a file of thresholds says.
type thresholdsText struct {
	margin, failAbove *float64 // nil where it says nothing
	rules             []rule
}

var (
	thresholdKeys = []string{"margin", "fail_above", "rules"}
	ruleKeys      = []string{"collectives", "modes", "types", "from", "to", "margin", "fail_above"}
	// What people type who know the flag.
	thresholdSpellings = map[string]string{"fail-above": "fail_above"}
)

// parseThresholds reads the YAML; the file's name stands in the errors.
func parseThresholds(file string, text []byte) (*thresholdsText, error) {
	r := thresholdsReader{&strictyaml.Reader{File: file}}
	t := &thresholdsText{}
	if root := r.Document(text, "want keys such as margin, fail_above and rules", "want one a file"); root != nil {
		r.Mapping(root, "thresholds", thresholdKeys, thresholdSpellings, func(key string, _, v *yaml.Node) {
			switch key {
			case "margin":
				t.margin = r.percent(v)
			case "fail_above":
				t.failAbove = r.percent(v)
			case "rules":
				t.rules = r.rules(v)
			}
		})
	}
	return t, r.Err()
}

type thresholdsReader struct{ *strictyaml.Reader }

func (r thresholdsReader) rules(n *yaml.Node) (rules []rule) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.Errorf(n, "rules: want a list of blocks, found %s", strictyaml.KindOf(n))
		return nil
	}
	for i, block := range n.Content {
		rules = append(rules, r.rule(i+1, strictyaml.Resolve(block)))
	}
	return rules
}

// rule reads the i-th rule.
func (r thresholdsReader) rule(i int, n *yaml.Node) (out rule) {
	before := r.Problems()
	end := n // where the end of the sizes stands
	r.Mapping(n, "a rule", ruleKeys, thresholdSpellings, func(key string, _, v *yaml.Node) {
		switch key {
		case "collectives":
			out.collectives = ruleWords(r, v, coll.ParseCollective)
		case "modes":
			out.modes = ruleWords(r, v, coll.ParseMode)
		case "types":
			out.types = ruleWords(r, v, coll.ParseDataType)
		case "from":
			out.from = strictyaml.One(r.Reader, v, coll.ParseSize)
		case "to":
			if out.to, end = strictyaml.One(r.Reader, v, coll.ParseSize), v; out.to == 0 && r.Problems() == before {
				r.Errorf(v, "rule %d ends at 0 bytes: want a size over 0, or no to for all that are larger", i)
			}
		case "margin":
			out.margin = r.percent(v)
		case "fail_above":
			out.failAbove = r.percent(v)
		}
	})
	switch {
	case r.Problems() > before:
	case out.margin == nil && out.failAbove == nil:
		r.Errorf(n, "rule %d sets nothing: want margin or fail_above", i)
	case out.to > 0 && out.to < out.from:
		r.Errorf(end, "rule %d ends before it begins: to is less than from", i)
	}
	return out
}

func (r thresholdsReader) percent(n *yaml.Node) *float64 {
	v := strictyaml.One(r.Reader, n, ParsePercent)
	return &v
}

// ruleWords reads one word or a list of them.
func ruleWords[T comparable](r thresholdsReader, n *yaml.Node, parse func(string) (T, error)) []T {
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		r.Errorf(n, "the list is empty; leave it out to mean all")
		return nil
	}
	return strictyaml.List(r.Reader, n, func(word string) ([]T, error) {
		v, err := parse(word)
		return []T{v}, err
	})
}
