package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"busbar/internal/coll"
)

// limits are what counts as a difference at a point, as shares of the time: 0.05 is 5 %.
type limits struct {
	margin    float64 // up to which a point counts as the same
	failAbove float64 // over which a point that is worse fails the comparison; 0: none does
}

// thresholds are limits for all points, and others for some of them.
type thresholds struct {
	limits
	rules []rule
}

// rule gives limits to the points it names; of several that name a point, the last counts.
type rule struct {
	collectives []coll.Collective // all when empty
	modes       []coll.Mode
	types       []coll.DataType
	from, to    int64 // sizes in bytes; to 0: no end
	margin      *float64
	failAbove   *float64
}

// of are the limits of a point.
func (t *thresholds) of(c coll.Case) limits {
	l := t.limits
	for _, r := range t.rules {
		if !names1(r.collectives, c.Collective) || !names1(r.modes, c.Mode) || !names1(r.types, c.Type) || c.SizeBytes < r.from || r.to > 0 && c.SizeBytes > r.to {
			continue
		}
		if r.margin != nil {
			l.margin = *r.margin
		}
		if r.failAbove != nil {
			l.failAbove = *r.failAbove
		}
	}
	return l
}

func names1[T comparable](list []T, v T) bool { return len(list) == 0 || slices.Contains(list, v) }

// parsePercent reads a share: "5%".
func parsePercent(s string) (float64, error) {
	number, is := strings.CutSuffix(strings.TrimSpace(s), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !is || err != nil || !(v > 0 && v < 1e4) {
		return 0, fmt.Errorf("%q: want a percentage over 0 such as 5%%", s)
	}
	return v / 100, nil
}

// thresholdsFile is a file of thresholds as it is written.
type thresholdsFile struct {
	Margin    yaml.Node  `yaml:"margin"`
	FailAbove yaml.Node  `yaml:"fail_above"`
	Rules     []ruleFile `yaml:"rules"`
}

type ruleFile struct {
	Collectives yaml.Node `yaml:"collectives"`
	Modes       yaml.Node `yaml:"modes"`
	Types       yaml.Node `yaml:"types"`
	From        yaml.Node `yaml:"from"`
	To          yaml.Node `yaml:"to"`
	Margin      yaml.Node `yaml:"margin"`
	FailAbove   yaml.Node `yaml:"fail_above"`
}

// readThresholds reads a file over the limits that flags gave: what the file says for all points counts where no flag
// does. Errors name the file and the line.
func readThresholds(path string, t *thresholds, marginGiven, failGiven bool) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("cannot read the thresholds: %w", err)
	}
	var f thresholdsFile
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&f); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	r := &thresholdsReader{path: path}
	if m := r.percent(&f.Margin); m != nil && !marginGiven {
		t.margin = *m
	}
	if m := r.percent(&f.FailAbove); m != nil && !failGiven {
		t.failAbove = *m
	}
	for i := range f.Rules {
		in := &f.Rules[i]
		out := rule{collectives: list(r, &in.Collectives, coll.ParseCollective), modes: list(r, &in.Modes, coll.ParseMode), types: list(r, &in.Types, coll.ParseDataType),
			from: r.size(&in.From), to: r.size(&in.To), margin: r.percent(&in.Margin), failAbove: r.percent(&in.FailAbove)}
		switch {
		case out.margin == nil && out.failAbove == nil:
			r.fail(0, fmt.Errorf("rule %d sets nothing: want margin or fail_above", i+1))
		case out.to > 0 && out.to < out.from:
			r.fail(in.To.Line, fmt.Errorf("rule %d ends before it begins: to is less than from", i+1))
		}
		t.rules = append(t.rules, out)
	}
	return r.err
}

// thresholdsReader keeps the first error.
type thresholdsReader struct {
	path string
	err  error
}

func (r *thresholdsReader) fail(line int, err error) {
	if r.err != nil {
		return
	}
	if r.err = fmt.Errorf("%s: %w", r.path, err); line > 0 {
		r.err = fmt.Errorf("%s:%d: %w", r.path, line, err)
	}
}

func (r *thresholdsReader) percent(n *yaml.Node) *float64 {
	if n.Kind == 0 {
		return nil
	}
	v, err := parsePercent(n.Value)
	if err != nil {
		r.fail(n.Line, err)
	}
	return &v
}

func (r *thresholdsReader) size(n *yaml.Node) int64 {
	if n.Kind == 0 {
		return 0
	}
	v, err := coll.ParseSize(n.Value)
	if err != nil {
		r.fail(n.Line, err)
	}
	return v
}

// list reads one word or a list of them.
func list[T any](r *thresholdsReader, n *yaml.Node, parse func(string) (T, error)) (values []T) {
	words := []*yaml.Node{n}
	switch n.Kind {
	case 0:
		return nil
	case yaml.SequenceNode:
		words = n.Content
	}
	for _, w := range words {
		v, err := parse(w.Value)
		if err != nil {
			r.fail(w.Line, err)
		}
		values = append(values, v)
	}
	if values == nil {
		r.fail(n.Line, errors.New("the list is empty; leave it out to mean all"))
	}
	return values
}
