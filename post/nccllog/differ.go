package nccllog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"busbar/internal/units"
)

// Contrast is in what two logs differ, and what that explains. A is the log that is asked about, B the other.
type Contrast struct {
	Headlines []string     `json:"headlines"` // sentences, the weightiest first
	Effects   []Difference `json:"effects"`   // in what the library did, or in what was measured
	Causes    []Difference `json:"causes"`    // in what it was given: settings, versions, plugins, machines
	Others    []Difference `json:"others"`    // settings that are not known to matter for speed
	OnlyA     []Finding    `json:"only_in_a"` // findings
	OnlyB     []Finding    `json:"only_in_b"`
	Same      []string     `json:"same"`
	Doubts    []string     `json:"doubts"` // why the two may not be comparable, or a log may not tell
}

// Difference is one thing that is otherwise in two logs.
type Difference struct {
	What    string   `json:"what"`
	A       string   `json:"a"` // "" where that log does not say
	B       string   `json:"b"`
	Says    string   `json:"says"`    // "channels for collectives: 24 in A, 2 in B"
	Because []string `json:"because"` // what that differs can have done it
	Source  string   `json:"source"`

	touches []effect // of a cause: what it can change; of an effect: what it is
	clause  string   // of a cause: "NCCL_TOPO_FILE is set only in B (…), which changes the topology that NCCL sees"
}

// Compare says in what two logs differ. Process ids, addresses, pointers and times of day are no differences.
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

// effect adds a difference of what was done, or says that there is none.
func (c *Contrast) effect(of effect, what, a, b string) {
	switch {
	case a == b && a != "":
		c.Same = append(c.Same, what+": "+a)
	case a != b && a != "" && b != "":
		c.Effects = append(c.Effects, Difference{What: what, A: a, B: b, Says: inBoth(what, a, b), touches: []effect{of}})
	}
}

// inBoth says what each log has; where one has a list, its commas do not part the two.
func inBoth(what, a, b string) string {
	between := ","
	if strings.Contains(a+b, ",") {
		between = ";"
	}
	return fmt.Sprintf("%s: %s in A%s %s in B", what, a, between, b)
}

// cause adds a difference of what was given.
func (c *Contrast) cause(d Difference) {
	d.Says = inBoth(d.What, cmp.Or(d.A, "not named"), cmp.Or(d.B, "not named"))
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
		c.cause(Difference{What: "world", A: x, B: y, clause: fmt.Sprintf("the worlds differ (%s in A, %s in B)", x, y),
			touches: []effect{onChannels, onTopology, onTransports, onNetwork, onDirect, onChoice, onSpeed}})
		c.Doubts = append(c.Doubts, "the worlds differ: much of the rest may follow from that")
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
			c.cause(Difference{What: v.Name, A: x[v.Name], B: y[v.Name], Source: environmentDoc + v.Name, touches: v.Touches, clause: setClause(v, x[v.Name], y[v.Name])})
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
		c.Others = append(c.Others, Difference{What: name, A: x[name], B: y[name], Says: inBoth(name, cmp.Or(x[name], "not named"), cmp.Or(y[name], "not named"))})
	}
	if same > 0 {
		c.Same = append(c.Same, units.Count(same, "setting"))
	}
	for _, side := range []struct {
		name string
		l    *Log
	}{{"A", a}, {"B", b}} {
		if len(side.l.Settings) == 0 {
			c.Doubts = append(c.Doubts, fmt.Sprintf("%s names no setting at all: it may have been recorded without ENV in NCCL_DEBUG_SUBSYS, so that what is set there is not known", side.name))
		}
	}
}

// setClause says who has a setting and what it does.
func setClause(v knownSetting, a, b string) string {
	switch {
	case a == "":
		return fmt.Sprintf("%s is set only in B (%s), and it %s", v.Name, b, v.Does)
	case b == "":
		return fmt.Sprintf("%s is set only in A (%s), and it %s", v.Name, a, v.Does)
	}
	return fmt.Sprintf("%s is %s in A and %s in B, and it %s", v.Name, a, b, v.Does)
}

// libraries compares versions, drivers and plugins.
func (c *Contrast) libraries(a, b *Log) {
	any := []effect{onChannels, onTopology, onTransports, onNetwork, onDirect, onChoice, onSpeed}
	for _, p := range []struct {
		what    string
		of      func(*Log) string
		touches []effect
	}{
		{"library", versionText, any},
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
			c.cause(Difference{What: p.what, A: x, B: y, touches: p.touches, clause: fmt.Sprintf("the %s is another (%s in A, %s in B)", p.what, cmp.Or(x, "none"), cmp.Or(y, "none"))})
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

// findings compares what was found: by its kind and words, with numbers set aside.
func (c *Contrast) findings(a, b *Log) {
	x, y := a.Findings(), b.Findings()
	without := func(all, other []Finding) (out []Finding) {
		for _, f := range all {
			if !slices.ContainsFunc(other, func(g Finding) bool { return g.Kind == f.Kind && shape(g.Says) == shape(f.Says) }) {
				out = append(out, f)
			}
		}
		return out
	}
	c.OnlyA, c.OnlyB = without(x, y), without(y, x)
}

// explain joins effects with what can have caused them, and makes the headlines.
func (c *Contrast) explain() {
	for i := range c.Effects {
		e := &c.Effects[i]
		for _, d := range c.Causes {
			if slices.ContainsFunc(e.touches, func(t effect) bool { return slices.Contains(d.touches, t) }) {
				e.Because = append(e.Because, d.clause)
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
		if len(c.Causes) == 0 {
			c.Headlines = []string{"Nothing that is known to matter differs."}
		} else {
			c.Headlines = []string{"What was given differs, and what the logs show of its effects does not."}
		}
	}
}

// headlines take the first effect of each sort. What explains several is said once.
func (c *Contrast) headlines() {
	before := ""
	var told []effect
	for _, e := range c.Effects {
		if slices.Contains(told, e.touches[0]) {
			continue
		}
		told = append(told, e.touches[0])
		why := because(e.Because)
		if before != "" && why == before {
			why = " The same may explain it."
		} else if len(e.Because) > 0 {
			before = why
		}
		c.Headlines = append(c.Headlines, upper(e.Says)+"."+why)
	}
}

// weightOf orders effects by how much they explain.
func weightOf(d Difference) int {
	order := []effect{onNetwork, onChannels, onTransports, onDirect, onTopology, onChoice, onSpeed}
	return slices.Index(order, d.touches[0])
}

// because says how likely causes are: what a log shows is that both differ, never that one follows from the other.
func because(causes []string) string {
	const most = 3
	switch n := len(causes); {
	case n == 0:
		return " Nothing that the logs name explains it."
	case n == 1:
		return " The most likely cause: " + causes[0] + "."
	case n > most:
		return fmt.Sprintf(" Likely causes: %s; and %d more.", strings.Join(causes[:most], "; "), n-most)
	}
	return " Likely causes: " + strings.Join(causes, "; ") + "."
}
