package campaign

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/strictyaml"

	"gopkg.in/yaml.v3"
)

// Load reads the plan in a file.
func Load(path string) (*Plan, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// Parse reads the YAML text of a plan; file is its name in errors. The error joins one *strictyaml.Error for each
// problem, in the order of the file.
func Parse(file string, text []byte) (*Plan, error) {
	r := parser{&strictyaml.Reader{File: file}}
	p := &Plan{Launches: 5, Seed: 1, Source: text, Sbatch: Sbatch{Time: "01:00:00", Throttle: 1}}
	root := r.Document(text, "expected keys such as name, nodes and variants", "expected one plan per file")
	if root != nil {
		r.plan(p, root)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return p, nil
}

type parser struct{ *strictyaml.Reader }

// planKeys and the others are the keys that a plan may have; a test holds docs/campaigns.md to them.
var (
	planKeys = strings.Fields("name description launches nodes ranks_per_node seed flags variants steps sbatch")
	jobKeys  = []string{"time", "throttle", "options", "report"}
	// What a variant may set.
	levelKeys = []string{"flags", "environment"}
)

func (r parser) plan(p *Plan, root *yaml.Node) {
	at := map[string]*yaml.Node{}
	r.Mapping(root, "a plan", planKeys, func(key string, k, v *yaml.Node) {
		at[key] = k
		switch key {
		case "name":
			p.Name = strictyaml.One(r.Reader, v, name)
		case "description":
			p.Description = strictyaml.One(r.Reader, v, func(s string) (string, error) { return s, nil })
		case "launches":
			p.Launches = strictyaml.One(r.Reader, v, number("launches"))
		case "nodes":
			p.Nodes = strictyaml.List(r.Reader, v, func(s string) ([]int, error) {
				n, err := number("nodes")(s)
				return []int{n}, err
			})
			slices.Sort(p.Nodes)
		case "ranks_per_node":
			p.RanksPerNode = strictyaml.One(r.Reader, v, number("ranks_per_node"))
		case "seed":
			p.Seed = strictyaml.One(r.Reader, v, func(s string) (uint64, error) {
				n, err := strconv.ParseUint(s, 10, 63)
				if err != nil {
					err = fmt.Errorf("seed %q: value must be an integer of at least 0", s)
				}
				return n, err
			})
		case "flags":
			p.Flags = r.flags(v)
		case "variants":
			r.axes(p, v)
		case "steps":
			p.Steps = strictyaml.One(r.Reader, v, number("steps"))
		case "sbatch":
			r.sbatch(&p.Sbatch, v)
		}
	})
	for _, key := range []string{"name", "nodes"} {
		if at[key] == nil && r.Problems() == 0 {
			r.Errorf(root, "the plan has no %s: add the key", key)
		}
	}
	if r.Problems() == 0 && p.RanksPerNode == 1 && p.Nodes[0] == 1 {
		r.Errorf(at["nodes"],
			"1 node with 1 rank is a world of one rank, in which nothing is communicated: leave out the "+
				"1, or raise ranks_per_node")
	}
	if n := p.variants(); n > maxVariants {
		r.Errorf(at["variants"], "%d axes make more than %d variants: leave out levels, or make two plans", len(p.Axes),
			maxVariants)
	}
}

// axes reads the axes.
func (r parser) axes(p *Plan, n *yaml.Node) {
	r.Names(n, "variants", func(axis string, k, v *yaml.Node) {
		r.checkName(k, "axis", axis)
		a := Axis{Name: axis}
		r.Names(v, "axis "+axis, func(level string, k, v *yaml.Node) {
			r.checkName(k, "level", level)
			a.Levels = append(a.Levels, r.level(level, v))
		})
		for _, before := range p.Axes {
			r.disjoint(k, before, a)
		}
		p.Axes = append(p.Axes, a)
	})
}

// level reads the settings of one level; none means the current state.
func (r parser) level(name string, n *yaml.Node) Level {
	l := Level{Name: name}
	if strictyaml.IsNull(n) || n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		return l
	}
	r.Mapping(n, "level "+name, levelKeys, func(key string, _, v *yaml.Node) {
		if key == "flags" {
			l.Flags = r.flags(v)
			return
		}
		r.Names(v, "environment", func(variable string, k, v *yaml.Node) {
			if !variableName.MatchString(variable) {
				r.Errorf(k, "%q is no name of a variable", variable)
			} else if strings.HasPrefix(variable, "BUSBAR_") && variable != sideChannel {
				r.Errorf(k,
					"%s is not for a variant: the campaign or the job script goes by it, and the script gets it "+
						"before "+
						"there are variants", variable)
			}
			value := strictyaml.One(r.Reader, v, oneLine)
			l.Environment = append(l.Environment, Setting{variable, value})
		})
	})
	return l
}

// disjoint notes what two axes both set: of a variant's two values one would be lost.
func (r parser) disjoint(k *yaml.Node, a, b Axis) {
	for _, what := range a.sets() {
		if slices.Contains(b.sets(), what) {
			r.Errorf(k, "axis %s sets %s, and so does axis %s: one would undo the other; make them one axis", b.Name,
				what,
				a.Name)
		}
	}
}

// sets are the flags and variables that some level of the axis sets.
func (a Axis) sets() (names []string) {
	for _, l := range a.Levels {
		for _, f := range l.Flags {
			if isFlag(f) {
				names = append(names, flagName(f))
			}
		}
		for _, s := range l.Environment {
			names = append(names, s.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// flagName is a flag without its value.
func flagName(word string) string {
	name, _, _ := strings.Cut(word, "=")
	return name
}

// isFlag distinguishes flags from their values, which may be negative numbers.
func isFlag(word string) bool {
	return len(word) > 1 && word[0] == '-' && (word[1] < '0' || word[1] > '9')
}

// ownFlags are those that a campaign gives rank itself.
var ownFlags = strings.Fields("--out --campaign --block --variant --resume --list --preflight --help --version")

// sideChannel is the one variable of ours that ranks alone go by.
const sideChannel = "BUSBAR_SIDE_CHANNEL"

// flags reads flags of rank.
func (r parser) flags(n *yaml.Node) []string {
	words := r.words(n)
	for _, w := range words {
		if f := flagName(w); isFlag(w) && slices.Contains(ownFlags, f) {
			r.Errorf(n, "%s is not allowed in a plan: the campaign sets the folder and the labels of results", f)
		}
	}
	return words
}

// words reads words: one text that is split at blanks, or a list, whose entries may have blanks in them.
func (r parser) words(n *yaml.Node) []string {
	if n.Kind != yaml.SequenceNode {
		return strings.Fields(strictyaml.One(r.Reader, n, oneLine))
	}
	var words []string
	for _, w := range n.Content {
		words = append(words, strictyaml.One(r.Reader, strictyaml.Resolve(w), oneLine))
	}
	return words
}

var (
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	plainName    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
)

// name reads a name that becomes part of paths and of names of jobs.
func name(s string) (string, error) {
	if !plainName.MatchString(s) || len(s) > 64 {
		return "", fmt.Errorf(
			"the name %q: only letters, digits, dot, dash and underscore, beginning with a letter or "+
				"digit, at most 64 characters",
			s,
		)
	}
	return s, nil
}

func (r parser) checkName(k *yaml.Node, what, s string) {
	if _, err := name(s); err != nil {
		r.Fail(k, fmt.Errorf("%s: %w", what, err))
	}
}

func oneLine(s string) (string, error) {
	if strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return "", fmt.Errorf("%q: value must be one line of text", s)
	}
	return s, nil
}

// number reads a whole number from 1 on.
func number(what string) func(string) (int, error) {
	return func(s string) (int, error) {
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil || n < 1 {
			return 0, fmt.Errorf("%s %q: value must be an integer of at least 1", what, s)
		}
		return int(n), nil
	}
}
