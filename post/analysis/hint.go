package analysis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"busbar/internal/units"
)

// mostHints is the maximum number of hints per finding.
const mostHints = 4

// hintsFor are the hints that fit a finding, the likeliest first. It omits values that the runs already had, and
// reports other values that they had.
func hintsFor(kind Kind, c *Curve, from, to int64) (hints []Hint) {
	for t := range units.Each(catalogue) {
		if len(hints) == mostHints || !t.fits(kind, c, from, to) {
			continue
		}
		set, was := c.had(t.Variable)
		others := slices.DeleteFunc(slices.Clone(t.Values), func(v string) bool { return set && v == was })
		if set && len(others) == 0 {
			continue
		}
		h := Hint{Tip: t.Tip, With: t.With, Variable: t.Variable}
		if len(others) > 0 {
			h.Value = others[0]
		}
		if set {
			h.Had = &was
		}
		if !t.NoSweep {
			h.Sweep = t.sweep()
		}
		hints = append(hints, h)
	}
	return hints
}

func (t *tip) fits(kind Kind, c *Curve, from, to int64) bool {
	several := c.Nodes > 1
	switch {
	case !slices.Contains(t.Kinds, kind),
		t.Backends != nil && !slices.Contains(t.Backends, c.Backend),
		t.Library != "" && !strings.HasPrefix(c.Library, t.Library),
		t.Collectives != nil && !slices.Contains(t.Collectives, c.Collective),
		t.Nodes == oneNode && several, t.Nodes == severalNodes && !several,
		t.Min > 0 && to < t.Min, t.Max > 0 && from > t.Max,
		t.Untold && slices.ContainsFunc(c.Points, func(p Point) bool { return p.Path != nil }),
		t.Reduces && !mayReduce(c.Device):
		return false
	}
	return true
}

// mayReduce reports whether a GPU has NVLink SHARP, or has no recorded name.
func mayReduce(device string) bool {
	model, _ := modelOf(device)
	return model.reduces || device == ""
}

// had returns the value of a variable or flag in the runs of a curve.
func (c *Curve) had(variable string) (set bool, value string) {
	for _, run := range c.Runs {
		if !strings.HasPrefix(variable, "-") {
			if v, there := run.Environment[variable]; there {
				return true, v
			}
			continue
		}
		for i, word := range run.Command {
			name, v, joined := strings.Cut(word, "=")
			switch {
			case name != variable && (name != "--path" || variable != "--algorithms"): // --path is the older name
			case joined:
				return true, v
			case i+1 < len(run.Command) && !strings.HasPrefix(run.Command[i+1], "-"):
				return true, run.Command[i+1]
			default:
				return true, ""
			}
		}
	}
	return false, ""
}

// sweep are lines for a campaign's plan: the variants as things are, and with each value.
func (t *tip) sweep() string {
	var b strings.Builder
	fmt.Fprintf(&b, "variants:\n  %s:\n    asis:\n", t.Name)
	values := t.Values
	if values == nil {
		values = []string{""}
	}
	for _, v := range values {
		fmt.Fprintf(&b, "    %s: %s\n", t.level(v), t.setting(v))
	}
	return b.String()
}

// level names a value in a plan, where names have letters, digits and dashes.
func (t *tip) level(value string) string {
	if value == "" {
		return "with"
	}
	name := strings.ToLower(strings.ReplaceAll(value, "_", "-"))
	if _, err := strconv.Atoi(name); err == nil {
		return t.Name + "-" + name // a bare number would not be a word in YAML
	}
	return name
}

// setting is what a level sets: rank's flags, or variables.
func (t *tip) setting(value string) string {
	if strings.HasPrefix(t.Variable, "-") {
		words := []string{t.Variable}
		if value != "" {
			words = append(words, value)
		}
		if t.With != "" {
			words = append(words, strings.Replace(t.With, "=", " ", 1))
		}
		return fmt.Sprintf("{flags: %q}", strings.Join(words, " "))
	}
	settings := []string{fmt.Sprintf("%s: %q", t.Variable, value)}
	if name, v, is := strings.Cut(t.With, "="); is {
		settings = append(settings, fmt.Sprintf("%s: %q", name, v))
	}
	return "{environment: {" + strings.Join(settings, ", ") + "}}"
}
