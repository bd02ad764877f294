package nccllog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/notice"
	"busbar/internal/units"
)

// Contrast is how two logs differ, and what may explain it. A is the log that is asked about, B the other.
type Contrast struct {
	Headlines []notice.Notice `json:"notices"`   // the main differences, the most important first, and why the logs may not be comparable
	Effects   []Difference    `json:"effects"`   // in what the library did, or in what was measured
	Causes    []Difference    `json:"causes"`    // in what it was given: settings, versions, plugins, machines
	Others    []Difference    `json:"others"`    // settings that are not known to matter for speed
	OnlyA     []notice.Notice `json:"only_in_a"` // findings
	OnlyB     []notice.Notice `json:"only_in_b"`
	Same      []string        `json:"same"`

	doubts []notice.Notice
}

// Difference is one thing that differs between two logs.
type Difference struct {
	What    string            `json:"what"`
	A       string            `json:"a"` // "" where that log does not have it
	B       string            `json:"b"`
	Because []notice.LogCause `json:"because"` // differences that can have caused it
	Source  string            `json:"source"`

	touches []effect        // of a cause: what it can change; of an effect: what it is
	cause   notice.LogCause // of a cause
}

// Compare returns how two logs differ. Process ids, addresses, pointers and times of day are no differences.
func Compare(a, b *Log) *Contrast {
	c := &Contrast{}
	c.world(a, b)
	c.settings(a, b)
	c.libraries(a, b)
	c.network(a, b)
	c.channels(a, b)
	c.topology(a, b)
	c.transports(a, b)
	c.choices(a, b)
	c.measured(a, b)
	c.inits(a, b)
	c.findings(a, b)
	c.explain()
	return c
}

// effect adds a difference of what was done, or that there is no difference.
func (c *Contrast) effect(of effect, what, a, b string) {
	switch {
	case a == b && a != "":
		c.Same = append(c.Same, what+": "+a)
	case a != b && a != "" && b != "":
		c.Effects = append(c.Effects, Difference{What: what, A: a, B: b, touches: []effect{of}})
	}
}

// cause adds a difference of what was given.
func (c *Contrast) cause(d Difference) {
	d.cause.What, d.cause.A, d.cause.B = d.What, d.A, d.B
	c.Causes = append(c.Causes, d)
}

// world compares how many ranks there were, and where.
func (c *Contrast) world(a, b *Log) {
	x, y := worldText(a), worldText(b)
	if x == y {
		if x != "" {
			c.Same = append(c.Same, "world: "+x)
		}
		return
	}
	if x != "" && y != "" {
		c.cause(Difference{
			What: "world", A: x, B: y, touches: []effect{onChannels, onTopology, onTransports, onNetwork, onDirect, onChoice, onSpeed},
		})
		c.doubts = append(c.doubts, notice.New(notice.WorldsDiffer{A: x, B: y}))
	}
}

func worldText(l *Log) string {
	w := l.largest()
	if w == nil || w.Ranks <= 0 {
		return ""
	}
	if n := l.nodes(); n > 0 {
		return fmt.Sprintf("%s on %s", units.Count(w.Ranks, "rank"), units.Count(n, "node"))
	}
	return units.Count(w.Ranks, "rank")
}

// chosen are the values of each variable that somebody set.
func chosen(l *Log) map[string]string {
	values := map[string][]string{}
	for _, s := range l.Settings {
		if s.given() && !slices.Contains(values[s.Name], s.Value) {
			values[s.Name] = append(values[s.Name], s.Value)
		}
	}
	joined := map[string]string{}
	for name, v := range values {
		slices.Sort(v)
		joined[name] = strings.Join(v, " and ")
	}
	return joined
}

// settings compares what was set. The known ones are in the order of how much they can do.
func (c *Contrast) settings(a, b *Log) {
	x, y := chosen(a), chosen(b)
	names := map[string]bool{}
	same := 0
	for name := range x {
		names[name] = true
	}
	for name := range y {
		names[name] = true
	}
	for _, v := range variables {
		if x[v.Name] != y[v.Name] {
			c.cause(Difference{
				What: v.Name, A: x[v.Name], B: y[v.Name], touches: v.Touches, cause: notice.LogCause{Effect: notice.Effect(v.Name)},
				Source: notice.SettingAffectsSpeed{Variable: notice.NCCLVariable(v.Name)}.Source(),
			})
		}
	}
	var rest []string
	for name := range names {
		if x[name] == y[name] {
			same++
		} else if theVariable(name) == nil {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	for _, name := range rest {
		c.Others = append(c.Others, Difference{What: name, A: x[name], B: y[name]})
	}
	if same > 0 {
		c.Same = append(c.Same, units.Count(same, "setting"))
	}
	for _, side := range []struct {
		name string
		l    *Log
	}{{"A", a}, {"B", b}} {
		if len(side.l.Settings) == 0 {
			c.doubts = append(c.doubts, notice.New(notice.SettingsNotRecorded{Log: side.name}))
		}
	}
}

// libraries compares versions, drivers and plugins.
func (c *Contrast) libraries(a, b *Log) {
	every := []effect{onChannels, onTopology, onTransports, onNetwork, onDirect, onChoice, onSpeed}
	for _, p := range []struct {
		what    string
		of      func(*Log) string
		touches []effect
	}{
		{"library", versionText, every},
		{"CUDA driver", driverText, []effect{onTransports, onSpeed}},
		{"network plugin", func(l *Log) string { return listText(l.Network.Plugins) }, []effect{onNetwork, onTransports, onDirect, onChannels, onSpeed}},
		{"libfabric provider", func(l *Log) string { return listText(l.Network.Providers) }, []effect{onNetwork, onTransports, onDirect, onSpeed}},
		{"tuner", func(l *Log) string { return listText(l.Network.Tuners) }, []effect{onChoice, onSpeed}},
		{"network devices", func(l *Log) string { return listText(l.Network.IB) }, []effect{onNetwork, onTransports, onChannels, onSpeed}},
	} {
		x, y := p.of(a), p.of(b)
		switch {
		case x == y && x != "":
			c.Same = append(c.Same, p.what+": "+x)
		case x != y && (x != "" && y != "" || p.what == "tuner"):
			c.cause(Difference{What: p.what, A: x, B: y, touches: p.touches})
		}
	}
}

func versionText(l *Log) string {
	var texts []string
	for _, v := range l.Versions {
		text := string(v.Library) + " " + v.Text
		if v.CUDA != "" {
			text += " for CUDA " + v.CUDA
		}
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	return strings.Join(texts, " and ")
}

func driverText(l *Log) string {
	for _, v := range l.Versions {
		if v.Driver > 0 {
			return fmt.Sprintf("%d.%d", v.Driver/1000, v.Driver%1000/10)
		}
	}
	return ""
}

func listText(all []Named) string {
	var texts []string
	for _, n := range all {
		text := strings.TrimSpace(n.Name + " " + n.Version)
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	slices.Sort(texts)
	return units.Some(texts)
}

// findings compares what was found: by its code and its parameters.
func (c *Contrast) findings(a, b *Log) {
	x, y := a.Findings(), b.Findings()
	without := func(all, other []notice.Notice) []notice.Notice {
		return slices.DeleteFunc(slices.Clone(all), func(f notice.Notice) bool {
			return slices.ContainsFunc(other, func(g notice.Notice) bool { return alikeFindings(f.Fact, g.Fact) })
		})
	}
	c.OnlyA, c.OnlyB = without(x, y), without(y, x)
}

// alikeFindings reports whether two findings state the same. Messages without a known cause are known by their text.
func alikeFindings(f, g notice.Fact) bool {
	x, quotes := f.(notice.Unexplained)
	y, both := g.(notice.Unexplained)
	return notice.Alike(f, g) && (!quotes || !both || shape(x.Messages[0].Text) == shape(y.Messages[0].Text))
}

// explain joins effects with what can have caused them, and makes the headlines.
func (c *Contrast) explain() {
	for i := range c.Effects {
		e := &c.Effects[i]
		for _, d := range c.Causes {
			if slices.ContainsFunc(e.touches, func(t effect) bool { return slices.Contains(d.touches, t) }) {
				e.Because = append(e.Because, d.cause)
			}
		}
	}
	for _, list := range []*[]Difference{&c.Effects, &c.Causes, &c.Others} {
		if *list == nil {
			*list = []Difference{}
		}
	}
	slices.SortStableFunc(c.Effects, func(a, b Difference) int { return cmp.Compare(weightOf(a), weightOf(b)) })
	c.headlines()
	if len(c.Effects) == 0 {
		c.Headlines = []notice.Notice{notice.New(notice.LogsAlike{Causes: notice.CausesAlone(len(c.Causes))})}
	}
	c.Headlines = append(c.Headlines, c.doubts...)
}

// headlines take the first effect of each sort. What explains several is stated once.
func (c *Contrast) headlines() {
	var before []notice.LogCause
	var seen []effect
	for _, e := range c.Effects {
		if slices.Contains(seen, e.touches[0]) {
			continue
		}
		seen = append(seen, e.touches[0])
		same := len(before) > 0 && slices.Equal(e.Because, before)
		if !same && len(e.Because) > 0 {
			before = e.Because
		}
		causes := notice.LogCauses{All: e.Because, Before: same}
		c.Headlines = append(c.Headlines, notice.New(notice.LogDifference{What: e.What, A: e.A, B: e.B, Causes: causes}))
	}
}

// weightOf orders effects by how much they explain.
func weightOf(d Difference) int {
	order := []effect{onNetwork, onChannels, onTransports, onDirect, onTopology, onChoice, onSpeed}
	return slices.Index(order, d.touches[0])
}
